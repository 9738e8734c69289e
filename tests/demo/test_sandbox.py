"""The temporary home of the demo: isolated from the user's, and always removed."""

import json
import os
from pathlib import Path

import pytest

from claude_headspace.clients.claude_code.hooks.events import REGISTERED, events_for
from claude_headspace.config import effective_settings, find_paths
from claude_headspace.demo.sandbox import INHERITED, Sandbox, create_sandbox, environment

USER_ENVIRONMENT = {
    "PATH": "/usr/bin:/bin",
    "HOME": "/home/somebody",
    "HEADSPACE_HOME": "/home/somebody/headspace",
    "HEADSPACE_PORT": "5055",
    "HEADSPACE_DATABASE": "postgresql://team/headspace",
    "HEADSPACE_DATABASE_URL": "postgresql://team/headspace",
    "HEADSPACE_CONFIG_DIRS": "/home/somebody/.claude",
    "CLAUDE_CONFIG_DIR": "/home/somebody/.claude",
    "CLAUDE_CODE_SESSION_ID": "one",
    "DBUS_SESSION_BUS_ADDRESS": "unix:path=/run/user/1000/bus",
    "TMUX": "/tmp/tmux-1000/default,1,0",
    "TMUX_PANE": "%1",
    "XDG_STATE_HOME": "/home/somebody/.local/state",
}


def test_the_environment_is_isolated(tmp_path: Path) -> None:
    """All directories are below the root, the port is a free one, and no setting or session is inherited."""
    env = environment(tmp_path, USER_ENVIRONMENT)
    assert [value for value in env.values() if "somebody" in value or "team" in value] == []
    assert {name for name in env if name in USER_ENVIRONMENT} == {
        "PATH", "HOME", "HEADSPACE_HOME", "HEADSPACE_PORT", "CLAUDE_CONFIG_DIR", "XDG_STATE_HOME",
    }  # fmt: skip
    below = [name for name in env if name.startswith("XDG_") or name in ("HOME", "HEADSPACE_HOME", "CLAUDE_CONFIG_DIR")]
    assert all(Path(env[name]).is_relative_to(tmp_path) for name in below)
    paths = find_paths(env)
    assert all(Path(path).is_relative_to(tmp_path) for path in (paths.config, paths.data, paths.state))
    settings, _ = effective_settings(paths, env)
    assert (settings.port, settings.database, settings.config_dirs) == (0, "", ())


def test_only_harmless_variables_are_inherited() -> None:
    """No variable with a directory, a session or a secret."""
    assert not [name for name in INHERITED if name.startswith(("HEADSPACE", "CLAUDE", "TMUX", "XDG", "DBUS"))]


def test_a_sandbox_is_removed_after_an_error(tmp_path: Path) -> None:
    """The daemon stops, and the directory is removed."""
    root = tmp_path / "sandbox"

    class Failure(Exception):
        """Raised in the sandbox."""

    def fail() -> None:
        with create_sandbox(root) as sandbox:
            sandbox.start_daemon()
            os.kill(sandbox.client.status()["pid"], 0)
            raise Failure

    with pytest.raises(Failure):
        fail()
    assert not root.exists()


def test_an_existing_directory_is_not_used(tmp_path: Path) -> None:
    """It would be removed at the end."""
    (tmp_path / "precious").write_text("mine")
    with pytest.raises(FileExistsError), create_sandbox(tmp_path):
        pass
    assert (tmp_path / "precious").read_text() == "mine"


def test_the_real_hooks_are_installed(tmp_path: Path) -> None:
    """As `headspace install` does, in the configuration directory of the sandbox."""
    sandbox = Sandbox(tmp_path / "sandbox")
    sandbox.install_hooks()
    assert sandbox.config.script.stat().st_mode & 0o777 == 0o700
    assert sandbox.config.state_link.readlink() == sandbox.paths.state
    assert sandbox.config.status_line.exists()


def test_only_events_that_the_installed_client_knows_are_registered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise the doctor would report the hooks of the demo."""
    program = tmp_path / "bin" / "claude"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\necho '2.0.0 (Claude Code)'\n")
    program.chmod(0o700)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    sandbox = Sandbox(tmp_path / "sandbox")
    sandbox.install_hooks()
    registered = json.loads(sandbox.config.settings.read_text())["hooks"]
    assert set(registered) == set(events_for((2, 0, 0)))
    assert set(registered) != set(REGISTERED)
