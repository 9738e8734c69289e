"""Hooks are answered whatever the journal does, and their events are taken once and in order."""

import asyncio
from functools import partial
from pathlib import Path

import pytest

from claude_headspace.engine.outages import Outages
from claude_headspace.engine.spool_fallback import Spooled, SpoolFallback
from claude_headspace.errors import STOPPING, BadRequest, JournalUnavailable
from claude_headspace.inputs.receive.receiver import HookReceiver
from claude_headspace.inputs.receive.spool import Spool, SpoolReader
from claude_headspace.kernel.envelope import Envelope, Observations, decided
from claude_headspace.kernel.policy.verdict import ABSTAIN, Ruling, Verdict
from claude_headspace.ports import Received
from claude_headspace.testing import START, ManualClock, hook

DENIED = Verdict(Ruling.DENY, "no-stops", "It may not stop.")
AWAY = JournalUnavailable("journal_unavailable", "The database is away.", "Wait.")


class Journal:
    """Takes envelopes, fails or hangs as it is told."""

    def __init__(self) -> None:
        self.taken: list[str] = []
        self.trouble: Exception | None = None
        self.hangs = False

    async def store(self, envelope: Envelope) -> str:
        """Take one."""
        if self.hangs:
            await asyncio.sleep(3600)
        if self.trouble is not None:
            raise self.trouble
        self.taken.append(envelope.delivery_id or "")
        return "stored"


class Room:
    """A spool fallback between a spool and a journal."""

    def __init__(self, folder: Path, patience: float = 60) -> None:
        clock = ManualClock()
        self.journal = Journal()
        self.outages = Outages(clock)
        self.folder = folder

        async def nowhere(_cwd: str | None) -> Observations:
            return Observations()

        spool = Spool(folder)
        self.reader = SpoolReader(spool, HookReceiver("laptop", clock, nowhere), self._process, clock, 1_000_000, self)
        self.refusals: list[str] = []
        self.spooled: list[Envelope] = []
        self.verdict = DENIED
        self.fallback = SpoolFallback(spool, patience, self.outages, self.refused)

    def stored(self, name: str, seconds: float) -> None:
        """Count a stored hook."""

    def refused(self, code: str) -> None:
        """Count a refused hook."""
        self.refusals.append(code)

    async def _process(self, received: Received) -> bool:
        await self.journal.store(received.envelope)
        self.spooled.append(received.envelope)
        self.fallback.left_spool(received.envelope)
        return True

    async def _judge(self, envelope: Envelope) -> Envelope:
        return envelope if self.verdict is ABSTAIN else decided(envelope, verdict=self.verdict)

    async def send(self, number: int, *, asked: bool = False) -> str:
        """A hook comes: what became of its event."""
        context = Observations(tmux_pane="%1", client_pid=42, headspace_id="h1")
        sent = hook("Stop", START - 1000 + number, delivery_id=f"d{number}", observations=context)
        judge = partial(self._judge, sent) if asked else None
        outcome = await self.fallback.store(sent, partial(self.journal.store, sent), judge)
        return "spooled" if isinstance(outcome, Spooled) else outcome


def test_an_event_goes_to_the_journal(tmp_path: Path) -> None:
    """As long as that is well nothing else is touched."""
    room = Room(tmp_path)
    assert asyncio.run(room.send(1)) == "stored"
    assert list(tmp_path.iterdir()) == []
    assert room.outages.all == []


def test_what_cannot_be_stored_waits_in_the_spool_and_others_behind_it(tmp_path: Path) -> None:
    """Also those that come when the journal is well again: events are taken in their order, each once."""
    room = Room(tmp_path)

    async def story() -> None:
        room.journal.trouble = AWAY
        assert [await room.send(1), await room.send(2)] == ["spooled"] * 2
        room.journal.trouble = None
        assert await room.send(3) == "spooled"
        await room.reader.drain()
        assert await room.send(4) == "stored"

    asyncio.run(story())
    assert room.journal.taken == ["d1", "d2", "d3", "d4"]
    assert list(tmp_path.iterdir()) == []
    [trouble] = room.outages.all
    assert (trouble.reason, trouble.spooled) == ("The database is away.", 3)


def test_an_event_without_the_token_is_not_trusted_after_the_spool(tmp_path: Path) -> None:
    """An outage does not turn the request of any program into a report of the hook script."""
    room = Room(tmp_path)

    async def story() -> None:
        sent = hook("Stop", START, delivery_id="d1", observations=Observations(unauthenticated=True))
        room.journal.trouble = AWAY
        await room.fallback.store(sent, partial(room.journal.store, sent))
        room.journal.trouble = None
        await room.reader.drain()

    asyncio.run(story())
    [envelope] = room.spooled
    assert envelope.observations.unauthenticated


def test_what_is_put_into_the_spool_comes_out_as_it_was(tmp_path: Path) -> None:
    """When it fired, from which client and pane, under which id, and what its sender was answered: nothing is lost."""
    room = Room(tmp_path)
    room.journal.trouble = AWAY
    asyncio.run(room.send(1, asked=True))
    room.journal.trouble = None
    asyncio.run(room.reader.drain())
    [envelope] = room.spooled
    assert (envelope.name, envelope.delivery_id, envelope.fired_at) == ("Stop", "d1", START - 999)
    assert (envelope.observations.tmux_pane, envelope.observations.client_pid, envelope.observations.headspace_id) == (
        "%1",
        42,
        "h1",
    )
    assert envelope.payload == hook("Stop").payload
    assert envelope.decisions.verdict == DENIED


def test_nobody_waits_longer_than_his_patience(tmp_path: Path) -> None:
    """A journal that hangs is told by its own reason."""
    room = Room(tmp_path, patience=0.01)
    room.journal.hangs = True
    assert asyncio.run(room.send(1)) == "spooled"
    assert room.outages.current is not None
    assert room.outages.current.reason == "no commit within 0.01 s"


def test_a_stop_is_no_trouble(tmp_path: Path) -> None:
    """What comes while the daemon stops waits for the next one."""
    room = Room(tmp_path)
    room.journal.trouble = JournalUnavailable(STOPPING, "The daemon is stopping.", "Wait.")
    assert asyncio.run(room.send(1)) == "spooled"
    assert room.outages.all == []


def test_what_is_refused_is_refused(tmp_path: Path) -> None:
    """An event that the journal will never take does not go to the spool."""
    room = Room(tmp_path)
    room.journal.trouble = BadRequest("bad_field", "It does not fit.", "Correct it.")
    with pytest.raises(BadRequest):
        asyncio.run(room.send(1))
    assert list(tmp_path.iterdir()) == []


def test_without_any_room_the_sender_is_told(tmp_path: Path) -> None:
    """A spool that is full as well: the hook fails with what to do, and the next one is tried anew."""
    room = Room(tmp_path)
    room.journal.trouble = AWAY
    (tmp_path / "full").touch()
    with pytest.raises(JournalUnavailable, match="Neither the database nor the spool"):
        asyncio.run(room.send(1))
    room.journal.trouble = None
    assert asyncio.run(room.send(2)) == "stored"


def test_without_any_room_a_call_is_judged_all_the_same(tmp_path: Path) -> None:
    """A verdict needs no disk: it is given, and the event counts as refused; without one the sender is told."""
    room = Room(tmp_path)
    room.journal.trouble = AWAY
    (tmp_path / "full").touch()
    assert asyncio.run(room.send(1, asked=True)) == "spooled"
    assert room.refusals == ["nowhere_to_store"]
    assert room.outages.all[-1].lost == 1
    room.verdict = ABSTAIN
    with pytest.raises(JournalUnavailable, match="Neither the database nor the spool"):
        asyncio.run(room.send(2, asked=True))
