"""`config` and `token`: what is set here, and the keys to it."""

import json
import stat
from pathlib import Path

import pytest

from claude_headspace.config import Settings
from claude_headspace.surfaces.auth.tokens import Scope
from tests.surfaces.cli.conftest import Headspace, run_headspace


def test_every_setting_is_explained(tmp_path: Path) -> None:
    """Its value, where that comes from if not from us, and what it is for; then the places."""
    (tmp_path / "config.toml").write_text('machine = "laptop"\n')
    done = run_headspace(tmp_path, "config", HEADSPACE_POLLING_SECONDS="30")
    assert (done.returncode, done.stderr) == (0, "")
    for name in Settings.__struct_fields__:
        assert f"\n{name} = " in f"\n{done.stdout}"
    assert f'machine = "laptop"  from {tmp_path / "config.toml"}\n' in done.stdout
    assert "polling_seconds = 30.0  from environment\n" in done.stdout
    assert 'host = "127.0.0.1"\n    Address to listen on.' in done.stdout
    assert str(tmp_path / "headspace.db") in done.stdout


def test_every_setting_in_json(tmp_path: Path) -> None:
    """Programs get value, default, origin and description by name, and the places."""
    told = json.loads(run_headspace(tmp_path, "config", "--json").stdout)
    assert set(told["settings"]) == set(Settings.__struct_fields__)
    assert told["settings"]["port"] == {
        "value": 0,
        "default": 5055,
        "origin": "environment",
        "description": "Port to listen on; 0 chooses a free port.",
    }
    assert told["places"]["log"] == str(tmp_path / "headspace.log")


@pytest.mark.parametrize("as_json", [[], ["--json"]])
def test_a_password_is_never_shown(tmp_path: Path, as_json: list[str]) -> None:
    """The database's address is shown, its password is not."""
    done = run_headspace(tmp_path, "config", *as_json, HEADSPACE_DATABASE="postgresql://me:sesame@db/headspace")
    assert "postgresql://me@db/headspace" in done.stdout
    assert "sesame" not in done.stdout


def test_a_setting_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    """The place and the way out are told, and no other command pretends that all is well."""
    (tmp_path / "config.toml").write_text("port = 70000\n")
    for command in ("config", "serve"):
        done = run_headspace(tmp_path, command)
        assert done.returncode == 1
        assert str(tmp_path / "config.toml") in done.stderr
        assert "`headspace config` describes all settings" in done.stderr


def test_everything_lives_in_directories_of_the_user(tmp_path: Path) -> None:
    """Without a home and a runtime directory of our own nothing is looked for in /tmp, and nothing complained of."""
    variables = {"HOME": str(tmp_path), "HEADSPACE_HOME": ""}
    done = run_headspace(tmp_path, "config", "--json", **variables)
    assert done.stderr == ""
    assert [place for place in json.loads(done.stdout)["places"].values() if not place.startswith(str(tmp_path))] == []
    runtime = run_headspace(tmp_path, "config", "--json", **variables, XDG_RUNTIME_DIR=str(tmp_path / "runtime"))
    assert json.loads(runtime.stdout)["places"]["daemon"] == str(tmp_path / "runtime" / "headspace" / "daemon.json")


@pytest.mark.parametrize("scope", Scope)
def test_a_token_is_printed_alone(tmp_path: Path, scope: Scope) -> None:
    """One line, nothing else, for every scope, and the same each time."""
    done = run_headspace(tmp_path, "token", "--scope", scope.value)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"hs_{scope.value}_")
    assert done.stdout.count("\n") == 1
    assert run_headspace(tmp_path, "token", "--scope", scope.value).stdout == done.stdout
    assert stat.S_IMODE((tmp_path / "secret").stat().st_mode) == 0o600


def test_the_token_opens_what_it_should(headspace: Headspace, tmp_path: Path) -> None:
    """Reading is the default; a scope that does not exist is a wrong command line."""
    assert headspace("token").stdout == headspace("token", "--scope", "read").stdout
    assert run_headspace(tmp_path, "token", "--scope", "everything").returncode == 2
