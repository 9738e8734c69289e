"""Runs commands in a separate process, against a real daemon with a realistic board."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support import LIMIT_SECONDS, RunningDaemon, environment, running_daemon

Headspace = Callable[..., "subprocess.CompletedProcess[str]"]

HOSTILE = "\x1b[31mred\x1b[0m \x1b]0;owned\x07 \x9b2J [red]markup[/red] \u202edetsrever 日本語"
"""What a prompt, a file name or a branch may bring along."""

BOARD: tuple[tuple[str, dict[str, Any]], ...] = (
    ("session-start", {"session_id": "asks", "cwd": "/projects/shop", "source": "startup"}),
    ("user-prompt-submit", {"session_id": "asks", "cwd": "/projects/shop", "prompt": "Add a test for expired cards."}),
    (
        "pre-tool-use",
        {
            "session_id": "asks",
            "cwd": "/projects/shop",
            "tool_name": "AskUserQuestion",
            "tool_use_id": "question",
            "tool_input": {
                "questions": [
                    {
                        "question": "Which database should the tests use?",
                        "header": "Database",
                        "options": [
                            {"label": "SQLite", "description": "Fast"},
                            {"label": "PostgreSQL", "description": "Like production"},
                        ],
                    }
                ]
            },
        },
    ),
    ("session-start", {"session_id": "runs", "cwd": "/projects/api"}),
    ("user-prompt-submit", {"session_id": "runs", "cwd": "/projects/api", "prompt": "Run the tests."}),
    (
        "pre-tool-use",
        {
            "session_id": "runs",
            "cwd": "/projects/api",
            "tool_name": "Bash",
            "tool_use_id": "tests",
            "tool_input": {"command": "npm test"},
        },
    ),
    ("session-start", {"session_id": "done", "cwd": "/projects/docs"}),
    ("user-prompt-submit", {"session_id": "done", "cwd": "/projects/docs", "prompt": "Check all links."}),
    ("stop", {"session_id": "done", "cwd": "/projects/docs", "last_assistant_message": "All 214 links work."}),
    ("session-start", {"session_id": "fails", "cwd": "/projects/infra"}),
    ("user-prompt-submit", {"session_id": "fails", "cwd": "/projects/infra", "prompt": "Tidy up."}),
    ("stop-failure", {"session_id": "fails", "cwd": "/projects/infra", "error": "rate_limit"}),
    ("session-start", {"session_id": "hostile", "cwd": "/projects/evil"}),
    ("user-prompt-submit", {"session_id": "hostile", "cwd": "/projects/evil", "prompt": HOSTILE}),
    (
        "pre-tool-use",
        {
            "session_id": "hostile",
            "cwd": f"/projects/{HOSTILE}",
            "tool_name": HOSTILE,
            "tool_use_id": "hostile",
            "tool_input": {"command": HOSTILE},
        },
    ),
)
"""Five agents: one asks, one runs a command, one is done, one has failed, one is hostile."""


def run_headspace(
    home: Path, *arguments: str, standard_input: str = "", **variables: str
) -> "subprocess.CompletedProcess[str]":
    """Run a command in a home, with a pipe as output."""
    return subprocess.run(
        [sys.executable, "-m", "claude_headspace", *arguments],
        env={**environment(home), "TZ": "UTC", **variables},
        input=standard_input,
        capture_output=True,
        encoding="utf-8",
        timeout=LIMIT_SECONDS,
        check=False,
    )


def send_board(daemon: RunningDaemon) -> dict[str, str]:
    """Send the board; returns the names of the agents by session."""
    ids = {}
    for event, payload in BOARD:
        reply = daemon.post(event, payload)
        assert reply.status == 200, reply.body
        ids[payload["session_id"]] = reply.json()["agent_id"]
    return {session: daemon.agent(agent_id)["name"] for session, agent_id in ids.items()}


@pytest.fixture(scope="module")
def board(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[RunningDaemon, dict[str, str]]]:
    """A daemon with the board, shared by tests that only read, and the names of its agents by session."""
    with running_daemon(tmp_path_factory.mktemp("board")) as daemon:
        yield daemon, send_board(daemon)


@pytest.fixture
def names(board: tuple[RunningDaemon, dict[str, str]]) -> dict[str, str]:
    """The names of the agents by session."""
    return board[1]


@pytest.fixture
def headspace(board: tuple[RunningDaemon, dict[str, str]]) -> Headspace:
    """Runs a command with the daemon of the board."""
    return lambda *arguments, **variables: run_headspace(board[0].home, *arguments, **variables)


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[RunningDaemon]:
    """A daemon without events, for one test."""
    with running_daemon(tmp_path / "home") as running:
        yield running
