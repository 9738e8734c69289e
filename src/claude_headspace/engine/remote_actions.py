"""What only an agent's own machine can do, whichever daemon is asked: an errand through the log.

Where the agent runs here it is done at once. Else, on a journal that daemons share, it is written down as an event of
the agent (`ErrandAsked`); the daemon of the agent's machine hears of it on the stream, takes it up (`ErrandTaken`),
does it as if it had been asked itself, and writes down what came of it (`ErrandDone`), which the asker hears in turn.

Rules
- An errand is taken up or given up, never both: the two events have one delivery id, so the first one counts. Whoever
  was told that it is not done can rely on it, and after a restart nothing is done again.
- Only what is announced while a daemon runs is done. An errand that is found late, because its asker could not take it
  back, is refused.
- What came of it is read from the log; the stream only says that it is there.
"""

import asyncio
import uuid
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import suppress
from typing import Any, TypeVar

import msgspec
import structlog

from claude_headspace.errors import HeadspaceError, JournalUnavailable
from claude_headspace.kernel.agent import Agent
from claude_headspace.kernel.decode import WireAct
from claude_headspace.kernel.envelope import SECOND, Micros
from claude_headspace.outputs.keyboard import refuse_elsewhere
from claude_headspace.outputs.tmux import Refused
from claude_headspace.ports import Clock, EventFilter, Journal, StoredEvent, StreamMessage

log = structlog.get_logger(__name__)

HEARD = "errand_moved"
TAKE_SECONDS = 5.0
"""How long the other daemon has to take an errand up: more than twice as long as one may hear nothing."""
DONE_SECONDS = 45.0
"""How long it may take: others may be typing to the same agent. Askers wait a minute at most."""
TOO_OLD: Micros = 60 * SECOND
"""An errand of so long ago is not done any more; clocks may be apart by nearly as much."""
SOUGHT = 200
"""Among how many of an agent's newest events of one name an errand is looked for."""

Act = Callable[[str, WireAct, str, str], Awaitable[tuple[Agent, bool]]]
"""Writes an act down once, for an agent: the agent afterwards, and whether it was known."""

Done = TypeVar("Done", bound=msgspec.Struct)


class Errand(msgspec.Struct, frozen=True, omit_defaults=True):
    """What is to be done, and who wants it through what."""

    what: str
    by: str
    via: str
    text: str = ""
    id: str = ""
    """The asker's own: the same one twice is done once."""


Hand = Callable[[Agent, Errand], Awaitable[Any]]
"""Does one kind of errand on this machine."""


class Refusal(msgspec.Struct, frozen=True):
    """Why it was not done, for the asker as if it had been refused here."""

    code: str
    message: str
    hint: str
    status: int


class Result(msgspec.Struct, frozen=True, omit_defaults=True):
    """What came of an errand: what its hand tells, or why not."""

    done: msgspec.Raw = msgspec.Raw(b"null")
    refusal: Refusal | None = None


class _Told(msgspec.Struct):
    id: str
    step: str
    host: str


class _Waiting:
    """Somebody who asked."""

    def __init__(self) -> None:
        self.taken, self.done = asyncio.Event(), asyncio.Event()

    def hear(self, step: str) -> None:
        if step in ("taken", "done"):
            self.taken.set()
        if step == "done":
            self.done.set()


class Errands:
    """Has things done where they can be done."""

    def __init__(
        self,
        journal: Journal,
        act: Act,
        clock: Clock,
        host: str,
        patience: tuple[float, float] = (TAKE_SECONDS, DONE_SECONDS),
    ) -> None:
        self._journal = journal
        self._act = act
        self._clock = clock
        self._host = host
        self._take_seconds, self._done_seconds = patience
        self._asked: dict[str, _Waiting] = {}
        self._running: set[asyncio.Task[None]] = set()
        self.hands: Mapping[str, Hand] = {}
        """Who does what on this machine."""

    async def do(self, agent: Agent, errand: Errand, kind: type[Done]) -> Done:
        """Do it here, or have it done; what came of it, or the error that says why not."""
        if agent.host != self._host and self._journal.is_shared:
            return msgspec.json.decode(await self._have_done(agent, errand), type=kind)
        refuse_elsewhere(agent, self._host)
        done: Done = await self.hands[errand.what](agent, errand)
        return done

    # --- asking ---

    async def _have_done(self, agent: Agent, errand: Errand) -> msgspec.Raw:
        errand_id = uuid.uuid4().hex
        waiting = self._asked[errand_id] = _Waiting()
        try:
            await self._tell("Asked", agent.id, errand_id, errand)
            if not await _within(self._take_seconds, waiting.taken):
                await self._give_up(agent, errand_id)
            await _within(self._done_seconds, waiting.done)
            return await self._outcome(agent, errand_id)
        finally:
            del self._asked[errand_id]

    async def _give_up(self, agent: Agent, errand_id: str) -> None:
        """Take it back, unless it was taken up at the last moment."""
        try:
            is_taken = await self._tell("GivenUp", agent.id, errand_id)
        except JournalUnavailable as error:
            raise _silent(agent) from error
        if not is_taken:
            raise Refused(
                "host_away",
                f"The Headspace on {agent.host} did not take it up: nothing was done, and nothing will be.",
                f"Start it there with `headspace up`, and ask again: {agent.name} runs on {agent.host}.",
            )

    async def _outcome(self, agent: Agent, errand_id: str) -> msgspec.Raw:
        event = await asyncio.to_thread(self._find, "ErrandDone", agent.id, errand_id)
        if event is None:
            raise _silent(agent)
        result = msgspec.json.decode(_act_in(event).errand, type=Result)
        if (refusal := result.refusal) is not None:
            raise HeadspaceError(refusal.code, refusal.message, refusal.hint, status=refusal.status)
        return result.done

    # --- doing ---

    def hear(self, messages: Iterable[StreamMessage]) -> None:
        """Something was announced: perhaps what somebody waits for, or what is to be done here."""
        for message in messages:
            if message.type == HEARD:
                told = msgspec.json.decode(message.data, type=_Told)
                if (waiting := self._asked.get(told.id)) is not None:
                    waiting.hear(told.step)
                if (told.step, told.host) == ("asked", self._host):
                    self._begin(message.agent_id, told.id)

    def _begin(self, agent_id: str, errand_id: str) -> None:
        task = asyncio.create_task(self._run(agent_id, errand_id), name=f"errand {errand_id}")
        self._running.add(task)
        task.add_done_callback(self._running.discard)

    async def _run(self, agent_id: str, errand_id: str) -> None:
        """Do an errand, if it is still to be done. Whoever asked is told by the log alone."""
        with suppress(JournalUnavailable):  # then it is given up, or its asker is told that nobody knows
            event = await asyncio.to_thread(self._find, "ErrandAsked", agent_id, errand_id)
            if event is None or await self._tell("Taken", agent_id, errand_id):
                return
            result = await self._result(agent_id, event)
            await self._tell("Done", agent_id, errand_id, result)

    async def _result(self, agent_id: str, event: StoredEvent) -> Result:
        try:
            errand = msgspec.json.decode(_act_in(event).errand, type=Errand)
            agent = await self._fit(agent_id, errand, self._clock() - event.envelope.fired_at)
            return Result(done=msgspec.Raw(msgspec.json.encode(await self.hands[errand.what](agent, errand))))
        except HeadspaceError as error:
            return Result(refusal=Refusal(error.code, error.message, error.hint, error.status))
        except Exception:  # a mistake of ours: whoever asked is told as if it had been made there
            log.exception("errand_failed", agent=agent_id)
            return Result(refusal=Refusal("bug", "Headspace made a mistake.", "See `headspace logs` there.", 500))

    async def _fit(self, agent_id: str, errand: Errand, age: Micros) -> Agent:
        """The agent of an errand that can be done here, and now."""
        agent = await asyncio.to_thread(self._journal.agent, agent_id)
        if agent is None:
            raise Refused("unknown_agent", "The agent is gone.", "See `headspace list`.")
        refuse_elsewhere(agent, self._host)
        if age > TOO_OLD:
            raise Refused(
                "too_old",
                f"It was asked for {age // SECOND} seconds ago by the clock of {self._host}: nothing was done.",
                "Ask again; if that does not help, set the clocks of both machines.",
            )
        if errand.what not in self.hands:
            raise Refused("unknown_errand", f"{self._host} does not know {errand.what}.", "Upgrade its Headspace.")
        return agent

    async def stop(self) -> None:
        """The daemon stops: what is being done is left as it is, and its askers are told that nobody knows."""
        for task in self._running:
            task.cancel()
        await asyncio.gather(*self._running, return_exceptions=True)

    # --- the log ---

    async def _tell(self, step: str, agent_id: str, errand_id: str, what: Errand | Result | None = None) -> bool:
        """Write a step down; whether it was known already. Taking up and giving up are one delivery."""
        delivery = "turn" if step in ("Taken", "GivenUp") else step.lower()
        act = WireAct(errand_id=errand_id)
        if what is not None:
            act.errand = msgspec.Raw(msgspec.json.encode(what))
        return (await self._act(f"Errand{step}", act, agent_id, f"errand-{errand_id}-{delivery}"))[1]

    def _find(self, name: str, agent_id: str, errand_id: str) -> StoredEvent | None:
        found = self._journal.events(agent_id=agent_id, limit=SOUGHT, matching=EventFilter(names=frozenset((name,))))
        return next((event for event in reversed(found) if _act_in(event).errand_id == errand_id), None)


def _act_in(event: StoredEvent) -> WireAct:
    return msgspec.json.decode(event.envelope.payload, type=WireAct)


def _silent(agent: Agent) -> Refused:
    return Refused(
        "no_word",
        f"The Headspace on {agent.host} has not said what came of it: it may be done.",
        f"Look at {agent.name} before you ask again.",
    )


async def _within(seconds: float, event: asyncio.Event) -> bool:
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await event.wait()
    return event.is_set()
