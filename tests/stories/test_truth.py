"""States are right without hooks: after Esc, after a killed client, and after the daemon was down."""

import json
import subprocess
import sys
from pathlib import Path

from tests.inputs.watched_config_dir import WatchedConfigDir, closed, interrupt, prompt, reply
from tests.support import RunningDaemon, environment, running_daemon, wait_until

CLIENT = [sys.executable, "-c", "import time; time.sleep(600)"]


def state(daemon: RunningDaemon, agent_id: str) -> str:
    """The shown state."""
    return str(daemon.agent(agent_id)["state"])


def only_agent(daemon: RunningDaemon) -> dict[str, object]:
    """Wait for the only agent on the board."""
    return wait_until(lambda: (daemon.agents() or [{}])[0], "an agent")


def test_esc_is_detected(tmp_path: Path) -> None:
    """A hook reports the prompt, only the client's files show the interrupt, and the evidence explains it."""
    files = WatchedConfigDir(tmp_path)
    with running_daemon(tmp_path) as daemon:
        agent = daemon.post("user-prompt-submit", {"session_id": "s1", "cwd": "/tmp", "prompt": "Fix it"}).json()
        session = files.session("s1")
        session.write(prompt("Fix it"))
        session.write(interrupt())
        wait_until(lambda: state(daemon, agent["agent_id"]) == "idle", "the interrupt")
        evidence = daemon.get(f"/api/agents/{agent['agent_id']}/evidence").json()[-1]
        assert (evidence["source"], evidence["confidence"]) == ("transcript", "medium")
        assert "interrupted by the user" in evidence["why"]
        assert daemon.verified()


def test_a_config_dir_is_read_after_its_hooks_are_installed(tmp_path: Path) -> None:
    """The running daemon finds the new directory by itself."""
    other = tmp_path / "other"
    files = WatchedConfigDir(other)
    with running_daemon(tmp_path) as daemon:
        agent = daemon.post("user-prompt-submit", {"session_id": "s1", "cwd": "/tmp", "prompt": "Fix it"}).json()
        install = [sys.executable, "-m", "claude_headspace", "install", "--yes", "--config-dir", str(files.config_dir)]
        subprocess.run(install, env=environment(tmp_path), capture_output=True, check=True)
        session = files.session("s1")
        session.write(prompt("Fix it"))
        session.write(interrupt())
        wait_until(lambda: state(daemon, agent["agent_id"]) == "idle", "the interrupt")


def test_a_session_without_a_daemon_is_shown_afterwards(tmp_path: Path) -> None:
    """State, command and turns are the same as with a running daemon."""
    files = WatchedConfigDir(tmp_path)
    with running_daemon(tmp_path):
        pass  # from now on Headspace knows this config dir
    files.session("s1").write(prompt("Fix it", 60), reply("Shall I delete the old files?", 50), closed(49))
    with running_daemon(tmp_path) as daemon:
        agent = only_agent(daemon)
        wait_until(lambda: state(daemon, str(agent["id"])) == "waiting", "the question")
        turns = daemon.get(f"/api/agents/{agent['id']}/turns").json()
        assert [(turn["actor"], turn["intent"], turn["timestamp_source"]) for turn in turns] == [
            ("USER", "COMMAND", "jsonl"),
            ("AGENT", "QUESTION", "jsonl"),
        ]
        assert daemon.verified()


def test_a_killed_client_is_detected(tmp_path: Path) -> None:
    """The registry entry remains but the process has ended. Within a few seconds the agent is shown as ended."""
    files = WatchedConfigDir(tmp_path)
    with running_daemon(tmp_path) as daemon, subprocess.Popen(CLIENT) as client:
        files.register("s1", "busy", pid=client.pid)
        agent = only_agent(daemon)
        assert (agent["state"], agent["pid"]) == ("working", client.pid)
        client.kill()
        wait_until(lambda: state(daemon, str(agent["id"])) == "ended", "the end")


def test_health_has_every_source(tmp_path: Path) -> None:
    """Each source has a status."""
    with running_daemon(tmp_path) as daemon:
        parts = daemon.get("/health", scope=None).json()["parts"]
        assert {"registry", "transcripts", "processes", "reconciler"} <= set(parts)
        assert {part["status"] for part in parts.values()} == {"ok"}


def test_earlier_sessions_are_imported(tmp_path: Path) -> None:
    """`headspace import` imports earlier transcripts and reports them. A second run imports nothing."""
    files = WatchedConfigDir(tmp_path)
    for name in ("s1", "s2"):
        session = files.session(name)
        session.write(prompt(f"Fix {name}", 9_000), reply("I fixed it.", 8_900), closed(8_899))
        session.path.touch()

    def headspace(*arguments: str) -> str:
        command = [sys.executable, "-m", "claude_headspace", *arguments]
        return subprocess.run(command, env=environment(tmp_path), capture_output=True, text=True, check=True).stdout

    with running_daemon(tmp_path) as daemon:
        planned = json.loads(headspace("import", "--dry-run", "--json"))
        assert (planned["files"], planned["events"]) == (2, 0)
        assert "Imported 2 transcripts" in headspace("import")
        assert "already" in headspace("import")
        agents = daemon.get("/api/agents?all=true").json()
        assert [(agent["state"], agent["command"]["outcome"]) for agent in agents] == [("ended", "completed")] * 2
        assert daemon.verified()
