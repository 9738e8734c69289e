"""Desktops: D-Bus with a real bus, the programs of macOS by what they are given."""

import json
from pathlib import Path

import pytest

from claude_headspace.outputs.notify.desktop import DeliveryFailed, Desktop, NoDesktop, find_desktop
from tests.receivers import desktop_session

WORDS = ("calm-otter asks", '-e "quotes" & <b>', "http://here/agents/1")


def found(env: dict[str, str], platform: str = "linux") -> Desktop:
    """The desktop, which must be there."""
    desktop = find_desktop(env, platform)
    assert not isinstance(desktop, NoDesktop), desktop
    return desktop


@pytest.mark.parametrize(
    ("env", "platform", "why"),
    [
        ({}, "linux", "DBUS_SESSION_BUS_ADDRESS is not set"),
        ({"DBUS_SESSION_BUS_ADDRESS": "unix:path=/nowhere"}, "linux", "does not answer"),
        ({"DBUS_SESSION_BUS_ADDRESS": "nonsense"}, "linux", "does not answer"),
        ({"PATH": "/nowhere"}, "darwin", "neither terminal-notifier nor osascript"),
    ],
)
def test_no_desktop_says_why(env: dict[str, str], platform: str, why: str) -> None:
    """In words that one can act on."""
    desktop = find_desktop(env, platform)
    assert isinstance(desktop, NoDesktop)
    assert why in desktop.reason


def test_a_bus_shows_and_closes(tmp_path: Path) -> None:
    """With the number that the desktop gave it; markup in the words is no markup."""
    with desktop_session(tmp_path) as session:
        desktop = found(session.env)
        receipt = desktop.show(*WORDS, urgent=True, tag="w1")
        desktop.show(*WORDS, urgent=False, tag="w2")
        desktop.close(receipt)
        first, second = session.told("show")
        assert (first["title"], first["urgency"], second["urgency"]) == ("calm-otter asks", 2, 1)
        assert first["body"] == '-e "quotes" &amp; &lt;b&gt;\nhttp://here/agents/1'
        assert session.told("close") == [{"close": int(receipt.split()[1])}]
        desktop.close(":1.999 1")
        assert len(session.told("close")) == 1, "what somebody else showed is left alone"
    with pytest.raises(DeliveryFailed):
        desktop.show(*WORDS, urgent=True, tag="w1")


def test_a_bus_without_anybody_is_no_desktop(tmp_path: Path) -> None:
    """Nothing would be shown."""
    with desktop_session(tmp_path, shows=False) as session:
        assert find_desktop(session.env, "linux") == NoDesktop("nobody shows notifications here")


def program(folder: Path, name: str, code: int = 0) -> Path:
    """A program that writes down how it was called."""
    path = folder / name
    log = folder / "called.jsonl"
    path.write_text(
        "#!/usr/bin/env python3\n"
        f"import json, sys\nopen({str(log)!r}, 'a').write(json.dumps(sys.argv[1:]) + '\\n')\n"
        f"print('it broke', file=sys.stderr)\nsys.exit({code})\n"
    )
    path.chmod(0o755)
    return log


def calls(log: Path) -> list[list[str]]:
    """What a program was given."""
    return [json.loads(line) for line in log.read_text().splitlines()]


def test_terminal_notifier_opens_the_link_and_takes_back(tmp_path: Path) -> None:
    """Each under its own name; words that look like options are none."""
    log = program(tmp_path, "terminal-notifier")
    desktop = found({"PATH": str(tmp_path)}, "darwin")
    receipt = desktop.show(*WORDS, urgent=True, tag="w1")
    desktop.close(receipt)
    shown, closed = calls(log)
    options = dict(zip(shown[::2], shown[1::2], strict=True))
    assert options["-subtitle"] == WORDS[0]
    assert options["-message"] == f"\u200b{WORDS[1]}"
    assert (options["-open"], options["-group"], options["-sound"]) == (WORDS[2], "w1", "default")
    assert closed == ["-remove", "w1"]


def test_osascript_gets_the_words_as_arguments(tmp_path: Path) -> None:
    """Nothing of them becomes part of the script."""
    log = program(tmp_path, "osascript")
    desktop = found({"PATH": str(tmp_path)}, "darwin")
    assert desktop.show(*WORDS, urgent=False, tag="w1") == ""
    (given,) = calls(log)
    script, words = given[: given.index("--")], given[given.index("--") + 1 :]
    assert words == ["Headspace", WORDS[0], f"{WORDS[1]}\n{WORDS[2]}"]
    assert not [part for part in script if "quotes" in part]


def test_a_program_that_fails_says_why(tmp_path: Path) -> None:
    """By its own words."""
    program(tmp_path, "osascript", code=1)
    with pytest.raises(DeliveryFailed, match="osascript failed: it broke"):
        found({"PATH": str(tmp_path)}, "darwin").show(*WORDS, urgent=False, tag="")
