"""Whether hooks are registered: by `install`, by hand, or by a plugin, and why they do not run."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from claude_headspace.clients import settings_change
from claude_headspace.clients.claude_code.hooks import installation
from claude_headspace.clients.claude_code.hooks.installation import ConfigDir
from claude_headspace.clients.claude_code.hooks.registration import Registration, read_registration


@pytest.fixture
def config(tmp_path: Path) -> ConfigDir:
    """A config dir without settings."""
    (tmp_path / ".claude").mkdir()
    return ConfigDir(tmp_path / ".claude")


@pytest.fixture
def state(tmp_path: Path) -> Path:
    """The state directory of an installation."""
    (tmp_path / "state").mkdir()
    return tmp_path / "state"


def install(config: ConfigDir, state: Path) -> None:
    """Install one hook."""
    settings_change.install(installation.plan_install(config, ["Stop"]), state, "token")


def written(config: ConfigDir, settings: dict[str, Any], state: Path) -> Registration:
    """The registration in these settings."""
    config.settings.write_text(json.dumps(settings))
    return read_registration(config, state)


def test_no_settings_have_no_hooks(config: ConfigDir, state: Path) -> None:
    """That is not a problem."""
    found = read_registration(config, state)
    assert (found.is_active, found.problem) == (False, None)


def test_installed_hooks_are_found(config: ConfigDir, state: Path) -> None:
    """They are active in the installation that installed them."""
    install(config, state)
    found = read_registration(config, state)
    assert found.is_active
    assert [event for event, _ in found.hooks] == ["Stop"]


def test_hooks_of_another_installation_are_not_ours(config: ConfigDir, state: Path, tmp_path: Path) -> None:
    """Their events go elsewhere."""
    install(config, state)
    found = read_registration(config, tmp_path / "other")
    assert not found.is_active
    assert "does not point to" in (found.problem or "")


@pytest.mark.parametrize(
    "command", ["headspace hook stop", "/opt/bin/headspace hook stop", "'/a b/headspace' hook stop"]
)
def test_commands_that_only_report_count(config: ConfigDir, state: Path, command: str) -> None:
    """“Our handler: `sp hook stop`”, here with the program of Headspace."""
    hooks = {"Stop": [{"hooks": [{"type": "command", "command": command}]}]}
    found = written(config, {"hooks": hooks}, state)
    assert (found.is_active, found.reporting_events, found.hooks) == (True, ("Stop",), ())


def test_other_commands_do_not_count(config: ConfigDir, state: Path) -> None:
    """They belong to other programs."""
    hooks = {"Stop": [{"hooks": [{"type": "command", "command": "headspace list"}, {"type": "command"}, "x"]}]}
    assert not written(config, {"hooks": hooks}, state).is_active


def test_disabled_hooks_do_not_run(config: ConfigDir, state: Path) -> None:
    """The problem names the setting."""
    install(config, state)
    settings = json.loads(config.settings.read_text())
    found = written(config, {**settings, "disableAllHooks": True}, state)
    assert (found.is_active, found.problem) == (False, "`disableAllHooks` in settings.json turns all hooks off")


def test_a_missing_script_does_not_run(config: ConfigDir, state: Path) -> None:
    """The settings still register it."""
    install(config, state)
    config.script.unlink()
    found = read_registration(config, state)
    assert (found.is_active, len(found.hooks)) == (False, 1)
    assert "is missing or not executable" in (found.problem or "")


def test_a_pipe_does_not_block(config: ConfigDir, state: Path) -> None:
    """Only regular files are read."""
    os.mkfifo(config.settings)
    assert read_registration(config, state).problem


@pytest.mark.parametrize("content", [b"{", b"\xff", b"[]"])
def test_settings_that_cannot_be_read_are_a_problem(config: ConfigDir, state: Path, content: bytes) -> None:
    """Nothing is raised."""
    config.settings.write_bytes(content)
    found = read_registration(config, state)
    assert (found.is_active, found.settings) == (False, None)
    assert found.problem
