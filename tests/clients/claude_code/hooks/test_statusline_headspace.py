"""The status line: it reports the payload, prints a line, and keeps a previous status line."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from claude_headspace.clients.claude_code.hooks.installation import STATUS_LINE_SCRIPT
from tests.support import LIMIT_SECONDS, environment, running_daemon, wait_until
from tests.support_hooks import Hooks

PAYLOAD: dict[str, Any] = {
    "session_id": "measured",
    "cwd": "/projects/measured",
    "model": {"id": "claude-opus-5-5", "display_name": "Opus 5.5"},
    "cost": {"total_cost_usd": 0.0424},
    "context_window": {
        "context_window_size": 1_000_000,
        "current_usage": {
            "input_tokens": 2_000,
            "output_tokens": 42,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 120_000,
        },
        "used_percentage": 12,
        "remaining_percentage": 88,
    },
    "rate_limits": {"five_hour": {"used_percentage": 37.5, "resets_at": 1_794_735_110}},
}
"""As 2.1.325 sends it, with the limits that a subscription has."""


def show(state: Path, payload: str | dict[str, Any] = PAYLOAD, script: Path = STATUS_LINE_SCRIPT, **env: str) -> str:
    """Run the script as the client does. Returns its output."""
    text = payload if isinstance(payload, str) else json.dumps(payload)
    done = subprocess.run(
        ["/bin/bash", "-p", str(script)],
        input=text,
        env={"PATH": os.environ["PATH"], "HEADSPACE_STATE": str(state), **env},
        capture_output=True,
        encoding="utf-8",
        timeout=LIMIT_SECONDS,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


@pytest.mark.parametrize(
    ("template", "line"),
    [
        ("", "Opus 5.5  ctx 12%  $0.04  ◆ 1 able-ant\n"),
        ("{context} of {model}", "ctx 12%  of  Opus 5.5\n"),
        ("{limit} * $HOME $(id) {cost}", "5h 37%  *  $HOME  $(id)  $0.04\n"),
    ],
)
def test_placeholders_are_replaced(tmp_path: Path, template: str, line: str) -> None:
    """Other text stays as it is and is never run."""
    (tmp_path / "glance").write_text("◆ 1 able-ant\n")
    (tmp_path / "address").write_text(f"127.0.0.1 5055 {os.getpid()}\n")
    assert show(tmp_path, HEADSPACE_STATUSLINE=template) == line


def test_the_board_of_a_killed_daemon_is_not_shown(tmp_path: Path) -> None:
    """Its files are still there, but its process is not."""
    (tmp_path / "glance").write_text("◆ 1 able-ant\n")
    assert show(tmp_path, HEADSPACE_STATUSLINE="{model} {fleet}") == "Opus 5.5\n"
    gone = subprocess.Popen(["/bin/true"])
    gone.wait()
    (tmp_path / "address").write_text(f"127.0.0.1 5055 {gone.pid}\n")
    assert show(tmp_path, HEADSPACE_STATUSLINE="{model} {fleet}") == "Opus 5.5\n"


@pytest.mark.parametrize("payload", ["", "{", "[]", "\x00\xff", '{"session_id": 5}', json.dumps({"session_id": "x"})])
def test_it_never_fails(tmp_path: Path, payload: str) -> None:
    """Any payload, without a daemon and without a spool: it exits with 0 and prints no error."""
    assert show(tmp_path, payload).strip() == ""


def test_nothing_from_the_payload_is_run(tmp_path: Path) -> None:
    """The name of a model may contain anything."""
    hostile = {**PAYLOAD, "model": {"display_name": "$(touch pwned) `id` \u001b[31m & * \\"}}
    shown = show(tmp_path, hostile, HEADSPACE_STATUSLINE="{model} {cost}")
    assert "\x1b" not in shown
    assert not (tmp_path / "pwned").exists()


def test_its_numbers_are_stored_with_the_agent(tmp_path: Path) -> None:
    """Context, cost, model and limits. The same numbers again are not stored."""
    with running_daemon(tmp_path) as daemon:
        daemon.post("session-start", {"session_id": "measured", "cwd": "/projects/measured"})
        show(tmp_path)
        agent = wait_until(lambda: [each for each in daemon.agents() if each["cost_usd"]], "the cost")[0]
        assert (agent["context_percent"], agent["tokens"], agent["cost_usd"]) == (12.2, 122_000, 0.0424)
        assert agent["rate_limits"] == [{"name": "five_hour", "used_percent": 37.5, "resets_at": 1_794_735_110}]
        assert agent["state"] == "idle"
        show(tmp_path)
        show(tmp_path, {**PAYLOAD, "cost": {"total_cost_usd": 1.5}})
        wait_until(lambda: daemon.agents()[0]["cost_usd"] == 1.5, "the new cost")
        stored = [event for event in daemon.events() if event["name"] == "StatusLine"]
        assert [event["origin"] for event in stored] == ["status_line", "status_line"]
        assert daemon.verified()


def test_the_command_prints_the_same_line(tmp_path: Path) -> None:
    """`headspace statusline` runs the same script."""
    done = subprocess.run(
        [sys.executable, "-m", "claude_headspace", "statusline", "--line", "{context}"],
        input=json.dumps(PAYLOAD),
        env=environment(tmp_path),
        capture_output=True,
        encoding="utf-8",
        timeout=LIMIT_SECONDS,
        check=True,
    )
    assert (done.stdout, done.stderr) == ("ctx 12%\n", "")


# --- installed --------------------------------------------------------------------------------------------------------

THEIRS = {"type": "command", "command": "tr 'a-z' 'A-Z' | cut -c1-30", "padding": 2}


@pytest.mark.parametrize("before", [None, "{}", json.dumps({"statusLine": THEIRS, "model": "opus"}, indent=4)])
def test_uninstall_restores_the_settings(tmp_path: Path, before: str | None) -> None:
    """Byte for byte, with or without a previous status line."""
    config = tmp_path / ".claude"
    config.mkdir()
    if before is not None:
        (config / "settings.json").write_text(before)
    hooks = Hooks(tmp_path, "--statusline")
    assert "statusline-headspace.sh" in hooks.settings["statusLine"]["command"]
    Hooks(tmp_path, "--statusline")
    Hooks(tmp_path)
    assert "statusline-headspace.sh" in hooks.settings["statusLine"]["command"]
    hooks.headspace("uninstall", "--yes")
    after = (config / "settings.json").read_text() if (config / "settings.json").exists() else None
    assert after == before
    assert list(config.rglob("*headspace*")) == []


def test_a_previous_status_line_still_runs(tmp_path: Path) -> None:
    """It gets the same payload and prints the same line."""
    config = tmp_path / ".claude"
    config.mkdir()
    (config / "settings.json").write_text(json.dumps({"statusLine": THEIRS}))
    hooks = Hooks(tmp_path, "--statusline")
    assert hooks.settings["statusLine"]["padding"] == 2
    shown = show(tmp_path / "missing", script=config / "hooks" / "statusline-headspace.sh")
    assert shown == json.dumps(PAYLOAD).upper()[:30] + "\n"


def test_a_previous_status_line_is_restored_in_changed_settings(tmp_path: Path) -> None:
    """Only Headspace's entries are removed."""
    config = tmp_path / ".claude"
    config.mkdir()
    (config / "settings.json").write_text(json.dumps({"statusLine": THEIRS}))
    hooks = Hooks(tmp_path, "--statusline")
    changed = {**hooks.settings, "theme": "dark"}
    (config / "settings.json").write_text(json.dumps(changed))
    hooks.headspace("uninstall", "--yes")
    assert hooks.settings == {"statusLine": THEIRS, "theme": "dark"}
