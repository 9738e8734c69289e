"""Our hooks in the text of a settings file: everything else stays, and twice is like once."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claude_headspace.clients.claude_code.hooks.events import REGISTERED
from claude_headspace.clients.claude_code.hooks.settings_file import is_ours, merge, parse, registered, remove, wanted
from claude_headspace.errors import BadConfiguration

SCRIPT = "/home/me/.claude/hooks/notify-headspace.sh"
HOOKS = wanted(REGISTERED, SCRIPT)
FOREIGN = {"matcher": "Bash", "hooks": [{"type": "command", "command": "~/bin/guard.sh"}]}


def merged(text: str) -> Any:
    """What a text becomes, as data."""
    return json.loads(merge(text, HOOKS, "settings.json"))


def test_every_event_is_registered_in_exec_form() -> None:
    """Each hook names the script by its whole path and gives it the event's name, without a shell."""
    hooks = merged("{}")["hooks"]
    assert hooks.keys() == REGISTERED.keys()
    assert hooks["PreToolUse"] == [
        {"hooks": [{"type": "command", "command": SCRIPT, "args": ["PreToolUse"], "timeout": 5}]}
    ]


@pytest.mark.parametrize("text", ["", "  \n", "{}", "{}\n", '{"hooks": {}}', '{"model": "opus"}'])
def test_any_settings_can_take_them(text: str) -> None:
    """A file that is empty, or has no hooks yet, gets ours."""
    assert len(registered(merged(text))) == len(REGISTERED)


def test_other_settings_and_hooks_stay_in_their_order() -> None:
    """What was there keeps its place; ours come after it."""
    before = {"model": "opus", "hooks": {"Stop": [FOREIGN], "PreToolUse": [FOREIGN]}, "env": {"A": "1"}}
    after = merged(json.dumps(before))
    assert list(after) == ["model", "hooks", "env"]
    assert list(after["hooks"])[:2] == ["Stop", "PreToolUse"]
    assert after["hooks"]["Stop"] == [FOREIGN, {"hooks": [HOOKS["Stop"]]}]


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        '{\n  "model": "opus"\n}\n',
        '{\n    "model": "opus"\n}',
        '{\n\t"model": "opus"\n}\n',
        '{"model": "opus"}',
        '\ufeff{\r\n  "model": "\u00fc \U0001f600"\r\n}\r\n',
    ],
    ids=["empty", "two spaces", "four spaces", "tabs", "one line", "BOM and CRLF"],
)
def test_the_file_is_written_as_it_was(text: str) -> None:
    """Indentation, line ends, the last newline and letters stay as they are; taking ours away gives the text back."""
    changed = merge(text, HOOKS, "settings.json")
    assert changed.endswith("\n") == text.endswith("\n")
    assert ("\r\n" in changed) == ("\r\n" in text)
    assert changed.count("\n") == changed.count("\r\n") if "\r\n" in text else True
    assert remove(changed, "settings.json") == text


def test_merging_twice_is_like_merging_once() -> None:
    """The second installation changes nothing, also with hooks of others around."""
    text = json.dumps({"hooks": {"Stop": [FOREIGN], "Other": []}}, indent=2)
    once = merge(text, HOOKS, "settings.json")
    assert merge(once, HOOKS, "settings.json") == once


@pytest.mark.parametrize(
    "old",
    [
        {"type": "command", "command": "/elsewhere/hooks/notify-headspace.sh stop"},
        {"type": "command", "command": "'/with space/notify-headspace.sh'", "args": ["Stop"]},
        {"type": "command", "command": "notify-headspace.sh"},
        {"type": "http", "url": "http://localhost:5055/hook/stop"},
    ],
)
def test_entries_of_earlier_installations_are_replaced(old: dict[str, Any]) -> None:
    """What an earlier version or another transport registered does not stay beside ours."""
    assert is_ours(old)
    after = merged(json.dumps({"hooks": {"Stop": [{"hooks": [old, FOREIGN["hooks"][0]]}]}}))
    assert [hook for event, hook in registered(after) if event == "Stop"] == [HOOKS["Stop"]]
    assert after["hooks"]["Stop"][0]["hooks"] == FOREIGN["hooks"]


@pytest.mark.parametrize(
    "hook",
    [
        {"type": "command", "command": "my-notify-headspace.sh.bak"},
        {"type": "command", "command": "echo notify"},
        {"type": "http", "url": "http://example.org/hook/stop"},
        {"type": "http", "url": "https://127.0.0.1:5055/other"},
        {"type": "prompt", "prompt": "notify-headspace.sh"},
        "notify-headspace.sh",
        None,
    ],
)
def test_what_is_not_ours_is_left_alone(hook: Any) -> None:
    """A hook that only looks a little like ours belongs to somebody else."""
    assert not is_ours(hook)
    text = json.dumps({"hooks": {"Stop": [{"hooks": [hook]}]}})
    assert remove(text, "settings.json") == text


def test_removing_takes_only_what_is_ours() -> None:
    """A hook inside somebody else's group goes, its group stays; what is empty afterwards goes too."""
    text = json.dumps({"hooks": {"Stop": [{"matcher": "x", "hooks": [HOOKS["Stop"], {"type": "prompt"}]}]}, "a": 1})
    assert json.loads(remove(text, "settings.json")) == {
        "hooks": {"Stop": [{"matcher": "x", "hooks": [{"type": "prompt"}]}]},
        "a": 1,
    }
    assert json.loads(remove(merge('{"a": 1}', HOOKS, "x"), "x")) == {"a": 1}


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ('{\n  "a": 1,\n}', "line 3, column 1"),
        ("{ // a comment\n}", "line 1, column 3"),
        ('{"a": 1', "line 1, column 8"),
        ("[]", "no JSON object"),
        ('"text"', "no JSON object"),
        ('{"hooks": []}', "`hooks` is no object"),
        ('{"hooks": {"Stop": {}}}', "`hooks.Stop` is no list"),
        ('{"hooks": {"Stop": [], "Stop": []}}', '"Stop" stands twice'),
        ("[" * 100_000, "cannot be changed safely"),
    ],
)
def test_what_cannot_be_read_is_not_touched(text: str, where: str) -> None:
    """A file that would be broken further is refused, with the place and with what to do."""
    with pytest.raises(BadConfiguration) as error:
        merge(text, HOOKS, "~/.claude/settings.json")
    assert "~/.claude/settings.json" in error.value.message
    assert where in error.value.message
    assert "Nothing was changed" in error.value.hint


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
foreign_groups = st.lists(
    st.fixed_dictionaries({"hooks": st.lists(values, min_size=1, max_size=2)}) | values, min_size=1, max_size=2
)


@given(
    st.dictionaries(st.text(max_size=8).filter(lambda key: key != "hooks"), values, max_size=4),
    st.dictionaries(st.sampled_from(["Stop", "PreToolUse", "Unknown"]), foreign_groups, max_size=3),
    st.sampled_from([None, 1, 2, 4, "\t"]),
)
def test_in_and_out_again_gives_the_same_settings(others: Any, hooks: Any, indent: Any) -> None:
    """Whatever stands in the settings, installing and removing leaves it as it was, and installing keeps all of it."""
    settings = {**others, **({"hooks": hooks} if hooks else {})}
    text = json.dumps(settings, indent=indent, ensure_ascii=False)
    changed = merge(text, HOOKS, "x")
    assert len(registered(parse(changed, "x"))) == len(HOOKS)
    assert merge(changed, HOOKS, "x") == changed
    assert json.loads(remove(changed, "x")) == settings
