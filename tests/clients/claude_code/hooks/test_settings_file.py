"""Headspace's hooks in the text of a settings file: other content stays, and merging is idempotent."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claude_headspace.clients.claude_code.hooks.events import REGISTERED
from claude_headspace.clients.claude_code.hooks.settings_file import hook_entries, remove
from claude_headspace.clients.hook_settings import is_own_hook, merge, parse, registered_hooks
from claude_headspace.errors import BadConfiguration

SCRIPT = "/home/me/.claude/hooks/notify-headspace.sh"
HOOKS = hook_entries(REGISTERED, SCRIPT)
FOREIGN = {"matcher": "Bash", "hooks": [{"type": "command", "command": "~/bin/guard.sh"}]}


def merged(text: str) -> Any:
    """The settings after a merge."""
    return json.loads(merge(text, HOOKS, "settings.json"))


def test_every_event_is_registered_in_exec_form() -> None:
    """Each hook has the absolute path of the script and the event name, without a shell."""
    hooks = merged("{}")["hooks"]
    assert hooks.keys() == REGISTERED.keys()
    assert hooks["PreToolUse"] == [
        {"hooks": [{"type": "command", "command": SCRIPT, "args": ["PreToolUse"], "timeout": 5}]}
    ]


@pytest.mark.parametrize("text", ["", "  \n", "{}", "{}\n", '{"hooks": {}}', '{"model": "opus"}'])
def test_hooks_are_added_to_any_settings(text: str) -> None:
    """An empty file, or one without hooks."""
    assert len(registered_hooks(merged(text))) == len(REGISTERED)


def test_other_settings_and_hooks_keep_their_order() -> None:
    """New hooks come after them."""
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
def test_the_format_of_the_file_stays(text: str) -> None:
    """Indentation, line ends, last newline and characters. Removing the hooks restores the text."""
    changed = merge(text, HOOKS, "settings.json")
    assert changed.endswith("\n") == text.endswith("\n")
    assert ("\r\n" in changed) == ("\r\n" in text)
    assert changed.count("\n") == changed.count("\r\n") if "\r\n" in text else True
    assert remove(changed, "settings.json") == text


def test_merging_is_idempotent() -> None:
    """Also with other hooks."""
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
    """Hooks of an earlier version or another transport."""
    assert is_own_hook(old)
    after = merged(json.dumps({"hooks": {"Stop": [{"hooks": [old, FOREIGN["hooks"][0]]}]}}))
    assert [hook for event, hook in registered_hooks(after) if event == "Stop"] == [HOOKS["Stop"]]
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
def test_similar_hooks_are_not_changed(hook: Any) -> None:
    """They belong to other programs."""
    assert not is_own_hook(hook)
    text = json.dumps({"hooks": {"Stop": [{"hooks": [hook]}]}})
    assert remove(text, "settings.json") == text


def test_only_own_hooks_are_removed() -> None:
    """A group with other hooks stays; groups and events that become empty are removed."""
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
        ("[]", "not a JSON object"),
        ('"text"', "not a JSON object"),
        ('{"hooks": []}', "`hooks` is not an object"),
        ('{"hooks": {"Stop": {}}}', "`hooks.Stop` is not a list"),
        ('{"hooks": {"Stop": [], "Stop": []}}', '"Stop" occurs twice'),
        ("[" * 100_000, "cannot be changed safely"),
    ],
)
def test_invalid_settings_are_refused(text: str, where: str) -> None:
    """With the position and a hint."""
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
def test_merging_and_removing_restores_any_settings(others: Any, hooks: Any, indent: Any) -> None:
    """For random settings and formats."""
    settings = {**others, **({"hooks": hooks} if hooks else {})}
    text = json.dumps(settings, indent=indent, ensure_ascii=False)
    changed = merge(text, HOOKS, "x")
    assert len(registered_hooks(parse(changed, "x"))) == len(HOOKS)
    assert merge(changed, HOOKS, "x") == changed
    assert json.loads(remove(changed, "x")) == settings
