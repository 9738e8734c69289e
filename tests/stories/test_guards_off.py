"""Guards that are off are reported, with the time, and the report ends when they are on again."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from claude_headspace.surfaces.auth.tokens import Scope, make_token
from tests.support import RunningDaemon, environment, running_daemon, wait_until
from tests.support_hooks import Hooks


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[RunningDaemon, Hooks]]:
    """A daemon with installed hooks, and an agent that runs in a project."""
    home = tmp_path_factory.mktemp("home")
    with running_daemon(home) as daemon:
        hooks = Hooks(home)
        (home / "project").mkdir()
        wait_until((home / "asked" / "PreToolUse").exists, "the guard")
        hooks.fire("SessionStart", {"session_id": "one", "cwd": str(home / "project")})
        wait_until(daemon.agents, "the agent")
        wait_until(lambda: "1 config dir" in part(daemon)["detail"], "the installation to be watched")
        yield daemon, hooks


def part(daemon: RunningDaemon) -> dict[str, str]:
    """The health of the guards."""
    found: dict[str, str] = daemon.get("/health", scope=None).json()["parts"]["guards"]
    return found


def problems(daemon: RunningDaemon) -> list[dict[str, Any]]:
    """The reported problems. While there are some, the daemon is not healthy."""
    health = daemon.get("/health", scope=None).json()
    assert bool(health["guard_problems"]) == (health["parts"]["guards"]["status"] == "failing")
    assert not health["guard_problems"] or health["status"] == "degraded"
    found: list[dict[str, Any]] = health["guard_problems"]
    return found


def status(home: Path) -> str:
    """The output of `headspace status` as one line."""
    command = [sys.executable, "-m", "claude_headspace", "status"]
    done = subprocess.run(command, env=environment(home), capture_output=True, text=True, check=True)
    return " ".join(done.stdout.split())


def edit(path: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Change a settings file."""
    found = json.loads(path.read_text()) if path.exists() else {}
    change(found)
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(found))


def disable(settings: dict[str, Any]) -> None:
    """Turn all hooks off."""
    settings["disableAllHooks"] = True


def remove_entry(settings: dict[str, Any]) -> None:
    """Remove one of our hooks."""
    del settings["hooks"]["PreToolUse"]


def narrow(settings: dict[str, Any]) -> None:
    """Let our hook apply to one tool only."""
    settings["hooks"]["PreToolUse"][0]["matcher"] = "Read"


def shorten(settings: dict[str, Any]) -> None:
    """Give our hook no time to reply."""
    settings["hooks"]["PreToolUse"][0]["hooks"][0]["timeout"] = 0.001


def redirect(settings: dict[str, Any]) -> None:
    """Run another script of the same name."""
    settings["hooks"]["PreToolUse"][0]["hooks"][0]["command"] = "/tmp/notify-headspace.sh"


EDITS: dict[str, tuple[str, Callable[[dict[str, Any]], object], str]] = {
    "all hooks off, user": (".claude/settings.json", disable, "disableAllHooks"),
    "all hooks off, project": ("project/.claude/settings.json", disable, "disableAllHooks"),
    "all hooks off, local": ("project/.claude/settings.local.json", disable, "disableAllHooks"),
    "an entry is removed": (".claude/settings.json", remove_entry, "PreToolUse of Headspace are missing"),
    "all entries are removed": (".claude/settings.json", lambda found: found.pop("hooks"), "all hooks of Headspace"),
    "an entry with a matcher": (".claude/settings.json", narrow, "PreToolUse of Headspace are missing"),
    "an entry without time": (".claude/settings.json", shorten, "PreToolUse of Headspace are changed"),
    "an entry of another script": (".claude/settings.json", redirect, "PreToolUse of Headspace are changed"),
}


@pytest.mark.parametrize(("file", "change", "text"), EDITS.values(), ids=EDITS)
def test_settings_that_turn_hooks_off_are_reported(
    guarded: tuple[RunningDaemon, Hooks], file: str, change: Callable[[dict[str, Any]], object], text: str
) -> None:
    """Until they are corrected; `headspace status` shows since when, and afterwards for how long."""
    daemon, hooks = guarded
    path = hooks.home / file
    before = path.read_text() if path.exists() else None
    edit(path, change)
    found = wait_until(lambda: problems(daemon), "the report")
    assert [text in each["text"] for each in found] == [True]
    assert abs(datetime.now(UTC) - datetime.fromisoformat(found[0]["since"])) < timedelta(minutes=2)
    shown = status(hooks.home)
    assert "guards off in Claude Code since" in shown
    assert text in shown
    path.unlink() if before is None else path.write_text(before)
    wait_until(lambda: not problems(daemon), "the end of the report")
    assert "guards were off in Claude Code" in daemon.status["troubles"][-1]["reason"]
    assert text in daemon.status["troubles"][-1]["reason"]


def test_an_edited_hook_script_is_reported(guarded: tuple[RunningDaemon, Hooks]) -> None:
    """It is not replaced, because it can be of another version."""
    daemon, hooks = guarded
    script = hooks.config_dir / "hooks" / "notify-headspace.sh"
    before = script.read_bytes()
    script.write_bytes(b"#!/bin/sh\nexit 0\n")
    assert "was edited" in wait_until(lambda: problems(daemon), "the report")[0]["text"]
    hooks.headspace("install", "--yes")
    wait_until(lambda: not problems(daemon), "the end of the report")
    assert script.read_bytes() == before


SABOTAGE: dict[str, Callable[[Hooks], object]] = {
    "notify-headspace.sh was missing": lambda hooks: (hooks.config_dir / "hooks" / "notify-headspace.sh").unlink(),
    "was not executable": lambda hooks: (hooks.config_dir / "hooks" / "notify-headspace.sh").chmod(0o600),
    "did not contain the token": lambda hooks: (hooks.config_dir / "hooks" / "notify-headspace.conf").write_text(""),
    "notify-headspace.state was missing": lambda hooks: (hooks.config_dir / "hooks/notify-headspace.state").unlink(),
    "directory named `silent`": lambda hooks: (hooks.home / "silent").mkdir(),
    "asked/PreToolUse was removed": lambda hooks: (hooks.home / "asked" / "PreToolUse").unlink(),
    "`asked` was not a directory": lambda hooks: _replace_by_pipe(hooks.home / "asked"),
}


def _replace_by_pipe(folder: Path) -> None:
    shutil.rmtree(folder)
    os.mkfifo(folder)


@pytest.mark.parametrize(("reason", "sabotage"), SABOTAGE.items())
def test_files_of_headspace_are_repaired(
    guarded: tuple[RunningDaemon, Hooks], reason: str, sabotage: Callable[[Hooks], object]
) -> None:
    """The guard works again, and the status says what happened."""
    daemon, hooks = guarded
    sabotage(hooks)
    wait_until(lambda: any(reason in each["reason"] for each in daemon.status["troubles"]), "the repair")
    wait_until(lambda: not problems(daemon), "the end of the report")
    call = {"tool_name": "Bash", "tool_use_id": reason, "tool_input": {"command": "rm -rf /"}}
    printed = json.loads(hooks.fire("PreToolUse", {"session_id": "one", "cwd": str(hooks.home / "project"), **call}))
    assert printed["hookSpecificOutput"]["permissionDecision"] == "deny"


@pytest.mark.parametrize("preset", ["off", "watch"])
def test_guards_that_are_off_by_configuration_are_reported(tmp_path: Path, preset: str) -> None:
    """From the start of the daemon."""
    with running_daemon(tmp_path, policy_preset=preset) as daemon:
        found = wait_until(lambda: problems(daemon), "the report")
        assert f"preset `{preset}`" in found[0]["text"]
        assert f"preset `{preset}`" in status(tmp_path)


def test_an_uninstallation_is_not_undone_and_not_reported(tmp_path: Path) -> None:
    """The user removed the hooks: nothing is restored, and the daemon is healthy."""
    with running_daemon(tmp_path) as daemon:
        hooks = Hooks(tmp_path)
        wait_until(lambda: "1 config dir" in part(daemon)["detail"], "the installation to be watched")
        hooks.headspace("uninstall", "--yes")
        wait_until(lambda: "no hooks are installed" in part(daemon)["detail"], "the removal")
        assert problems(daemon) == []
        assert not (hooks.config_dir / "hooks").exists()


def test_an_empty_secret_is_replaced_at_the_start(tmp_path: Path) -> None:
    """No token of an empty secret is valid, the installed hooks get the new token, and the status says why."""
    with running_daemon(tmp_path) as daemon:
        hooks = Hooks(tmp_path)
        daemon.stop()
    (tmp_path / "secret").write_bytes(b"")
    command = [sys.executable, "-m", "claude_headspace", "token"]
    refused = subprocess.run(command, env=environment(tmp_path), capture_output=True, text=True, check=False)
    assert refused.returncode != 0
    assert "is empty" in refused.stderr
    guessed = {"Authorization": f"Bearer {make_token(b'', Scope.ADMIN)}"}
    with running_daemon(tmp_path) as daemon:
        assert daemon.send("POST", "/api/admin/db/verify", {}, guessed).status == 401
        assert "the secret is empty" in daemon.status["troubles"][0]["reason"]
        conf = hooks.config_dir / "hooks" / "notify-headspace.conf"
        wait_until(lambda: conf.read_text() == f"token={daemon.token('ingest')}\n", "the new token")
        wait_until((tmp_path / "asked" / "PreToolUse").exists, "the guard")
        call = {"tool_name": "Bash", "tool_use_id": "t", "tool_input": {"command": "rm -rf /"}}
        printed = json.loads(hooks.fire("PreToolUse", {"session_id": "one", "cwd": str(tmp_path), **call}))
        assert printed["hookSpecificOutput"]["permissionDecision"] == "deny"
