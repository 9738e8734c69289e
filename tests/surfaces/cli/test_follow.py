"""The commands `tail` and `logs`."""

import json
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import pytest

from claude_headspace.kernel.text import count
from tests.support import LIMIT_SECONDS, RunningDaemon, environment, running_daemon, wait_until
from tests.surfaces.cli.conftest import HOSTILE, Headspace, run_headspace, send_board

SHOP = {"session_id": "one", "cwd": "/projects/shop"}


class Follower:
    """A command that runs until it is ended; its lines are collected."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self.process = process
        self.lines: list[str] = []
        self.errors: list[str] = []
        self._threads = [
            threading.Thread(target=self._collect, args=(stream, lines), daemon=True)
            for stream, lines in ((process.stdout, self.lines), (process.stderr, self.errors))
        ]
        for thread in self._threads:
            thread.start()

    @staticmethod
    def _collect(stream: "IO[str]", lines: list[str]) -> None:
        lines.extend(line.rstrip("\n") for line in stream)

    def wait_for(self, text: str) -> str:
        """Wait for the first line with this text."""
        return wait_until(lambda: next((line for line in list(self.lines) if text in line), ""), text)

    def end(self) -> int:
        """Press Ctrl+C; returns the exit code."""
        self.process.send_signal(signal.SIGINT)
        code = self.process.wait(LIMIT_SECONDS)
        for thread in self._threads:
            thread.join(LIMIT_SECONDS)
        return code


@contextmanager
def following(home: Path, *arguments: str) -> Iterator[Follower]:
    """Runs a command that follows, and ends it afterwards."""
    process = subprocess.Popen(
        [sys.executable, "-m", "claude_headspace", *arguments],
        env={**environment(home), "TZ": "UTC"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )
    try:
        yield Follower(process)
    finally:
        process.kill()
        process.wait(LIMIT_SECONDS)
        for stream in (process.stdout, process.stderr):
            if stream is not None:
                stream.close()


def wait_for_readers(daemon: RunningDaemon, number: int = 1) -> None:
    """Wait until this many commands read the stream."""
    wait_until(
        lambda: daemon.get("/health", scope=None).json()["parts"]["stream"]["detail"] == count(number, "reader"),
        "a reader of the stream",
    )


def test_tail_prints_one_line_per_event(daemon: RunningDaemon) -> None:
    """With time, symbol, name and text; Ctrl+C ends it without output."""
    with following(daemon.home, "tail") as tail:
        wait_for_readers(daemon)
        daemon.post("session-start", SHOP)
        daemon.post("user-prompt-submit", {**SHOP, "prompt": "Fix the login."})
        daemon.post("pre-tool-use", {**SHOP, "tool_name": "Bash", "tool_input": {"command": "npm test"}})
        daemon.post("stop", {**SHOP, "last_assistant_message": "It works."})
        tail.wait_for("reply: It works.")
        name = daemon.agents()[0]["name"]
        assert tail.end() == 0
    assert tail.errors == []
    assert [line.split(" ", 1)[1] for line in tail.lines] == [
        f"○ {name} appeared in shop",
        f"● {name} working: Fix the login.",
        f"● {name} prompt: Fix the login.",
        f"● {name} Bash: npm test",
        f"○ {name} done",
        f"○ {name} reply: It works.",
    ]
    assert all(len(line.split(" ", 1)[0]) == len("12:03:04") for line in tail.lines)


def test_tail_in_json(daemon: RunningDaemon) -> None:
    """One object per line, with number, type and data."""
    with following(daemon.home, "tail", "--json") as tail:
        wait_for_readers(daemon)
        daemon.post("session-start", SHOP)
        daemon.post("user-prompt-submit", {**SHOP, "prompt": HOSTILE})
        tail.wait_for("turn_created")
        tail.end()
    messages = [json.loads(line) for line in tail.lines]
    assert all(set(message) == {"id", "type", "data"} for message in messages)
    assert [message["type"] for message in messages] == ["agent_created", "state_changed", "turn_created"]
    assert [message["id"] for message in messages] == sorted(message["id"] for message in messages)
    assert messages[-1]["data"]["text"] == HOSTILE
    assert "\x1b" not in "".join(tail.lines)


def test_tail_can_be_filtered(daemon: RunningDaemon) -> None:
    """By agent and by type."""
    names = send_board(daemon)
    with following(daemon.home, "tail", names["done"], "--types", "turn_created") as tail:
        wait_for_readers(daemon)
        daemon.post("user-prompt-submit", {"session_id": "runs", "cwd": "/projects/api", "prompt": "Not this."})
        daemon.post("user-prompt-submit", {"session_id": "done", "cwd": "/projects/docs", "prompt": "But this."})
        tail.wait_for("But this.")
        tail.end()
    assert len(tail.lines) == 1


def test_tail_after_an_event_number(daemon: RunningDaemon) -> None:
    """`--after 0` starts with all stored events."""
    names = send_board(daemon)
    with following(daemon.home, "tail", "--after", "0") as tail:
        tail.wait_for(f"● {names['runs']} Bash: npm test")
        tail.wait_for(f"◆ {names['asks']} asks: Which database")
        tail.wait_for("markup")
        tail.end()
    assert "\x1b" not in "".join(tail.lines)
    assert f"○ {names['asks']} appeared in shop" in tail.lines[0]
    assert f"● {names['asks']} working: Add a test for expired cards." in tail.lines[1]


def test_tail_continues_after_a_restart(tmp_path: Path) -> None:
    """No event is missing or repeated, and the interruption is reported once."""
    with running_daemon(tmp_path) as first, following(tmp_path, "tail", "--json", "--types", "turn_created") as tail:
        wait_for_readers(first)
        first.post("session-start", SHOP)
        first.post("user-prompt-submit", {**SHOP, "prompt": "Before."})
        tail.wait_for("Before.")
        first.stop()
        wait_until(lambda: tail.errors, "word of the pause")
        with running_daemon(tmp_path) as second:
            second.post("user-prompt-submit", {**SHOP, "prompt": "After."})
            tail.wait_for("After.")
            assert tail.end() == 0
    assert [json.loads(line)["data"]["text"] for line in tail.lines] == ["Before.", "After."]
    assert tail.errors == [
        "The connection to the daemon was lost; waiting for it (Ctrl+C ends).",
        "Reconnected to the daemon.",
    ]


def test_an_unknown_event_type_is_rejected(headspace: Headspace) -> None:
    """The error lists the types."""
    done = headspace("tail", "--types", "sunrise")
    assert done.returncode == 1
    assert "There is no stream event sunrise." in done.stderr
    assert "state_changed" in done.stderr


# --- logs ---


def test_logs_as_text_and_json(headspace: Headspace, board: tuple[RunningDaemon, dict[str, str]]) -> None:
    """Text by default, the raw lines with --json."""
    daemon = board[0]
    text, raw = headspace("logs"), headspace("logs", "--json")
    assert (text.returncode, raw.returncode) == (0, 0)
    said = f"listening  url={daemon.url} database={daemon.home / 'headspace.db'}"
    assert any(line.endswith(said) for line in text.stdout.splitlines())
    entries = [json.loads(line) for line in raw.stdout.splitlines()]
    assert {"event", "level", "timestamp"} <= set(entries[0])
    assert len(headspace("logs", "--last", "2").stdout.splitlines()) == 2


def test_a_missing_log_is_not_an_error(tmp_path: Path) -> None:
    """The output says that the daemon has not run."""
    done = run_headspace(tmp_path, "logs")
    assert (done.returncode, done.stdout) == (0, "")
    assert "no log yet" in done.stderr


@pytest.mark.parametrize("as_json", [[], ["--json"]])
def test_control_sequences_in_the_log_are_removed(tmp_path: Path, as_json: list[str]) -> None:
    """The terminal gets plain text."""
    entry = {"event": HOSTILE, "level": "error", "timestamp": "2026-01-01T00:00:00Z", "exception": f"one\n{HOSTILE}"}
    lines = [json.dumps(entry), HOSTILE, "[1, 2]", "{}", "null"]
    (tmp_path / "headspace.log").write_text("\n".join(lines) + "\n")
    done = run_headspace(tmp_path, "logs", *as_json)
    assert done.returncode == 0
    assert "\x1b" not in done.stdout
    assert "\x9b" not in done.stdout


def test_logs_follow_a_rotation(tmp_path: Path) -> None:
    """New lines are printed also after the file was replaced."""
    log = tmp_path / "headspace.log"
    log.write_text('{"event": "old"}\n')
    with following(tmp_path, "logs", "--follow") as logs:
        logs.wait_for("old")
        with log.open("a") as file:
            file.write('{"event": "new"}\n')
        logs.wait_for("new")
        log.rename(tmp_path / "headspace.log.1")
        log.write_text('{"event": "rotated"}\n')
        logs.wait_for("rotated")
        assert logs.end() == 0
    assert logs.errors == []
    assert len(logs.lines) == 3
