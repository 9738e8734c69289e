"""The commands `effort` and `rpc`."""

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


def test_life_of_an_effort(daemon: RunningDaemon, tmp_path: Path) -> None:
    """Start, log from standard input, change the phase, show and finish; each prints one line."""
    root = tmp_path / "app"
    (root / ".git").mkdir(parents=True)
    inside = root / "src"
    inside.mkdir()
    assert run(daemon, root, "effort", "list")[1].startswith("There are no efforts in this directory.")
    assert run(daemon, inside, "effort", "start", "fix") == (0, f"fix #1 in {root}: started.\n", "")
    assert run(daemon, inside, "effort", "log", "-", typed="Found\nit.") == (0, f"fix #1 in {root}: logged.\n", "")
    run(daemon, root, "effort", "phase", "repair")
    _, listed, _ = run(daemon, root, "effort", "list")
    mark, skill, number, short_id, *rest = listed.splitlines()[1].split()
    assert [mark, skill, number, *rest[:3]] == ["●", "fix", "#1", "repair", "0/10", "1"]
    _, shown, _ = run(daemon, root, "effort", "show")
    assert "Found it." in shown
    assert run(daemon, tmp_path.parent, "effort", "show", short_id)[1] == shown
    found = json.loads(run(daemon, root, "effort", "show", "--json")[1])
    assert [each["kind"] for each in found["messages"]] == ["log", "phase"]
    assert "fix #1" in run(daemon, root, "effort", "open")[1]
    assert run(daemon, root, "effort", "finish", "Bye.")[1] == f"fix #1 in {root}: finished.\n"
    code, out, error = run(daemon, root, "effort", "log", "late")
    assert (code, out) == (1, "")
    assert "headspace effort start" in error


def test_the_list_is_about_the_directory(daemon: RunningDaemon, tmp_path: Path) -> None:
    """Only efforts of this directory are listed, below and above it; `--all` lists the others and finished ones."""
    for name in ("app", "lib"):
        (tmp_path / name / ".git").mkdir(parents=True)
        run(daemon, tmp_path / name, "effort", "start", f"fix-{name}")
    run(daemon, tmp_path / "lib", "effort", "finish")

    def listed(directory: Path, *options: str) -> list[str]:
        lines = run(daemon, directory, "effort", "list", *options)[1].splitlines()[1:]
        return [line.split()[1] for line in lines if line[:1] in "●–"]

    assert listed(tmp_path / "app") == listed(tmp_path) == ["fix-app"]
    assert listed(tmp_path / "lib") == []
    assert sorted(listed(tmp_path / "lib", "--all")) == ["fix-app", "fix-lib"]


def test_the_hint_names_the_option(daemon: RunningDaemon, tmp_path: Path) -> None:
    """Requirement: where no effort is found, the hint mentions `-e`."""
    assert "-e ID" in run(daemon, tmp_path, "effort", "log", "x")[2]


def test_rpc_prints_the_result_or_an_error(daemon: RunningDaemon, tmp_path: Path) -> None:
    """Arguments are JSON, also from standard input; the environment identifies the agent."""
    assert run(daemon, tmp_path, "rpc", "ping")[:2] == (0, '"pong"\n')
    given = json.dumps({"sessionId": "s", "cwd": str(tmp_path)})
    code, out, _ = run(daemon, tmp_path, "rpc", "hooks.userPrompt", "-", typed=given, TMUX_PANE="%9")
    assert (code, json.loads(out)["effortId"]) == (0, None)
    assert [agent["tmux"]["pane"] for agent in daemon.agents()] == ["%9"]
    code, _, error = run(daemon, tmp_path, "rpc", "nonsense")
    assert code == 1
    assert error.startswith("There is no command nonsense.\nCommands: ping, hooks.sessionStart")
    assert run(daemon, tmp_path, "rpc", "ping", "{")[0] == 1
    assert run(daemon, tmp_path, "effort", "set", "[]")[2].startswith("The metadata is not a JSON object.")


def test_effort_without_a_daemon(tmp_path: Path) -> None:
    """The exit code is 3."""
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
