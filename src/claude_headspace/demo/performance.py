"""The order of everything that happens: the cues of all actors by their time. Pure; whoever plays it keeps the clock.

Rules
- At one moment the actor that was named first goes first, so the same seed gives the same order.
- A held cue goes on when somebody answers it, else when it is answered in the terminal. Once the curtain has risen the
  last one who waits for a thing is not answered there: at any moment somebody waits for a permission, somebody for an
  answer and somebody for the approval of a plan.
"""

import heapq
from collections.abc import Iterable
from contextlib import suppress
from typing import NamedTuple

from claude_headspace.demo.actor import Actor, Cue, Cues, Reply
from claude_headspace.demo.client import Json

PATIENCE = 5.0
"""How much later to look again whether somebody else waits, in seconds."""


class Turn(NamedTuple):
    """Whose turn it is, with which cue."""

    actor: Actor
    cue: Cue


class _Entry(NamedTuple):
    at: float
    number: int
    order: int
    answers: bool
    """Whether the terminal answers, rather than that the next cue is due."""


class Performance:
    """All lives at once."""

    def __init__(self, actors: Iterable[Actor]) -> None:
        self._actors = list(actors)
        self._playing: list[Cues] = [actor.cues() for actor in self._actors]
        self._next: dict[int, Cue] = {}
        self._held: dict[int, Cue] = {}
        self._entries: list[_Entry] = []
        self._order = 0
        for number, playing in enumerate(self._playing):
            self._expect(number, next(playing, None))

    @property
    def next_at(self) -> float | None:
        """When something happens next; None when nothing ever will."""
        return self._entries[0].at if self._entries else None

    @property
    def held(self) -> list[Turn]:
        """Who waits for somebody, and for what."""
        return [Turn(self._actors[number], cue) for number, cue in self._held.items()]

    def take(self) -> Turn | None:
        """What happens next; None when the terminal answered, or is asked to wait."""
        entry = heapq.heappop(self._entries)
        if entry.answers:
            self._answer_in_the_terminal(entry)
            return None
        cue = self._next.pop(entry.number)
        if cue.held:
            self._held[entry.number] = cue
            self._push(cue.until, entry.number, answers=True)
        return Turn(self._actors[entry.number], cue)

    def go_on(self, turn: Turn, at: float, output: Json | None = None) -> None:
        """An actor goes on after its cue."""
        self._proceed(self._actors.index(turn.actor), Reply(at, output or {}))

    def answer(self, turn: Turn, at: float, output: Json) -> None:
        """Somebody answers what an actor waits for, unless the terminal was first."""
        number = self._actors.index(turn.actor)
        if self._held.get(number) is turn.cue:
            self._proceed(number, Reply(at, output))

    def _proceed(self, number: int, reply: Reply) -> None:
        self._held.pop(number, None)
        with suppress(StopIteration):
            self._expect(number, self._playing[number].send(reply))

    def _answer_in_the_terminal(self, entry: _Entry) -> None:
        cue = self._held.get(entry.number)
        if cue is None or entry.at < cue.until:
            return  # it was answered elsewhere
        others = [each for number, each in self._held.items() if number != entry.number and each.held == cue.held]
        if entry.at > 0 and not others:
            self._push(entry.at + PATIENCE, entry.number, answers=True)
        else:
            self._proceed(entry.number, Reply(entry.at))

    def _expect(self, number: int, cue: Cue | None) -> None:
        if cue is not None:
            self._next[number] = cue
            self._push(cue.at, number, answers=False)

    def _push(self, at: float, number: int, *, answers: bool) -> None:
        self._order += 1
        heapq.heappush(self._entries, _Entry(at, number, self._order, answers))
