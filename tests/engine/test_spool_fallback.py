"""The spool fallback: hooks get a reply while the journal fails, and their events are stored once and in order."""

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
UNAVAILABLE = JournalUnavailable("journal_unavailable", "The database is away.", "Wait.")


class Journal:
    """Stores envelopes; can be set to fail or hang."""

    def __init__(self) -> None:
        self.stored_ids: list[str] = []
        self.failure: Exception | None = None
        self.hangs = False

    async def store(self, envelope: Envelope) -> str:
        """Store one envelope."""
        if self.hangs:
            await asyncio.sleep(3600)
        if self.failure is not None:
            raise self.failure
        self.stored_ids.append(envelope.delivery_id or "")
        return "stored"


class FallbackSetup:
    """A spool fallback between a spool and a journal."""

    def __init__(self, folder: Path, limit: float = 60) -> None:
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
        self.fallback = SpoolFallback(spool, limit, self.outages, self.refused)

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
        """Send a hook; returns what happened to its event."""
        context = Observations(tmux_pane="%1", client_pid=42, headspace_id="h1")
        sent = hook("Stop", START - 1000 + number, delivery_id=f"d{number}", observations=context)
        judge = partial(self._judge, sent) if asked else None
        outcome = await self.fallback.store(sent, partial(self.journal.store, sent), judge)
        return "spooled" if isinstance(outcome, Spooled) else outcome


def test_an_event_goes_to_the_journal(tmp_path: Path) -> None:
    """While the journal works, the spool is not used."""
    setup = FallbackSetup(tmp_path)
    assert asyncio.run(setup.send(1)) == "stored"
    assert list(tmp_path.iterdir()) == []
    assert setup.outages.all == []


def test_later_events_wait_behind_spooled_ones(tmp_path: Path) -> None:
    """Also when the journal works again: events are stored in order, each once."""
    setup = FallbackSetup(tmp_path)

    async def story() -> None:
        setup.journal.failure = UNAVAILABLE
        assert [await setup.send(1), await setup.send(2)] == ["spooled"] * 2
        setup.journal.failure = None
        assert await setup.send(3) == "spooled"
        await setup.reader.drain()
        assert await setup.send(4) == "stored"

    asyncio.run(story())
    assert setup.journal.stored_ids == ["d1", "d2", "d3", "d4"]
    assert list(tmp_path.iterdir()) == []
    [failure] = setup.outages.all
    assert (failure.reason, failure.spooled) == ("The database is away.", 3)


def test_an_event_without_the_token_is_not_trusted_after_the_spool(tmp_path: Path) -> None:
    """An outage does not turn the request of any program into a report of the hook script."""
    setup = FallbackSetup(tmp_path)

    async def story() -> None:
        sent = hook("Stop", START, delivery_id="d1", observations=Observations(unauthenticated=True))
        setup.journal.failure = UNAVAILABLE
        await setup.fallback.store(sent, partial(setup.journal.store, sent))
        setup.journal.failure = None
        await setup.reader.drain()

    asyncio.run(story())
    [envelope] = setup.spooled
    assert envelope.observations.unauthenticated


def test_a_spooled_event_is_complete(tmp_path: Path) -> None:
    """Fire time, client, pane, delivery id and verdict are kept."""
    setup = FallbackSetup(tmp_path)
    setup.journal.failure = UNAVAILABLE
    asyncio.run(setup.send(1, asked=True))
    setup.journal.failure = None
    asyncio.run(setup.reader.drain())
    [envelope] = setup.spooled
    assert (envelope.name, envelope.delivery_id, envelope.fired_at) == ("Stop", "d1", START - 999)
    assert (envelope.observations.tmux_pane, envelope.observations.client_pid, envelope.observations.headspace_id) == (
        "%1",
        42,
        "h1",
    )
    assert envelope.payload == hook("Stop").payload
    assert envelope.decisions.verdict == DENIED


def test_a_hook_waits_for_a_limited_time(tmp_path: Path) -> None:
    """A journal that hangs is reported with its own reason."""
    setup = FallbackSetup(tmp_path, limit=0.01)
    setup.journal.hangs = True
    assert asyncio.run(setup.send(1)) == "spooled"
    assert setup.outages.current is not None
    assert setup.outages.current.reason == "no commit within 0.01 s"


def test_events_during_a_stop_wait_in_the_spool(tmp_path: Path) -> None:
    """The next daemon stores them. This is not an outage."""
    setup = FallbackSetup(tmp_path)
    setup.journal.failure = JournalUnavailable(STOPPING, "The daemon is stopping.", "Wait.")
    assert asyncio.run(setup.send(1)) == "spooled"
    assert setup.outages.all == []


def test_a_refused_event_is_not_spooled(tmp_path: Path) -> None:
    """The journal would never accept it."""
    setup = FallbackSetup(tmp_path)
    setup.journal.failure = BadRequest("bad_field", "It does not fit.", "Correct it.")
    with pytest.raises(BadRequest):
        asyncio.run(setup.send(1))
    assert list(tmp_path.iterdir()) == []


def test_without_journal_and_spool_the_hook_fails(tmp_path: Path) -> None:
    """The error has a hint, and the next hook tries both again."""
    setup = FallbackSetup(tmp_path)
    setup.journal.failure = UNAVAILABLE
    (tmp_path / "full").touch()
    with pytest.raises(JournalUnavailable, match="Neither the database nor the spool"):
        asyncio.run(setup.send(1))
    setup.journal.failure = None
    assert asyncio.run(setup.send(2)) == "stored"


def test_without_journal_and_spool_a_call_is_judged(tmp_path: Path) -> None:
    """A verdict is returned, and the event counts as refused. Without a verdict the hook fails."""
    setup = FallbackSetup(tmp_path)
    setup.journal.failure = UNAVAILABLE
    (tmp_path / "full").touch()
    assert asyncio.run(setup.send(1, asked=True)) == "spooled"
    assert setup.refusals == ["nowhere_to_store"]
    assert setup.outages.all[-1].lost == 1
    setup.verdict = ABSTAIN
    with pytest.raises(JournalUnavailable, match="Neither the database nor the spool"):
        asyncio.run(setup.send(2, asked=True))
