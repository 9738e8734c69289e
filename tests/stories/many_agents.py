"""Many agents at the same time, on one or several daemons, and the checks of the result.

Every agent runs a complete turn. Its events are in order, but each goes to a random daemon. Afterwards every daemon
shows every agent in its expected state, and all streams have the same messages without a gap.
"""

import contextlib
import random
import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

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
Ending = tuple[str, str | None]

ENDINGS: dict[Ending, list[Step]] = {
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
"""The possible ends of a turn, by the resulting state."""


def run_many_agents(daemons: Sequence[RunningDaemon], size: int, **settings: object) -> None:
    """Run this many agents at the same time, interleaved, and check every surface of every daemon."""
    endings = list(ENDINGS)
    expected = {f"session-{number}": endings[number % len(endings)] for number in range(size)}
    received: list[list[Message]] = [[] for _ in daemons]
    with contextlib.ExitStack() as streams:
        readers = [
            threading.Thread(target=_read_to_the_end, args=(streams.enter_context(daemon.stream()), messages))
            for daemon, messages in zip(daemons, received, strict=True)
        ]
        for reader in readers:
            reader.start()
        events = run_sessions(daemons, expected)
        status = daemons[0].status
        for daemon, messages in zip(daemons, received, strict=True):
            same_states(daemon, expected)
            wait_until(lambda received=messages: received and received[-1].id == status["last_seq"], "the last message")  # type: ignore[misc]
        for daemon in daemons:
            daemon.stop()
        for reader in readers:
            reader.join(60)
            assert not reader.is_alive()
    assert status["events_total"] == events
    for messages in received:
        assert messages == received[0], "all readers received the same messages"
    _gap_free(received[0])
    _stream_has_the_same(received[0], expected)
    with running_daemon(daemons[0].home, **settings) as again, again.stream(last_event_id=0) as stream:
        replayed = stream.until(lambda message: message.id == received[0][-1].id)
        assert [message.id for message in replayed] == [message.id for message in received[0]], "no message is missing"
        assert again.verified()


def run_sessions(daemons: Sequence[RunningDaemon], expected: Mapping[str, Ending]) -> int:
    """Run all sessions over many connections; return the number of events."""
    shares = [sorted(expected)[share::CONNECTIONS] for share in range(CONNECTIONS)]
    with ThreadPoolExecutor(CONNECTIONS) as pool:
        jobs = [pool.submit(_run_share, daemons, share, expected) for share in shares]
        return sum(job.result() for job in jobs)


def _gap_free(messages: list[Message]) -> None:
    ids = [message.id for message in messages]
    assert None not in ids
    assert ids == sorted(set(ids), key=lambda number: number or 0), "the ids of the stream increase"
    assert "gap" not in {message.type for message in messages}


def _read_to_the_end(stream: Stream, messages: list[Message]) -> None:
    with contextlib.suppress(EOFError):
        while True:
            messages.append(stream.next())


def _run_share(daemons: Sequence[RunningDaemon], sessions: list[str], expected: Mapping[str, Ending]) -> int:
    """Run the sessions of one connection, step by step in random order; return the number of events."""
    steps = {session: iter(BEGIN + ENDINGS[expected[session]]) for session in sessions}
    order = random.Random(sessions[0])
    sent = 0
    with contextlib.ExitStack() as connections:
        clients = [(connections.enter_context(daemon.client()), daemon.credentials("ingest")) for daemon in daemons]
        while steps:
            session = order.choice(list(steps)[:8])
            step = next(steps[session], None)
            if step is None:
                del steps[session]
                continue
            client, credentials = order.choice(clients)
            _fire(client, session, step, credentials)
            sent += 1
    return sent


def _fire(client: Client, session: str, step: Step, credentials: Mapping[str, str]) -> None:
    event, fields = step
    # Every fifth session shares its directory with many others. Only its pane identifies it.
    number = int(session.removeprefix("session-"))
    shared_directory: dict[str, object] = {"cwd": "/projects/shared", "tmux_pane": f"%{number}"}
    where = {"cwd": f"/projects/{session}"} if number % 5 else shared_directory
    reply = client.post(event, {"session_id": session, **where, **fields}, credentials)
    assert reply.status == 200, reply.body


def same_states(daemon: RunningDaemon, expected: Mapping[str, Ending]) -> None:
    """Every agent exists once, in its expected state, with a unique name."""
    agents = daemon.agents()
    shown = {agent["session_id"]: (agent["state"], agent["waiting_for"]) for agent in agents}
    assert len(agents) == len(expected)
    assert shown == expected
    assert len({agent["name"] for agent in agents if agent["state"] != "ended"}) == sum(
        state != "ended" for state, _ in expected.values()
    ), "no two running agents have the same name"
    assert daemon.status["agents"] == dict(Counter(state for state, _ in expected.values()))


def _stream_has_the_same(messages: list[Message], expected: Mapping[str, Ending]) -> None:
    """The stream alone gives the same states."""
    sessions: dict[str, str] = {}
    states: dict[str, tuple[str, str | None]] = {}
    agent_of: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
        "agent_created": lambda data: data["agent"],
        "state_changed": lambda data: data,
    }
    for message in messages:
        if message.type in agent_of:
            agent = agent_of[message.type](message.data)
            states[message.data["agent_id"]] = (agent["state"], agent["waiting_for"])
        if message.type == "agent_created":
            sessions[message.data["agent_id"]] = message.data["agent"]["session_id"]
    assert {sessions[agent]: state for agent, state in states.items()} == expected
