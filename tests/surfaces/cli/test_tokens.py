"""The command `token`."""

import getpass
import json
import stat
from pathlib import Path

import pytest

from claude_headspace.surfaces.auth.tokens import Scope
from tests.support import RunningDaemon
from tests.surfaces.cli.conftest import Headspace, run_headspace


def test_life_of_a_named_token(daemon: RunningDaemon) -> None:
    """Created, used, listed with its last use, and revoked, with immediate effect."""
    text = run_headspace(daemon.home, "token", "create", "grafana", "--scope", "read", "--owner", "Ann").stdout.strip()
    assert text.startswith("hs_named_")
    bearer = {"Authorization": f"Bearer {text}"}
    assert daemon.send("GET", "/api/agents", headers=bearer).status == 200
    assert daemon.send("POST", "/api/admin/db/verify", headers=bearer).status == 403
    [token] = json.loads(run_headspace(daemon.home, "token", "list", "--json").stdout)
    assert (token["name"], token["scopes"], token["owner"]) == ("grafana", ["read"], "Ann")
    assert token["last_used_at"]
    shown = run_headspace(daemon.home, "token", "list").stdout
    assert "grafana" in shown
    assert text not in shown
    assert run_headspace(daemon.home, "token", "revoke", "grafana").stdout == "Revoked grafana.\n"
    refused = daemon.send("GET", "/api/agents", headers=bearer)
    assert (refused.status, refused.error["code"]) == (401, "token_unknown")
    assert "was revoked" in refused.error["message"]
    assert "no named tokens" in run_headspace(daemon.home, "token", "list").stdout
    assert run_headspace(daemon.home, "token", "revoke", "grafana").returncode == 1


def test_events_name_the_token(daemon: RunningDaemon) -> None:
    """The log contains the name and the owner of the token."""
    made = run_headspace(daemon.home, "token", "create", "ann", "-s", "act", "--expires", "30d", "--json")
    assert json.loads(made.stdout)["details"]["owner"] == getpass.getuser()
    text = json.loads(made.stdout)["token"]
    agent = daemon.post("session-start", {"session_id": "s", "cwd": "/p"}).json()["agent"]
    bearer = {"Authorization": f"Bearer {text}"}
    assert daemon.send("POST", f"/api/agents/{agent}/rename", {"name": "login-fix"}, bearer).status == 200
    exported = daemon.get("/api/agents/login-fix/export").body.decode().splitlines()
    contexts = [json.loads(line).get("context", {}) for line in exported[1:-1]]
    assert contexts[-1] == {"actor": "ann"}


def test_invalid_tokens_are_rejected(daemon: RunningDaemon) -> None:
    """An unknown scope, no scope, a duplicate name, a past expiry."""
    assert run_headspace(daemon.home, "token", "create", "x", "--scope", "fly").returncode == 2
    assert run_headspace(daemon.home, "token", "create", "x").returncode == 2
    assert run_headspace(daemon.home, "token", "create", "x", "-s", "read", "--expires", "2020-01-01").returncode == 1
    assert run_headspace(daemon.home, "token", "create", "x", "-s", "read").returncode == 0
    again = run_headspace(daemon.home, "token", "create", "x", "-s", "read")
    assert again.returncode == 1
    assert "revoke x" in again.stderr


def test_an_invalid_expiry_is_explained(daemon: RunningDaemon) -> None:
    """The hint describes future times."""
    done = run_headspace(daemon.home, "token", "create", "x", "-s", "read", "--expires", "soon")
    assert done.returncode == 1
    assert "2h for in two hours" in done.stderr
    assert "ago" not in done.stderr


@pytest.mark.parametrize("scope", Scope)
def test_token_prints_one_line(tmp_path: Path, scope: Scope) -> None:
    """For every scope, and the same token each time."""
    done = run_headspace(tmp_path, "token", "--scope", scope.value)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"hs_{scope.value}_")
    assert done.stdout.count("\n") == 1
    assert run_headspace(tmp_path, "token", "--scope", scope.value).stdout == done.stdout
    assert stat.S_IMODE((tmp_path / "secret").stat().st_mode) == 0o600


def test_tokens_have_scopes(headspace: Headspace, tmp_path: Path) -> None:
    """The default is `read`; an unknown scope is an invalid command line."""
    assert headspace("token").stdout == headspace("token", "--scope", "read").stdout
    assert run_headspace(tmp_path, "token", "--scope", "everything").returncode == 2
