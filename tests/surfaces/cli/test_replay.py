"""The commands `replay`, `export` and `import FILE`."""

import json
from pathlib import Path
from typing import Any

from tests.support import RunningDaemon, running_daemon, wait_until
from tests.surfaces.cli.conftest import Headspace, run_headspace


def send_turns(daemon: RunningDaemon) -> str:
    """An agent that worked and asks; its name."""
    common: dict[str, Any] = {"session_id": "past", "cwd": "/projects/past"}
    daemon.post("session-start", common)
    daemon.post("user-prompt-submit", {**common, "prompt": "Fix the lexer"})
    reply = daemon.post("stop", {**common, "last_assistant_message": "Which lexer do you mean?"})
    return str(reply.json()["agent"])


def test_replay_lists_states(headspace: Headspace, names: dict[str, str]) -> None:
    """Each state with its time, duration and reason, below a bar."""
    done = headspace("replay", names["asks"])
    assert (done.returncode, done.stderr) == (0, "")
    assert names["asks"] in done.stdout
    assert "▬" in done.stdout
    assert "a prompt was submitted" in done.stdout
    moments = json.loads(headspace("replay", names["asks"], "--json").stdout)["moments"]
    assert [moment["state"] for moment in moments][:2] == ["idle", "working"]


def test_replay_at_a_time(daemon: RunningDaemon) -> None:
    """As text and as JSON; a time before the agent existed is an error."""
    name = send_turns(daemon)
    states = json.loads(run_headspace(daemon.home, "replay", name, "--json").stdout)["moments"]
    working = next(state for state in states if state["state"] == "working")
    events = daemon.events()
    prompt = next(event for event in events if event["name"] == "UserPromptSubmit")
    then = json.loads(run_headspace(daemon.home, "replay", name, "--at", prompt["received_at"], "--json").stdout)
    assert then["state"] == "working"
    assert then["state_since"] == working["at"]
    assert daemon.agent(name)["state"] == "waiting"
    shown = run_headspace(daemon.home, "replay", name, "--at", prompt["received_at"]).stdout
    assert shown.startswith("At 20")
    assert "Fix the lexer" in shown
    early = run_headspace(daemon.home, "replay", name, "--at", "3d")
    assert (early.returncode, early.stdout) == (1, "")
    assert "did not exist yet" in early.stderr
    for wrong in ("whenever", "", "2999-01-01"):
        done = run_headspace(daemon.home, "replay", name, "--at", wrong)
        assert (done.returncode, done.stdout) == (1, "")
        assert "`--at` is" in done.stderr


def test_invalid_times_are_rejected(daemon: RunningDaemon) -> None:
    """An empty time and a future time."""
    name = send_turns(daemon)
    for moment, code in (("", "bad_time"), ("2999-01-01", "still_to_come")):
        reply = daemon.get(f"/api/agents/{name}?at={moment}")
        assert (reply.status, reply.json()["error"]["code"]) == (400, code)


def test_files_are_never_overwritten(daemon: RunningDaemon, tmp_path: Path) -> None:
    """Exports and backups need a new file in an existing directory."""
    name, file = send_turns(daemon), tmp_path / "kept"
    file.write_text("mine")
    for command in (("export", name, "-o"), ("db", "backup")):
        done = run_headspace(daemon.home, *command, str(file))
        assert (done.returncode, done.stdout, file.read_text()) == (1, "", "mine")
        assert "already exists" in done.stderr
        done = run_headspace(daemon.home, *command, str(tmp_path / "nowhere" / "x"))
        assert (done.returncode, done.stdout) == (1, "")
        assert "does not exist" in done.stderr
        assert "mkdir" in done.stderr
    assert [each.name for each in tmp_path.iterdir() if each.is_file()] == ["kept"]


def test_a_log_is_imported_on_another_machine(daemon: RunningDaemon, tmp_path: Path) -> None:
    """States, commands and turns are the same, with the origin; a second import changes nothing."""
    name, file = send_turns(daemon), tmp_path / "log.jsonl"
    done = run_headspace(daemon.home, "export", name, "-o", str(file))
    assert "Wrote 3 events" in done.stdout
    assert file.stat().st_mode & 0o777 == 0o600
    assert run_headspace(daemon.home, "export", "past").stdout.splitlines()[1:-1] == file.read_text().splitlines()[1:-1]
    with running_daemon(tmp_path / "elsewhere", machine="elsewhere") as other:
        assert "3 events at most" in run_headspace(other.home, "import", str(file), "--dry-run").stdout
        assert other.agents() == []
        first = run_headspace(other.home, "import", str(file))
        assert "3 events" in first.stdout
        again = json.loads(run_headspace(other.home, "import", str(file), "--json").stdout)
        assert (again["events"], again["known"]) == (0, 3)
        here, there = daemon.agent(name), other.agent(name)
        assert (there["state"], there["end_reason"], there["imported_from"]) == ("ended", "imported", here["host"])
        for part in ("turns", "sessions"):
            path = f"/api/agents/{here['id']}/{part}"
            assert other.get(path).json() == daemon.get(path).json()
        assert "from" in run_headspace(other.home, "show", name).stdout
        assert other.verified()
        wait_until(lambda: other.get("/api/search?q=lexer").json()["hits"], "the words are found there too")


def test_invalid_logs_are_rejected(daemon: RunningDaemon, tmp_path: Path) -> None:
    """Another file, an incomplete log, a missing file."""
    (tmp_path / "other.jsonl").write_text('{"type": "user"}\n')
    name = send_turns(daemon)
    whole = run_headspace(daemon.home, "export", name).stdout
    (tmp_path / "cut.jsonl").write_text("".join(whole.splitlines(keepends=True)[:-1]))
    for file in ("other.jsonl", "cut.jsonl", "missing.jsonl"):
        done = run_headspace(daemon.home, "import", str(tmp_path / file))
        assert (done.returncode, done.stdout) == (1, "")
        assert file in done.stderr
        assert "headspace config" not in done.stderr
