"""The command `doctor`: it tests the path of an event, and has a hint for each failure."""

import json
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from claude_headspace.kernel.hooks import PROBE
from tests.clients.opencode.database import recorded_rows, write_database
from tests.support import AWAY, RunningDaemon, running_daemon, wait_until
from tests.surfaces.cli.conftest import run_headspace


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningDaemon]:
    """One daemon for all tests that only change the hooks."""
    with running_daemon(tmp_path_factory.mktemp("home")) as running:
        wait_until((running.home / "address").exists, "the daemon's sign")
        yield running


@pytest.fixture
def claude(shared: RunningDaemon, tmp_path: Path) -> Path:
    """A configuration directory with hooks for that daemon."""
    assert run_headspace(shared.home, "install", "--yes", "-c", str(tmp_path / ".claude")).returncode == 0
    return tmp_path / ".claude"


def examine(home: Path, *places: Path) -> tuple[int, dict[str, list[dict[str, Any]]]]:
    """The exit code, and the checks by name."""
    options = [word for place in places for word in ("-c", str(place))]
    done = run_headspace(home, "doctor", "--json", *options)
    assert done.stderr == ""
    checks: dict[str, list[dict[str, Any]]] = {}
    for place in json.loads(done.stdout)["places"]:
        for check in place["checks"]:
            checks.setdefault(check["name"], []).append(check)
    return done.returncode, checks


def statuses(checks: dict[str, list[dict[str, Any]]]) -> set[str]:
    """All statuses."""
    return {check["status"] for found in checks.values() for check in found}


def test_a_healthy_installation_passes(tmp_path: Path) -> None:
    """Settings, script, token, daemon, test event, clock and versions are ok."""
    with running_daemon(tmp_path):
        run_headspace(tmp_path, "install", "--yes")
        wait_until((tmp_path / "address").exists, "the daemon's sign")
        code, checks = examine(tmp_path)
        assert (code, statuses(checks)) == (0, {"ok"})
        assert checks.keys() == {
            "daemon",
            "reception",
            "spool",
            "bash",
            "settings",
            "hooks",
            "script",
            "conf",
            "token",
            "event",
            "clock",
            "transcripts",
            "notify",
        }
        done = run_headspace(tmp_path, "doctor")
        assert done.returncode == 0
        assert "All 13 checks passed." in done.stdout


def test_an_unavailable_database_is_one_failure(tmp_path: Path) -> None:
    """The reason appears once, and waiting components share one line."""
    with running_daemon(tmp_path, database=AWAY):
        run_headspace(tmp_path, "install", "--yes")
        wait_until((tmp_path / "address").exists, "the daemon's sign")
        code, checks = examine(tmp_path)
    assert code == 1
    assert [name for name, found in checks.items() if found[0]["status"] == "failed"] == ["journal"]
    assert "transcripts" in checks["waiting"][0]["detail"]
    assert "because the database is unavailable" in checks["event"][0]["detail"]


def test_the_test_event_is_stored_but_not_shown(daemon: RunningDaemon) -> None:
    """It belongs to no agent and changes no view."""
    run_headspace(daemon.home, "install", "--yes")
    wait_until((daemon.home / "address").exists, "the daemon's sign")
    before = daemon.status["agents"]
    examine(daemon.home)
    probes = [event for event in daemon.events() if event["name"] == PROBE]
    assert len(probes) == 2, "one asked, one reported"
    assert {(event["agent_id"], event["correlation"]) for event in probes} == {("", "nobody")}
    assert daemon.get("/api/agents?all=true").json() == []
    assert daemon.status["agents"] == before
    status = daemon.status
    assert (status["events_total"], status["events_since_start"], status["last_event_at"]) == (0, 0, None)
    assert daemon.verified()
    daemon.send("POST", "/api/admin/db/rebuild", scope="admin")
    assert daemon.agents() == []


def test_doctor_without_a_daemon(tmp_path: Path) -> None:
    """The missing daemon fails; other checks still run."""
    run_headspace(tmp_path, "install", "--yes")
    code, checks = examine(tmp_path)
    assert code == 1
    assert checks["daemon"][0]["status"] == "failed"
    assert "headspace up" in checks["daemon"][0]["hint"]
    assert checks["hooks"][0]["status"] == "ok"
    assert list((tmp_path / "spool").glob("*.json")) == []


def test_doctor_without_hooks(tmp_path: Path) -> None:
    """The hint is `headspace install`."""
    code, checks = examine(tmp_path)
    assert code == 1
    assert checks["settings"][0]["hint"] == "Run `headspace install`."


def settings_without(event: str) -> Callable[[Path], None]:
    """Removes an event from the settings."""

    def change(claude: Path) -> None:
        path = claude / "settings.json"
        settings = json.loads(path.read_text())
        del settings["hooks"][event]
        path.write_text(json.dumps(settings))

    return change


def too_new(claude: Path) -> None:
    """An event of a later version."""
    path = claude / "settings.json"
    settings = json.loads(path.read_text())
    settings["hooks"]["PreModelSwitch"] = settings["hooks"]["Stop"]
    path.write_text(json.dumps(settings))


def switched_off(claude: Path) -> None:
    """Disables all hooks."""
    path = claude / "settings.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "disableAllHooks": True}))


def registered_twice(claude: Path) -> None:
    """Registers the same hook twice."""
    path = claude / "settings.json"
    settings = json.loads(path.read_text())
    settings["hooks"]["Stop"] *= 2
    path.write_text(json.dumps(settings))


def by_a_plugin(claude: Path) -> None:
    """A plugin with the same hooks."""
    folder = claude / "plugins" / "cache" / "headspace" / "hooks"
    folder.mkdir(parents=True)
    (folder / "hooks.json").write_text('{"hooks": {"Stop": [{"hooks": [{"command": "x/notify-headspace.sh"}]}]}}')


def elsewhere(claude: Path) -> None:
    """The state directory of another Headspace."""
    link = claude / "hooks" / "notify-headspace.state"
    link.unlink()
    link.symlink_to("/elsewhere")


def new_token(claude: Path) -> None:
    """A token of another installation."""
    path = claude / "hooks" / "notify-headspace.conf"
    path.write_text(path.read_text().replace("hs_ingest_", "hs_ingest_0"))


BREAKAGES: dict[str, tuple[Callable[[Path], object], str, str]] = {
    "settings that are no JSON": (lambda claude: (claude / "settings.json").write_text("{"), "settings", "Fix"),
    "an event that is missing": (settings_without("Stop"), "hooks", "headspace install"),
    "events that the client does not know": (too_new, "hooks", "headspace install"),
    "hooks that are switched off": (switched_off, "hooks", "Remove it"),
    "a hook that is there twice": (registered_twice, "twice", "headspace install"),
    "a missing script": (lambda claude: (claude / "hooks/notify-headspace.sh").unlink(), "script", "headspace install"),
    "a script that cannot be run": (
        lambda claude: (claude / "hooks/notify-headspace.sh").chmod(0o600),
        "script",
        "chmod",
    ),
    "another version of the script": (
        lambda claude: (claude / "hooks/notify-headspace.sh").write_text("#!/bin/bash\nexit 0\n"),
        "script",
        "headspace install",
    ),
    "a missing conf": (lambda claude: (claude / "hooks/notify-headspace.conf").unlink(), "conf", "headspace install"),
    "a conf that others can read": (
        lambda claude: (claude / "hooks/notify-headspace.conf").chmod(0o644),
        "conf",
        "chmod 600",
    ),
    "a missing link": (lambda claude: (claude / "hooks/notify-headspace.state").unlink(), "link", "headspace install"),
    "a link to another Headspace": (elsewhere, "link", "headspace install"),
    "a token that is not ours": (new_token, "token", "headspace install"),
}


@pytest.mark.parametrize("breakage", BREAKAGES)
def test_each_problem_is_found(shared: RunningDaemon, claude: Path, breakage: str) -> None:
    """The failed check has a hint. Without the record of the installation the daemon does not repair it first."""
    do, name, hint = BREAKAGES[breakage]
    (claude / "hooks" / "notify-headspace.installed").unlink()
    do(claude)
    code, checks = examine(shared.home, claude)
    assert code == 1
    failures = [check for check in checks[name] if check["status"] == "failed"]
    assert failures
    assert hint in failures[-1]["hint"]
    assert "\n" not in failures[-1]["hint"]


def test_plugin_and_hooks_in_settings(shared: RunningDaemon, claude: Path) -> None:
    """A warning: the plugin sends nothing, and one of the two is enough."""
    by_a_plugin(claude)
    code, checks = examine(shared.home, claude)
    assert code == 0
    assert [(check["status"], "sends nothing" in check["detail"]) for check in checks["twice"]] == [("warning", True)]


def test_a_plugin_alone_is_enough(shared: RunningDaemon, claude: Path) -> None:
    """The test event goes through the script in the state directory."""
    run_headspace(shared.home, "uninstall", "--yes", "-c", str(claude))
    by_a_plugin(claude)
    code, checks = examine(shared.home, claude)
    assert code == 0, checks
    assert checks["plugin"][0]["status"] == "ok"
    assert checks["event"][0]["status"] == "ok"


def test_a_missing_test_event_is_a_failure(shared: RunningDaemon, claude: Path) -> None:
    """A script that does nothing does not pass."""
    script = claude / "hooks" / "notify-headspace.sh"
    script.write_text("#!/bin/bash\ncat >/dev/null\n")
    script.chmod(0o700)
    code, checks = examine(shared.home, claude)
    assert code == 1
    assert checks["event"][0]["detail"] == "sent through the hook script, but not received"


def test_http_hooks_are_a_warning(shared: RunningDaemon, claude: Path) -> None:
    """They work, and the warning says what they cannot do."""
    run_headspace(shared.home, "install", "--yes", "--transport", "http", "-c", str(claude))
    code, checks = examine(shared.home, claude)
    assert code == 0
    assert checks["transport"][0]["status"] == "warning"
    assert "while the daemon is down" in checks["transport"][0]["detail"]


def test_rejected_and_lost_events_are_warnings(daemon: RunningDaemon) -> None:
    """With their number."""
    run_headspace(daemon.home, "install", "--yes")
    spool = daemon.home / "spool"
    (spool / "rejected").mkdir()
    (spool / "rejected" / "1.json").touch()
    (spool / "lost").write_text("....")
    code, checks = examine(daemon.home)
    assert code == 0
    assert "1 event of Claude Code could not be parsed" in checks["rejected"][0]["detail"]
    assert "4 events lost" in checks["lost"][0]["detail"]


def test_a_read_only_spool_is_a_failure(tmp_path: Path) -> None:
    """Events would be lost."""
    run_headspace(tmp_path, "install", "--yes")
    (tmp_path / "spool").rmdir()
    (tmp_path / "spool").touch(0o400)
    code, checks = examine(tmp_path)
    assert code == 1
    assert checks["spool"][0]["status"] == "failed"


def test_a_session_without_hooks_is_a_warning(daemon: RunningDaemon) -> None:
    """Its transcript grows while no hook arrives. Old transcripts, and sessions before `/clear`, do not count."""
    projects = daemon.home / ".claude" / "projects" / "-projects-shop"
    projects.mkdir(parents=True)
    for name in ("silent", "old", "heard", "replaced"):
        (projects / f"{name}.jsonl").write_text('{"type": "summary"}\n')
    an_hour_ago = time.time() - 3600
    os.utime(projects / "old.jsonl", (an_hour_ago, an_hour_ago))
    daemon.post("session-start", {"session_id": "heard", "cwd": "/projects/shop"})
    pane = {"cwd": "/projects/other", "tmux_pane": "%7"}
    daemon.post("session-start", {"session_id": "replaced", **pane})
    daemon.post("session-end", {"session_id": "replaced", "reason": "clear", **pane})
    daemon.post("session-start", {"session_id": "new", "source": "clear", **pane})
    _, checks = examine(daemon.home)
    assert [check["detail"].split()[1] for check in checks["silent"]] == ["silent"]


def test_several_config_dirs_are_checked(shared: RunningDaemon, claude: Path) -> None:
    """Each has its own checks."""
    done = run_headspace(shared.home, "doctor", "--json", "-c", str(claude), "-c", "/nowhere")
    places = json.loads(done.stdout)["places"]
    assert [place["name"] for place in places] == ["Headspace", str(claude), "/nowhere"]
    assert done.returncode == 1


def test_sessions_in_a_database_are_counted(shared: RunningDaemon, tmp_path: Path) -> None:
    """opencode writes no transcripts: its database has the sessions."""
    data = tmp_path / "data"
    place = ("--client", "opencode", "-c", str(tmp_path / "opencode"))
    assert run_headspace(shared.home, "install", "--yes", *place).returncode == 0

    def sessions() -> str:
        done = run_headspace(shared.home, "doctor", "--json", *place, XDG_DATA_HOME=str(data))
        [found] = [each for each in json.loads(done.stdout)["places"] if "opencode" in str(each.get("path", each))]
        [check] = [each for each in found["checks"] if each["name"] == "sessions"]
        return str(check["detail"])

    assert sessions() == "no database yet"
    write_database(data / "opencode" / "opencode.db", recorded_rows())
    assert sessions() == f"1 session in {data / 'opencode' / 'opencode.db'}"
