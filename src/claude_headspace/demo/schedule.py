"""Orders the events of all simulated agents by time. Pure: the caller supplies the time.

Rules
- Times are seconds relative to the start of the demo; events before it are history.
- Events at the same time are ordered as the agents are listed, so the same seed gives the same order.
- A dialog stays open until a person answers through Headspace, or until it is answered in the terminal. The last open
  dialog of a kind is not answered in the terminal: there is always a permission, a question and a plan to answer.
"""

import math
from collections.abc import Sequence
from contextlib import suppress
from itertools import chain, repeat
from operator import attrgetter
from typing import NamedTuple

import msgspec

from claude_headspace.clients import claude_code
from claude_headspace.clients.claude_code.simulation.session import SimulatedSession, Step
from claude_headspace.clients.claude_code.simulation.steps import start
from claude_headspace.clients.simulated_clients import SIMULATIONS
from claude_headspace.clients.simulation import Events, Profile, Reply, ScheduledEvent, ToldSession, ToldStep

FIRST_PANE = 9001
CODE_DIRECTORY = "/home/sam/code"
"""The repositories need not exist: only their names are shown."""
RETRY_SECONDS = 5.0
"""How often to check whether another dialog of the same kind is open."""


class Scenario(NamedTuple):
    """What one agent of Claude Code does."""

    profile: Profile
    elapsed: float
    """How many seconds of the loop have passed when the demo starts."""
    past: tuple[Step, ...]
    """Played once, before the loop."""
    loop: tuple[Step, ...] = ()

    def session(self, seed: int, home: str) -> SimulatedSession:
        """The session of the agent, in a home."""
        return SimulatedSession(self.profile, seed, CODE_DIRECTORY, f"{home}/.claude/projects")

    @property
    def client(self) -> str:
        """The name of its client."""
        return claude_code.NAME


class ToldScenario(NamedTuple):
    """What one agent of another client does."""

    client: str
    profile: Profile
    elapsed: float
    past: tuple[ToldStep, ...]
    loop: tuple[ToldStep, ...] = ()

    def session(self, seed: int, home: str) -> ToldSession:
        """The session of the agent, in a home."""
        return SIMULATIONS[self.client](self.profile, seed, CODE_DIRECTORY, home)


class SimulatedAgent:
    """One agent: its session, and its current event, which is scheduled or running."""

    def __init__(self, scenario: Scenario | ToldScenario, seed: int, number: int, home: str) -> None:
        self.scenario = scenario
        self.pane = f"%{FIRST_PANE + number}"
        self.session = scenario.session(seed, home)
        self._events = self._play()
        self.event = next(self._events)
        self.due_at = self.event.at
        """When the event starts or the dialog is answered in the terminal. Infinite while a hook is running."""
        self.is_waiting = False
        """Whether the event is an open dialog."""

    def finish(self, event: ScheduledEvent, reply: Reply) -> None:
        """Schedule the next event. No-op if the event was finished before."""
        if event is self.event:
            self.is_waiting, self.due_at = False, math.inf
            with suppress(StopIteration):
                self.event = self._events.send(reply)
                self.due_at = self.event.at

    def _play(self) -> Events:
        """The past, shifted so that it ends where the loop starts, then the loop without end."""
        session, elapsed = self.session, self.scenario.elapsed
        session.is_history = True
        past = play_answered_in_terminal(self._steps(is_past=True))
        shift = -elapsed - session.now
        for event in past:
            yield msgspec.structs.replace(event, at=event.at + shift, answered_at=event.answered_at + shift)
        session.is_history, session.now = False, -elapsed
        if self.scenario.loop:
            yield from self._steps(is_past=False)

    def _steps(self, *, is_past: bool) -> Events:
        """The events of the past, or of the loop."""
        session, scenario = self.session, self.scenario
        if isinstance(session, SimulatedSession) and isinstance(scenario, Scenario):
            return session.play((start(), *scenario.past) if is_past else chain.from_iterable(repeat(scenario.loop)))
        assert isinstance(session, ToldSession)
        assert isinstance(scenario, ToldScenario)
        return session.play(scenario.past if is_past else chain.from_iterable(repeat(scenario.loop)))


def play_answered_in_terminal(events: Events) -> list[ScheduledEvent]:
    """Play all events; every dialog is answered in the terminal."""
    played: list[ScheduledEvent] = []
    with suppress(StopIteration):
        event = next(events)
        while True:
            played.append(event)
            event = events.send(Reply(max(event.at, event.answered_at)))
    return played


class Schedule:
    """The events of all agents."""

    def __init__(self, agents: Sequence[SimulatedAgent]) -> None:
        self.agents = agents

    @property
    def next_at(self) -> float:
        return min(agent.due_at for agent in self.agents)

    @property
    def waiting(self) -> list[SimulatedAgent]:
        """Agents with an open dialog."""
        return [agent for agent in self.agents if agent.is_waiting]

    def start_next(self) -> SimulatedAgent | None:
        """Start the next event and return its agent.

        Returns None if the due item was an open dialog; it is then answered in the terminal or postponed.
        """
        agent = min(self.agents, key=attrgetter("due_at"))
        if agent.is_waiting:
            self._answer_in_terminal(agent)
            return None
        agent.is_waiting = bool(agent.event.dialog)
        agent.due_at = agent.event.answered_at if agent.is_waiting else math.inf
        return agent

    def _answer_in_terminal(self, agent: SimulatedAgent) -> None:
        is_last = sum(each.event.dialog == agent.event.dialog for each in self.waiting) == 1
        if is_last and agent.due_at > 0:
            agent.due_at += RETRY_SECONDS
        else:
            agent.finish(agent.event, Reply(agent.due_at))
