"""Recorded runs of opencode 1.18.33, played through the plugin: the states, in order and in any other order."""

import random
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec
import pytest

from claude_headspace.clients.decode import decode
from claude_headspace.kernel.agent import Agent, Project
from claude_headspace.kernel.envelope import SECOND, Envelope, Observations, Origin
from claude_headspace.kernel.evolve import evolve
from claude_headspace.kernel.facts import Event
from claude_headspace.kernel.state_machine import Actor
from tests.clients.opencode.player import play, recorded

RUN_START = 1_790_000_000
STATES = {
    "recorded": """
start  | -
say hi  | idle working idle
say ls  | working waiting:permission
keys Enter  | working idle
say rej  | working waiting:permission
keys Escape  | idle
keys Enter  | -
say stream  | working
keys Escape  | -
keys Escape  | idle
say slow  | working
keys Escape  | -
keys Escape  | idle
say tool  | working waiting:permission
keys Enter  | working
keys Escape  | -
keys Escape  | idle
say fail  | working waiting:permission
say err  | working idle
say q  | working waiting:question
keys Enter  | working idle
say sub  | working idle
say err  | working error
say retry  | working idle
keys Enter  | working idle
keys Enter  | -
keys C-c  | ended
keys Enter  | -
start --continue  | -
say plugin answers  | working
say plugin denies  | idle
say typed  | working waiting:permission
keys Enter  | working
say typed meanwhile  | idle
say kill  | working waiting:permission
keys Enter  | working
start  | -
say warm  | idle working idle
say plugin answers  | working waiting:permission working idle ended idle working idle ended
start --port 18196  | -
say ask  | idle working waiting:permission working idle ended
""",
    "dialogs": """
cost  | idle working idle
api reject with message  | working waiting:permission working idle
api question  | working waiting:question working idle
question esc  | working waiting:question idle
subagent  | working waiting:permission working idle
edit  | working waiting:permission working waiting:permission working idle
todo  | working idle
two  | working waiting:permission working idle
shell  | working idle
compact  | working idle
always  | working waiting:permission working idle
patch  | working idle
""",
}
"""What the user did, and the states that followed. After `kill` the client is gone, which the plugin cannot report."""


@cache
def events_of(run: str) -> list[tuple[str, list[Event]]]:
    """The decoded reports of a run, by what the user did."""
    steps = recorded(run)
    acts = [(step["ms"], step["act"]) for step in steps if "act" in step]
    with TemporaryDirectory() as folder:
        reports = play(Path(folder), steps)
    found: list[tuple[str, list[Event]]] = [("", [])]
    for number, (notes, payload) in enumerate(reports):
        fired_at = round(float(notes["fired-at"]) * SECOND)
        while acts and (fired_at - RUN_START * SECOND) / 1000 >= acts[0][0]:
            found.append((acts.pop(0)[1], []))
        envelope = Envelope(
            id=f"e{number}",
            name=notes["event"],
            origin=Origin.HOOK,
            client="opencode",
            host="laptop",
            fired_at=fired_at,
            received_at=fired_at,
            payload=msgspec.json.encode(payload),
            observations=Observations(client_pid=int(notes["client-pid"])),
        )
        found[-1][1].append(decode(envelope))
    return [*found, *((act, []) for _, act in acts)]


def new_agent() -> Agent:
    """An agent without events."""
    project = Project("project-1", "app", "/home/sam/code/app")
    return Agent(id="agent-1", name="calm-otter", host="laptop", client="opencode", project=project, created_at=0)


def state_of(agent: Agent) -> str:
    """The state, with the kind of the wait."""
    return f"{agent.state}:{agent.waiting_for}" if agent.waiting_for else str(agent.state)


def states(run: str) -> list[tuple[str, str]]:
    """Each act of the user, and the states that followed it."""
    agent, found = new_agent(), []
    for act, events in events_of(run):
        seen: list[str] = []
        for event in events:
            before = state_of(agent)
            agent = evolve(agent, event).agent
            if state_of(agent) != before:
                seen.append(state_of(agent))
        found.append((act.strip(), " ".join(seen) or "-"))
    return found


def test_no_report_is_unknown() -> None:
    """Every report that the plugin makes has a decoder, and every field its type."""
    problems = [event.anomaly for run in STATES for _, part in events_of(run) for event in part]
    assert set(problems) == {None}


@pytest.mark.parametrize("run", STATES)
def test_the_states_of_a_run(run: str) -> None:
    """No state is missing, and there is none too many."""
    expected = [tuple(part.strip() for part in line.split("|")) for line in STATES[run].strip().splitlines()]
    assert [each for each in states(run) if each[0]] == expected


@pytest.mark.parametrize("run", STATES)
@pytest.mark.parametrize("seed", range(12))
def test_the_order_of_arrival_does_not_matter(run: str, seed: int) -> None:
    """After each part of a run the state is the same, in whichever order its events arrived."""
    shuffled, in_order = new_agent(), new_agent()
    for act, events in events_of(run):
        for event in events:
            in_order = evolve(in_order, event).agent
        for event in random.Random(seed).sample(events, len(events)):  # a test
            shuffled = evolve(shuffled, event).agent
        assert (act, state_of(shuffled)) == (act, state_of(in_order))


def test_what_the_agent_writes_is_recorded_when_it_is_written() -> None:
    """A text before a tool call is known while the dialog of the call is open; the last one comes with the end."""
    agent, turns = new_agent(), list[tuple[str, str]]()
    for act, events in events_of("recorded")[:5]:
        for event in events:
            change = evolve(agent, event)
            agent = change.agent
            turns += [(act, f"{turn.intent}: {turn.text}") for turn in change.turns if turn.actor is Actor.AGENT]
    expected = [
        ("say hi", "COMPLETION: Hello there."),
        ("say ls", "PROGRESS: Looking."),
        ("keys Enter", "COMPLETION: Ran-ok."),
    ]
    assert turns == expected
