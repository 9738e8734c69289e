"""`headspace effort`, `rpc` and `fleet`, run as users and agents run them."""

import json
import subprocess
import sys
from pathlib import Path

from tests.support import LIMIT_SECONDS, RunningDaemon, environment


def run(daemon: RunningDaemon, root: Path, *arguments: str, typed: str = "", **env: str) -> tuple[int, str, str]:
    """Run a command in a directory: its exit code, what it printed, what it complained about."""
    done = subprocess.run(
        [sys.executable, "-m", "claude_headspace", *arguments],
        env={**environment(daemon.home), **env},
        cwd=root,
        input=typed,
        capture_output=True,
        encoding="utf-8",
        timeout=LIMIT_SECONDS,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


def test_an_effort_from_its_beginning_to_its_end(daemon: RunningDaemon, tmp_path: Path) -> None:
    """Begun, logged from standard input, moved on, shown, finished: each says so in one line."""
    root = tmp_path / "app"
    (root / ".git").mkdir(parents=True)
    inside = root / "src"
    inside.mkdir()
    assert run(daemon, root, "effort", "list")[1].startswith("There are no efforts.")
    assert run(daemon, inside, "effort", "start", "fix") == (0, f"fix #1 in {root}: started.\n", "")
    assert run(daemon, inside, "effort", "log", "-", typed="Found\nit.") == (0, f"fix #1 in {root}: logged.\n", "")
    run(daemon, root, "effort", "phase", "repair")
    _, listed, _ = run(daemon, root, "effort", "list")
    assert listed.splitlines()[1].split()[:6] == ["●", "fix", "#1", "repair", "0/10", "1"]
    _, shown, _ = run(daemon, root, "effort", "show")
    assert "Found it." in shown
    found = json.loads(run(daemon, root, "effort", "show", "--json")[1])
    assert [each["kind"] for each in found["messages"]] == ["log", "phase"]
    assert "fix #1" in run(daemon, root, "effort", "open")[1]
    assert run(daemon, root, "effort", "finish", "Bye.")[1] == f"fix #1 in {root}: finished.\n"
    code, out, error = run(daemon, root, "effort", "log", "late")
    assert (code, out) == (1, "")
    assert "headspace effort start" in error


def test_rpc_prints_the_result_or_says_what_is_wrong(daemon: RunningDaemon, tmp_path: Path) -> None:
    """JSON in and out, also from standard input; who asks comes from the environment."""
    assert run(daemon, tmp_path, "rpc", "ping")[:2] == (0, '"pong"\n')
    told = json.dumps({"sessionId": "s", "cwd": str(tmp_path)})
    code, out, _ = run(daemon, tmp_path, "rpc", "hooks.userPrompt", "-", typed=told, TMUX_PANE="%9")
    assert (code, json.loads(out)["effortId"]) == (0, None)
    assert [agent["tmux"]["pane"] for agent in daemon.agents()] == ["%9"]
    code, _, error = run(daemon, tmp_path, "rpc", "nonsense")
    assert code == 1
    assert error.startswith("There is no command nonsense.\nCommands: ping, hooks.sessionStart")
    assert run(daemon, tmp_path, "rpc", "ping", "{")[0] == 1
    assert run(daemon, tmp_path, "effort", "set", "[]")[2].startswith("The metadata is not a JSON object.")


def test_without_a_daemon_it_is_said_how_to_start_one(tmp_path: Path) -> None:
    """Exit code 3, as of every command that needs one."""
    done = subprocess.run(
        [sys.executable, "-m", "claude_headspace", "effort", "list"],
        env=environment(tmp_path),
        capture_output=True,
        encoding="utf-8",
        timeout=LIMIT_SECONDS,
        check=False,
    )
    assert done.returncode == 3
    assert "headspace up" in done.stderr
