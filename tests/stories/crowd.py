"""A crowd: many agents at once, over several daemons if there are several, and what must be seen afterwards.

Every agent plays a whole turn, its events in order but each sent to any of the daemons. Afterwards every daemon shows
every agent in its own state, and their streams told the same, without a gap.
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
"""How a turn may go on, and the state that it leaves."""


def crowd(daemons: Sequence[RunningDaemon], size: int, **settings: object) -> None:
    """Let so many agents work at once, interleaved, and look at the result on every surface of every daemon."""
    endings = list(ENDINGS)
    expected = {f"session-{number}": endings[number % len(endings)] for number in range(size)}
    heard: list[list[Message]] = [[] for _ in daemons]
    with contextlib.ExitStack() as streams:
        readers = [
            threading.Thread(target=_read_to_the_end, args=(streams.enter_context(daemon.stream()), messages))
            for daemon, messages in zip(daemons, heard, strict=True)
        ]
        for reader in readers:
            reader.start()
        events = play(daemons, expected)
        status = daemons[0].status
        for daemon, messages in zip(daemons, heard, strict=True):
            same_states(daemon, expected)
            wait_until(lambda heard=messages: heard and heard[-1].id == status["last_seq"], "the last announcement")  # type: ignore[misc]
        for daemon in daemons:
            daemon.stop()
        for reader in readers:
            reader.join(60)
            assert not reader.is_alive()
    assert status["events_total"] == events
    for messages in heard:
        assert messages == heard[0], "all readers heard the same"
    _gap_free(heard[0])
    _stream_tells_the_same(heard[0], expected)
    with running_daemon(daemons[0].home, **settings) as again, again.stream(last_event_id=0) as stream:
        replayed = stream.until(lambda message: message.id == heard[0][-1].id)
        assert [message.id for message in replayed] == [message.id for message in heard[0]], "nothing was missed"
        assert again.verified()


def play(daemons: Sequence[RunningDaemon], expected: Mapping[str, Ending]) -> int:
    """Play all sessions over many connections; how many events that took."""
    hands = [sorted(expected)[hand::CONNECTIONS] for hand in range(CONNECTIONS)]
    with ThreadPoolExecutor(CONNECTIONS) as pool:
        jobs = [pool.submit(_play_hand, daemons, hand, expected) for hand in hands]
        return sum(job.result() for job in jobs)


def _gap_free(messages: list[Message]) -> None:
    ids = [message.id for message in messages]
    assert None not in ids
    assert ids == sorted(set(ids), key=lambda number: number or 0), "the numbers of the stream rise and never repeat"
    assert "gap" not in {message.type for message in messages}


def _read_to_the_end(stream: Stream, messages: list[Message]) -> None:
    with contextlib.suppress(EOFError):
        while True:
            messages.append(stream.next())


def _play_hand(daemons: Sequence[RunningDaemon], sessions: list[str], expected: Mapping[str, Ending]) -> int:
    """Play the sessions of one hand, step by step in random order; how many events that took."""
    steps = {session: iter(BEGIN + ENDINGS[expected[session]]) for session in sessions}
    order = random.Random(sessions[0])
    sent = 0
    with contextlib.ExitStack() as connections:
        clients = [connections.enter_context(daemon.client()) for daemon in daemons]
        while steps:
            session = order.choice(list(steps)[:8])
            step = next(steps[session], None)
            if step is None:
                del steps[session]
                continue
            _fire(order.choice(clients), session, step)
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


def same_states(daemon: RunningDaemon, expected: Mapping[str, Ending]) -> None:
    """Every agent is there, once, in its own state and under a name of its own."""
    agents = daemon.agents()
    shown = {agent["session_id"]: (agent["state"], agent["waiting_for"]) for agent in agents}
    assert len(agents) == len(expected)
    assert shown == expected
    assert len({agent["name"] for agent in agents if agent["state"] != "ended"}) == sum(
        state != "ended" for state, _ in expected.values()
    ), "no two living agents have one name"
    assert daemon.status["agents"] == dict(Counter(state for state, _ in expected.values()))


def _stream_tells_the_same(messages: list[Message], expected: Mapping[str, Ending]) -> None:
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
