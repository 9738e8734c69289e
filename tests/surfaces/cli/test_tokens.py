"""`token`: one for this machine's programs at once, and named ones for everybody else."""

import getpass
import json

from tests.support import RunningDaemon
from tests.surfaces.cli.conftest import run_headspace


def test_a_named_token_comes_and_goes(daemon: RunningDaemon) -> None:
    """Made, used, listed with its last use, revoked: good at once and refused at once."""
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


def test_who_renamed_an_agent_is_known(daemon: RunningDaemon) -> None:
    """The event says whose token it was."""
    made = run_headspace(daemon.home, "token", "create", "ann", "-s", "act", "--expires", "30d", "--json")
    assert json.loads(made.stdout)["details"]["owner"] == getpass.getuser()
    text = json.loads(made.stdout)["token"]
    agent = daemon.post("session-start", {"session_id": "s", "cwd": "/p"}).json()["agent"]
    bearer = {"Authorization": f"Bearer {text}"}
    assert daemon.send("POST", f"/api/agents/{agent}/rename", {"name": "login-fix"}, bearer).status == 200
    exported = daemon.get("/api/agents/login-fix/export").body.decode().splitlines()
    contexts = [json.loads(line).get("context", {}) for line in exported[1:-1]]
    assert contexts[-1] == {"actor": "ann"}


def test_a_token_that_cannot_be_is_refused(daemon: RunningDaemon) -> None:
    """A scope that does not exist, none at all, a name twice, a time that is over."""
    assert run_headspace(daemon.home, "token", "create", "x", "--scope", "fly").returncode == 2
    assert run_headspace(daemon.home, "token", "create", "x").returncode == 2
    assert run_headspace(daemon.home, "token", "create", "x", "-s", "read", "--expires", "2020-01-01").returncode == 1
    assert run_headspace(daemon.home, "token", "create", "x", "-s", "read").returncode == 0
    again = run_headspace(daemon.home, "token", "create", "x", "-s", "read")
    assert again.returncode == 1
    assert "revoke x" in again.stderr


def test_an_end_that_is_no_time_is_explained(daemon: RunningDaemon) -> None:
    """In words of the time to come."""
    done = run_headspace(daemon.home, "token", "create", "x", "-s", "read", "--expires", "soon")
    assert done.returncode == 1
    assert "2h for in two hours" in done.stderr
    assert "ago" not in done.stderr
