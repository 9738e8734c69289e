"""Desktops: D-Bus with a real bus; the macOS programs are replaced by fakes that record their arguments."""

import json
from pathlib import Path

import pytest

from claude_headspace.outputs.notify.desktop import DeliveryFailed, Desktop, NoDesktop, find_desktop
from tests.receivers import desktop_session

TEXTS = ("calm-otter asks", '-e "quotes" & <b>', "http://here/agents/1")


def require_desktop(env: dict[str, str], platform: str = "linux") -> Desktop:
    """Return the desktop, which must exist."""
    desktop = find_desktop(env, platform)
    assert not isinstance(desktop, NoDesktop), desktop
    return desktop


@pytest.mark.parametrize(
    ("env", "platform", "reason"),
    [
        ({}, "linux", "DBUS_SESSION_BUS_ADDRESS is not set"),
        ({"DBUS_SESSION_BUS_ADDRESS": "unix:path=/nowhere"}, "linux", "does not reply"),
        ({"DBUS_SESSION_BUS_ADDRESS": "nonsense"}, "linux", "does not reply"),
        ({"PATH": "/nowhere"}, "darwin", "neither terminal-notifier nor osascript"),
    ],
)
def test_a_missing_desktop_has_a_reason(env: dict[str, str], platform: str, reason: str) -> None:
    """The reason names what is missing."""
    desktop = find_desktop(env, platform)
    assert isinstance(desktop, NoDesktop)
    assert reason in desktop.reason


def test_notifications_over_dbus_are_shown_and_closed(tmp_path: Path) -> None:
    """They are closed by the id that the desktop assigned. Markup in the text is escaped."""
    with desktop_session(tmp_path) as session:
        desktop = require_desktop(session.env)
        receipt = desktop.show(*TEXTS, urgent=True, tag="w1")
        desktop.show(*TEXTS, urgent=False, tag="w2")
        desktop.close(receipt)
        first, second = session.recorded("show")
        assert (first["title"], first["urgency"], second["urgency"]) == ("calm-otter asks", 2, 1)
        assert first["body"] == '-e "quotes" &amp; &lt;b&gt;\nhttp://here/agents/1'
        assert session.recorded("close") == [{"close": int(receipt.split()[1])}]
        desktop.close(":1.999 1")
        assert len(session.recorded("close")) == 1, "notifications of another service are not closed"
    with pytest.raises(DeliveryFailed):
        desktop.show(*TEXTS, urgent=True, tag="w1")


def test_a_bus_without_a_notification_service_is_no_desktop(tmp_path: Path) -> None:
    """Nothing would show the notifications."""
    with desktop_session(tmp_path, shows=False) as session:
        assert find_desktop(session.env, "linux") == NoDesktop("no notification service in the D-Bus session")


def fake_program(folder: Path, name: str, code: int = 0) -> Path:
    """Create a program that records its arguments. Returns the path of the record."""
    path = folder / name
    log = folder / "arguments.jsonl"
    path.write_text(
        "#!/usr/bin/env python3\n"
        f"import json, sys\nopen({str(log)!r}, 'a').write(json.dumps(sys.argv[1:]) + '\\n')\n"
        f"print('it broke', file=sys.stderr)\nsys.exit({code})\n"
    )
    path.chmod(0o755)
    return log


def recorded_arguments(log: Path) -> list[list[str]]:
    """The arguments of each run."""
    return [json.loads(line) for line in log.read_text().splitlines()]


def test_terminal_notifier_shows_with_a_link_and_removes(tmp_path: Path) -> None:
    """By the tag. Text that looks like an option is escaped."""
    log = fake_program(tmp_path, "terminal-notifier")
    desktop = require_desktop({"PATH": str(tmp_path)}, "darwin")
    receipt = desktop.show(*TEXTS, urgent=True, tag="w1")
    desktop.close(receipt)
    shown, closed = recorded_arguments(log)
    options = dict(zip(shown[::2], shown[1::2], strict=True))
    assert options["-subtitle"] == TEXTS[0]
    assert options["-message"] == f"\u200b{TEXTS[1]}"
    assert (options["-open"], options["-group"], options["-sound"]) == (TEXTS[2], "w1", "default")
    assert closed == ["-remove", "w1"]


def test_osascript_gets_the_text_as_arguments(tmp_path: Path) -> None:
    """No text becomes part of the script."""
    log = fake_program(tmp_path, "osascript")
    desktop = require_desktop({"PATH": str(tmp_path)}, "darwin")
    assert desktop.show(*TEXTS, urgent=False, tag="w1") == ""
    (arguments,) = recorded_arguments(log)
    script, texts = arguments[: arguments.index("--")], arguments[arguments.index("--") + 1 :]
    assert texts == ["Headspace", TEXTS[0], f"{TEXTS[1]}\n{TEXTS[2]}"]
    assert not [part for part in script if "quotes" in part]


def test_the_reason_of_a_failed_program_is_its_error_output(tmp_path: Path) -> None:
    """With the name of the program."""
    fake_program(tmp_path, "osascript", code=1)
    with pytest.raises(DeliveryFailed, match="osascript failed: it broke"):
        require_desktop({"PATH": str(tmp_path)}, "darwin").show(*TEXTS, urgent=False, tag="")
