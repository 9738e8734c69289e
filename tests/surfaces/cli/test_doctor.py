"""`doctor`: it proves the whole way, and for everything that can break it says what to do."""

import json
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from claude_headspace.kernel.hooks import PROBE
from tests.support import AWAY, RunningDaemon, running_daemon, wait_until
from tests.surfaces.cli.conftest import run_headspace


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningDaemon]:
    """One daemon for all that only breaks the hooks."""
    with running_daemon(tmp_path_factory.mktemp("home")) as running:
        wait_until((running.home / "address").exists, "the daemon's sign")
        yield running


@pytest.fixture
def claude(shared: RunningDaemon, tmp_path: Path) -> Path:
    """A configuration directory whose hooks tell that daemon."""
    assert run_headspace(shared.home, "install", "--yes", "-c", str(tmp_path / ".claude")).returncode == 0
    return tmp_path / ".claude"


def examine(home: Path, *places: Path) -> tuple[int, dict[str, list[dict[str, Any]]]]:
    """The exit code, and the checks by their name."""
    options = [word for place in places for word in ("-c", str(place))]
    done = run_headspace(home, "doctor", "--json", *options)
    assert done.stderr == ""
    checks: dict[str, list[dict[str, Any]]] = {}
    for place in json.loads(done.stdout)["places"]:
        for check in place["checks"]:
            checks.setdefault(check["name"], []).append(check)
    return done.returncode, checks


def statuses(checks: dict[str, list[dict[str, Any]]]) -> set[str]:
    """All that occurs."""
    return {check["status"] for found in checks.values() for check in found}


def test_a_healthy_installation_passes(tmp_path: Path) -> None:
    """Settings, script, token, daemon, an event through the hook, clock and versions are all right."""
    with running_daemon(tmp_path):
        run_headspace(tmp_path, "install", "--yes")
        wait_until((tmp_path / "address").exists, "the daemon's sign")
        code, checks = examine(tmp_path)
        assert (code, statuses(checks)) == (0, {"ok"})
        assert checks.keys() == {
            "daemon",
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
        assert "All 12 checks passed." in done.stdout


def test_a_database_that_is_away_is_one_failure(tmp_path: Path) -> None:
    """Its reason stands once; what waits for it is named in one line, and nothing else is blamed."""
    with running_daemon(tmp_path, database=AWAY):
        run_headspace(tmp_path, "install", "--yes")
        wait_until((tmp_path / "address").exists, "the daemon's sign")
        code, checks = examine(tmp_path)
    assert code == 1
    assert [name for name, found in checks.items() if found[0]["status"] == "failed"] == ["journal"]
    assert "transcripts" in checks["waiting"][0]["detail"]
    assert "because the database is unavailable" in checks["event"][0]["detail"]


def test_its_event_is_in_the_journal_and_on_no_board(daemon: RunningDaemon) -> None:
    """The probe is stored like any event, belongs to nobody, and nothing on any surface changes by it."""
    run_headspace(daemon.home, "install", "--yes")
    wait_until((daemon.home / "address").exists, "the daemon's sign")
    before = daemon.status["agents"]
    examine(daemon.home)
    probes = [event for event in daemon.events() if event["name"] == PROBE]
    assert len(probes) == 2, "one asked, one told"
    assert {(event["agent_id"], event["correlation"]) for event in probes} == {("", "nobody")}
    assert daemon.get("/api/agents?all=true").json() == []
    assert daemon.status["agents"] == before
    assert daemon.verified()
    daemon.send("POST", "/api/admin/db/rebuild", scope="admin")
    assert daemon.agents() == []


def test_without_a_daemon_it_says_so(tmp_path: Path) -> None:
    """What can be checked is checked, and the missing daemon is the failure."""
    run_headspace(tmp_path, "install", "--yes")
    code, checks = examine(tmp_path)
    assert code == 1
    assert checks["daemon"][0]["status"] == "failed"
    assert "headspace up" in checks["daemon"][0]["hint"]
    assert checks["hooks"][0]["status"] == "ok"
    assert list((tmp_path / "spool").glob("*.json")) == []


def test_without_an_installation_it_says_so(tmp_path: Path) -> None:
    """The hint is the command that helps."""
    code, checks = examine(tmp_path)
    assert code == 1
    assert checks["settings"][0]["hint"] == "Run `headspace install`."


def settings_without(event: str) -> Callable[[Path], None]:
    """Takes an event out of the settings."""

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
    """All hooks off."""
    path = claude / "settings.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "disableAllHooks": True}))


def registered_twice(claude: Path) -> None:
    """The same hook a second time."""
    path = claude / "settings.json"
    settings = json.loads(path.read_text())
    settings["hooks"]["Stop"] *= 2
    path.write_text(json.dumps(settings))


def by_a_plugin(claude: Path) -> None:
    """A plugin that tells the same."""
    folder = claude / "plugins" / "cache" / "headspace" / "hooks"
    folder.mkdir(parents=True)
    (folder / "hooks.json").write_text('{"hooks": {"Stop": [{"hooks": [{"command": "x/notify-headspace.sh"}]}]}}')


def elsewhere(claude: Path) -> None:
    """Another Headspace's state."""
    link = claude / "hooks" / "notify-headspace.state"
    link.unlink()
    link.symlink_to("/elsewhere")


def new_token(claude: Path) -> None:
    """A token that is not ours."""
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
def test_what_is_broken_is_found_and_explained(shared: RunningDaemon, claude: Path, breakage: str) -> None:
    """Each failure is named, and one line says what to do."""
    do, name, hint = BREAKAGES[breakage]
    do(claude)
    code, checks = examine(shared.home, claude)
    assert code == 1
    failures = [check for check in checks[name] if check["status"] == "failed"]
    assert failures
    assert hint in failures[-1]["hint"]
    assert "\n" not in failures[-1]["hint"]


def test_a_plugin_beside_the_settings_is_mentioned(shared: RunningDaemon, claude: Path) -> None:
    """Nothing is told twice, since the plugin stays silent then; but one of the two is enough."""
    by_a_plugin(claude)
    code, checks = examine(shared.home, claude)
    assert code == 0
    assert [(check["status"], "sends nothing" in check["detail"]) for check in checks["twice"]] == [("warning", True)]


def test_a_plugin_alone_is_enough(shared: RunningDaemon, claude: Path) -> None:
    """The hooks need not be in the settings as well; the whole way is tried through the script of the daemon."""
    run_headspace(shared.home, "uninstall", "--yes", "-c", str(claude))
    by_a_plugin(claude)
    code, checks = examine(shared.home, claude)
    assert code == 0, checks
    assert checks["plugin"][0]["status"] == "ok"
    assert checks["event"][0]["status"] == "ok"


def test_an_event_that_never_arrives_is_noticed(shared: RunningDaemon, claude: Path) -> None:
    """A script that does nothing passes no check of the way."""
    script = claude / "hooks" / "notify-headspace.sh"
    script.write_text("#!/bin/bash\ncat >/dev/null\n")
    script.chmod(0o700)
    code, checks = examine(shared.home, claude)
    assert code == 1
    assert checks["event"][0]["detail"] == "sent through the hook script, but not received"


def test_http_hooks_have_their_blind_spots(shared: RunningDaemon, claude: Path) -> None:
    """Over HTTP everything works, and what it cannot do is said."""
    run_headspace(shared.home, "install", "--yes", "--transport", "http", "-c", str(claude))
    code, checks = examine(shared.home, claude)
    assert code == 0
    assert checks["transport"][0]["status"] == "warning"
    assert "while the daemon is down" in checks["transport"][0]["detail"]


def test_leftovers_are_remarked_upon(daemon: RunningDaemon) -> None:
    """Events that were set aside or lost are worth a remark."""
    run_headspace(daemon.home, "install", "--yes")
    spool = daemon.home / "spool"
    (spool / "rejected").mkdir()
    (spool / "rejected" / "1.json").touch()
    (spool / "lost").write_text("....")
    code, checks = examine(daemon.home)
    assert code == 0
    assert "1 event could not be parsed" in checks["set aside"][0]["detail"]
    assert "4 events lost" in checks["lost"][0]["detail"]


def test_a_spool_that_cannot_be_written_is_found(tmp_path: Path) -> None:
    """Where events would be lost, that is the failure."""
    run_headspace(tmp_path, "install", "--yes")
    (tmp_path / "spool").rmdir()
    (tmp_path / "spool").touch(0o400)
    code, checks = examine(tmp_path)
    assert code == 1
    assert checks["spool"][0]["status"] == "failed"


def test_a_session_that_tells_nothing_is_noticed(daemon: RunningDaemon) -> None:
    """A transcript that grows while no hook of its session arrives is pointed out; one that is old is not."""
    projects = daemon.home / ".claude" / "projects" / "-projects-shop"
    projects.mkdir(parents=True)
    for name in ("silent", "old", "heard"):
        (projects / f"{name}.jsonl").write_text('{"type": "summary"}\n')
    an_hour_ago = time.time() - 3600
    os.utime(projects / "old.jsonl", (an_hour_ago, an_hour_ago))
    daemon.post("session-start", {"session_id": "heard", "cwd": "/projects/shop"})
    _, checks = examine(daemon.home)
    assert [check["detail"].split()[1] for check in checks["silent"]] == ["silent"]


def test_several_directories_are_examined(shared: RunningDaemon, claude: Path) -> None:
    """Each one has its own list."""
    done = run_headspace(shared.home, "doctor", "--json", "-c", str(claude), "-c", "/nowhere")
    places = json.loads(done.stdout)["places"]
    assert [place["name"] for place in places] == ["Headspace", str(claude), "/nowhere"]
    assert done.returncode == 1
