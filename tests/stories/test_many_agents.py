"""Many agents at the same time: no agents are confused, no event is refused, and no message is lost."""

import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.stories.many_agents import run_many_agents
from tests.support import running_daemon


def test_fifty_concurrent_starts_of_one_session_make_one_agent(tmp_path: Path) -> None:
    """The first request creates the agent. All others find it."""
    with running_daemon(tmp_path) as daemon:
        together = threading.Barrier(50)

        def start(_number: int) -> tuple[int, dict[str, Any]]:
            with daemon.client() as client:
                together.wait()
                reply = client.post("session-start", {"session_id": "one", "cwd": "/projects/one"})
                return reply.status, reply.json()

        with ThreadPoolExecutor(50) as pool:
            answers = list(pool.map(start, range(50)))
        assert Counter(status for status, _ in answers) == {200: 50}
        assert len({answer["agent_id"] for _, answer in answers}) == 1
        assert Counter(answer["correlation"] for _, answer in answers) == {"new": 1, "memory": 49}
        assert len(daemon.agents()) == 1
        assert daemon.status["events_total"] == 50
        assert daemon.verified()


def test_a_thousand_agents_at_once(tmp_path: Path) -> None:
    """A thousand sessions over 32 connections, each a complete turn. Each ends in its expected state."""
    with running_daemon(tmp_path) as daemon:
        run_many_agents([daemon], 1_000)


@pytest.mark.full
def test_five_thousand_agents_at_once(tmp_path: Path) -> None:
    """The same with five thousand, more than the agent cache holds."""
    with running_daemon(tmp_path) as daemon:
        run_many_agents([daemon], 5_000)
