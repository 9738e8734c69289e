"""Many at once: nobody is mixed up with anybody, nothing is refused, nothing is lost on the way to the stream."""

import contextlib
import random
import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.support import Client, Message, RunningDaemon, Stream, running_daemon, wait_until

CONNECTIONS = 32

Step = tuple[str, dict[str, object]]

BASH: dict[str, object] = {"tool_name": "Bash", "tool_input": {"command": "make test"}}
ASK: dict[str, object] = {
    "tool_name": "AskUserQuestion",
    "tool_use_id": "ask",
    "tool_input": {"questions": [{"question": "Left or right?", "options": [{"label": "Left"}, {"label": "Right"}]}]},
}

BEGIN: list[Step] = [
    ("session-start", {"source": "startup"}),
    ("user-prompt-submit", {"prompt": "Run the tests."}),
    ("pre-tool-use", {**BASH, "tool_use_id": "call"}),
    ("post-tool-use", {**BASH, "tool_use_id": "call"}),
]
ENDINGS: dict[tuple[str, str | None], list[Step]] = {
    ("idle", None): [("stop", {"last_assistant_message": "I ran the tests and fixed the one that failed."})],
    ("waiting", "question"): [("pre-tool-use", ASK)],
    ("waiting", "permission"): [
        ("pre-tool-use", {**BASH, "tool_use_id": "next"}),
        ("permission-request", BASH),
    ],
    ("error", None): [("stop-failure", {"error": "overloaded"})],
    ("ended", None): [
        ("stop", {"last_assistant_message": "I ran the tests and fixed the one that failed."}),
        ("session-end", {"reason": "prompt_input_exit"}),
    ],
    ("working", None): [("pre-tool-use", {**BASH, "tool_use_id": "next"})],
}
"""How a turn may go on, and the state that it leaves."""


def test_fifty_concurrent_starts_of_one_session_make_one_agent(tmp_path: Path) -> None:
    """Whoever comes first makes the agent; everybody else finds it."""
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
    """A thousand sessions over 32 connections, each a whole turn: every one ends in its own state."""
    with running_daemon(tmp_path) as daemon:
        crowd(daemon, 1_000)


@pytest.mark.full
def test_five_thousand_agents_at_once(tmp_path: Path) -> None:
    """The same with five thousand, more than the daemon keeps in memory."""
    with running_daemon(tmp_path) as daemon:
        crowd(daemon, 5_000)


def crowd(daemon: RunningDaemon, size: int) -> None:
    """Let so many agents work at once, interleaved, and look at the result on every surface."""
    endings = list(ENDINGS)
    expected = {f"session-{number}": endings[number % len(endings)] for number in range(size)}
    hands = [sorted(expected)[hand::CONNECTIONS] for hand in range(CONNECTIONS)]
    messages: list[Message] = []
    with daemon.stream() as stream:
        reading = threading.Thread(target=_read_to_the_end, args=(stream, messages))
        reading.start()
        with ThreadPoolExecutor(CONNECTIONS) as pool:
            jobs = [pool.submit(_play, daemon, hand, expected) for hand in hands]
            events = sum(job.result() for job in jobs)
        status = daemon.status
        _same_states(daemon, expected)
        wait_until(lambda: messages and messages[-1].id == status["last_seq"], "the reader to hear the last of it")
        daemon.stop()
        reading.join(60)
        assert not reading.is_alive()
    assert status["events_total"] == events
    ids = [message.id for message in messages]
    assert None not in ids
    assert ids == sorted(set(ids), key=lambda number: number or 0), "the numbers of the stream rise and never repeat"
    assert "gap" not in {message.type for message in messages}
    _stream_tells_the_same(messages, expected)
    with running_daemon(daemon.home) as again, again.stream(last_event_id=0) as stream:
        replayed = stream.until(lambda message: message.id == ids[-1])
        assert [message.id for message in replayed] == ids, "the reader missed nothing of what is stored"
        assert again.verified()


def _read_to_the_end(stream: Stream, messages: list[Message]) -> None:
    with contextlib.suppress(EOFError):
        while True:
            messages.append(stream.next())


def _play(daemon: RunningDaemon, sessions: list[str], expected: dict[str, tuple[str, str | None]]) -> int:
    """Play the sessions of one connection, step by step in random order; how many events that took."""
    steps = {session: iter(BEGIN + ENDINGS[expected[session]]) for session in sessions}
    order = random.Random(sessions[0])
    sent = 0
    with daemon.client() as client:
        while steps:
            session = order.choice(list(steps)[:8])
            step = next(steps[session], None)
            if step is None:
                del steps[session]
                continue
            _fire(client, session, step)
            sent += 1
    return sent


def _fire(client: Client, session: str, step: Step) -> None:
    event, fields = step
    # Every fifth shares its directory with many others: only its pane tells it apart.
    number = int(session.removeprefix("session-"))
    crowded: dict[str, object] = {"cwd": "/projects/shared", "tmux_pane": f"%{number}"}
    where = {"cwd": f"/projects/{session}"} if number % 5 else crowded
    reply = client.post(event, {"session_id": session, **where, **fields})
    assert reply.status == 200, reply.body


def _same_states(daemon: RunningDaemon, expected: dict[str, tuple[str, str | None]]) -> None:
    agents = daemon.agents()
    shown = {agent["session_id"]: (agent["state"], agent["waiting_for"]) for agent in agents}
    assert len(agents) == len(expected)
    assert shown == expected
    assert len({agent["name"] for agent in agents if agent["state"] != "ended"}) == sum(
        state != "ended" for state, _ in expected.values()
    ), "no two living agents have one name"
    assert daemon.status["agents"] == dict(Counter(state for state, _ in expected.values()))


def _stream_tells_the_same(messages: list[Message], expected: dict[str, tuple[str, str | None]]) -> None:
    """Who only reads the stream knows the same states."""
    sessions: dict[str, str] = {}
    states: dict[str, tuple[str, str | None]] = {}
    news: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
        "agent_created": lambda data: data["agent"],
        "state_changed": lambda data: data,
    }
    for message in messages:
        if message.type in news:
            agent = news[message.type](message.data)
            states[message.data["agent_id"]] = (agent["state"], agent["waiting_for"])
        if message.type == "agent_created":
            sessions[message.data["agent_id"]] = message.data["agent"]["session_id"]
    assert {sessions[agent]: state for agent, state in states.items()} == expected
