"""The scratch home of a demo: nothing of the user's is in it, and nothing of it stays."""

import os
from pathlib import Path

import pytest

from claude_headspace.config import effective_settings, find_paths
from claude_headspace.demo.stage import PASSED_ON, Stage, environment, set_up

USERS = {
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


def test_nothing_of_the_users_reaches_the_stage(tmp_path: Path) -> None:
    """Every place leads below the root, the port is a free one, and no setting or session is inherited."""
    env = environment(tmp_path, USERS)
    assert [value for value in env.values() if "somebody" in value or "team" in value] == []
    assert {name for name in env if name in USERS} == {
        "PATH", "HOME", "HEADSPACE_HOME", "HEADSPACE_PORT", "CLAUDE_CONFIG_DIR", "XDG_STATE_HOME",
    }  # fmt: skip
    below = [name for name in env if name.startswith("XDG_") or name in ("HOME", "HEADSPACE_HOME", "CLAUDE_CONFIG_DIR")]
    assert all(Path(env[name]).is_relative_to(tmp_path) for name in below)
    places = find_paths(env)
    assert all(Path(place).is_relative_to(tmp_path) for place in (places.config, places.data, places.state))
    settings, _ = effective_settings(places, env)
    assert (settings.port, settings.database, settings.config_dirs) == (0, "", ())


def test_only_harmless_variables_are_passed_on() -> None:
    """Nothing that names a place, a session or a secret."""
    assert not [name for name in PASSED_ON if name.startswith(("HEADSPACE", "CLAUDE", "TMUX", "XDG", "DBUS"))]


def test_a_stage_is_taken_down(tmp_path: Path) -> None:
    """Also when something goes wrong on it."""
    root = tmp_path / "stage"

    class Mishap(Exception):
        """Something went wrong."""

    def break_off() -> None:
        with set_up(root) as stage:
            stage.start()
            os.kill(stage.client.status()["pid"], 0)
            raise Mishap

    with pytest.raises(Mishap):
        break_off()
    assert not root.exists()


def test_a_directory_that_is_there_is_not_used(tmp_path: Path) -> None:
    """It would be removed afterwards."""
    (tmp_path / "precious").write_text("mine")
    with pytest.raises(FileExistsError), set_up(tmp_path):
        pass
    assert (tmp_path / "precious").read_text() == "mine"


def test_the_hooks_are_the_real_ones(tmp_path: Path) -> None:
    """Installed the way `headspace install` does it, in the stage's own configuration directory."""
    stage = Stage(tmp_path / "stage")
    stage.build()
    assert stage.config.script.stat().st_mode & 0o777 == 0o700
    assert stage.config.state.readlink() == stage.places.state
    assert stage.config.status_line.exists()
