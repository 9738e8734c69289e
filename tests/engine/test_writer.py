"""The writer: batches, their order, failed events and batches, and how it stops."""

import asyncio
import gc
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from itertools import count
from typing import TypeVar

import msgspec
import pytest

from claude_headspace.engine.batch import NOTICES_FAILED, Batch
from claude_headspace.engine.submission import ChooseNotices, no_notices
from claude_headspace.engine.writer import MAX_BATCH
from claude_headspace.errors import BadRequest, HeadspaceError, JournalUnavailable
from claude_headspace.journal.transaction import SqlTransaction
from claude_headspace.kernel.agent import Agent
from claude_headspace.kernel.claude_os.session_notice import NO_NOTICE, SessionNotice
from claude_headspace.kernel.correlate import Strategy
from claude_headspace.kernel.envelope import SECOND, Envelope, Observations, Origin
from claude_headspace.kernel.facts import Event
from claude_headspace.kernel.hooks import PROBE
from claude_headspace.kernel.names import suggest_names
from claude_headspace.ports import Outcome, StreamMessage
from claude_headspace.testing import START, hook
from tests.engines import engine_over
from tests.journals import TemporaryJournal

Result = TypeVar("Result")


class CountingJournal(TemporaryJournal):
    """A journal that counts its batches, and can be set to fail."""

    def __init__(self) -> None:
        super().__init__()
        self.batches: list[int] = []
        self.broken: Exception | None = None

    async def transact(self, work: Callable[[SqlTransaction], Result]) -> Result:
        """Run work in one batch; fail at the commit if the journal is set to fail."""

        def watched(batch: SqlTransaction) -> Result:
            result = work(batch)
            if self.broken is not None:
                raise self.broken
            return result

        before = self.counts().events
        result = await super().transact(watched)
        self.batches.append(self.counts().events - before)
        return result


class WriterSetup:
    """A writer with a counting journal, and the published messages."""

    def __init__(self, choose_notices: ChooseNotices = no_notices) -> None:
        self.journal = CountingJournal()
        self.messages: list[StreamMessage] = []
        new_id = iter(map("agent-{}".format, count(1))).__next__
        self.engine = engine_over(self.journal, new_id, self._receive, choose_notices)

    def _receive(self, messages: Sequence[StreamMessage]) -> None:
        stored = {message.seq for message in self.journal.stream(0, 1_000_000)}
        assert {message.seq for message in messages} <= stored, "announced before it was committed"
        self.messages += messages

    async def all(self, envelopes: Sequence[Envelope]) -> list[Outcome | BaseException]:
        """Submit them together; returns the outcomes."""
        return await asyncio.gather(*map(self.engine.submit, envelopes), return_exceptions=True)


def run(scenario: Callable[[WriterSetup], Awaitable[None]], choose_notices: ChooseNotices = no_notices) -> WriterSetup:
    """Run a scenario with a running writer, stop it, and check that the projections follow from the log."""

    async def main() -> WriterSetup:
        setup = WriterSetup(choose_notices)
        setup.engine.start()
        async with asyncio.timeout(60):
            await scenario(setup)
            await setup.engine.stop()
        return setup

    setup = asyncio.run(main())
    assert list(setup.journal.verify()) == []
    assert setup.messages == setup.journal.stream(0, 1_000_000)
    return setup


def done(results: Sequence[Outcome | BaseException]) -> list[Outcome]:
    """The outcomes; raises if one of them is an error."""
    assert [result for result in results if isinstance(result, BaseException)] == []
    return [result for result in results if isinstance(result, Outcome)]


# --- batches ----------------------------------------------------------------------------------------------------------


def test_the_outcome_has_the_agent() -> None:
    """With the strategy that found it."""

    async def scenario(setup: WriterSetup) -> None:
        first = await setup.engine.submit(hook("SessionStart"))
        second = await setup.engine.submit(hook("UserPromptSubmit", START + SECOND, prompt="Go."))
        assert (first.strategy, first.agent.state) == (Strategy.NEW, "idle")
        assert (second.strategy, second.agent.state) == (Strategy.MEMORY, "working")
        assert first.agent.id == second.agent.id

    assert run(scenario).journal.batches == [1, 1]


def test_queued_events_share_a_batch() -> None:
    """Under load many events share one commit. Batches have a maximum size, and the order is kept."""
    many = 3 * MAX_BATCH + 5

    async def scenario(setup: WriterSetup) -> None:
        envelopes = [hook("Notification", START + n, session_id=f"s-{n % 7}", cwd=f"/{n % 7}") for n in range(many)]
        outcomes = done(await setup.all(envelopes))
        assert [stored.envelope.id for stored in setup.journal.events(limit=many)] == [one.id for one in envelopes]
        assert len({outcome.agent.id for outcome in outcomes}) == 7

    batches = run(scenario).journal.batches
    assert sum(batches) == many
    assert max(batches) <= MAX_BATCH
    assert len(batches) < 10


def test_a_batch_creates_no_reference_cycles() -> None:
    """Collecting them would stop the daemon for tens of milliseconds."""

    async def scenario(setup: WriterSetup) -> None:
        gc.collect()
        gc.disable()
        try:
            await setup.engine.submit(hook("SessionStart"))
            assert [each for each in gc.get_objects() if isinstance(each, Batch)] == []
        finally:
            gc.enable()

    run(scenario)


def test_events_see_changes_of_earlier_events_in_the_batch() -> None:
    """One session is one agent, and a complete turn ends."""

    async def scenario(setup: WriterSetup) -> None:
        starts = done(await setup.all([hook("SessionStart", START + n) for n in range(50)]))
        assert Counter(outcome.strategy for outcome in starts) == {Strategy.NEW: 1, Strategy.MEMORY: 49}
        turn = [
            hook("UserPromptSubmit", START + SECOND, prompt="Go."),
            hook("PreToolUse", START + 2 * SECOND, tool_name="Bash", tool_use_id="a", tool_input={}),
            hook("PostToolUse", START + 3 * SECOND, tool_name="Bash", tool_use_id="a", tool_input={}),
            hook("Stop", START + 4 * SECOND, last_assistant_message="I went."),
        ]
        outcomes = done(await setup.all(turn))
        assert [outcome.agent.state.value for outcome in outcomes] == ["working", "working", "working", "idle"]

    assert len(run(scenario).journal.agents()) == 1


def test_agents_of_one_batch_have_different_names() -> None:
    """No two running agents have the same name."""

    async def scenario(setup: WriterSetup) -> None:
        taken = next(suggest_names("agent-2"))
        first = await setup.engine.submit(hook("SessionStart", session_id="first", cwd="/first"))
        await setup.engine.submit(renaming(taken), first.agent.id)
        await setup.all([hook("SessionStart", session_id=f"s-{n}", cwd=f"/{n}") for n in range(500)])
        names = [agent.name for agent in setup.journal.agents()]
        assert len(set(names)) == len(names) == 501

    run(scenario)


def test_messages_and_events_share_sequence_numbers() -> None:
    """They increase without repetition."""

    async def scenario(setup: WriterSetup) -> None:
        await setup.all([hook("SessionStart", START + n, session_id=f"s-{n}", cwd=f"/{n}") for n in range(40)])

    setup = run(scenario)
    numbers = sorted([message.seq for message in setup.messages] + [stored.seq for stored in setup.journal.events()])
    assert numbers == list(range(1, len(numbers) + 1))


def test_a_cancelled_submission_is_stored() -> None:
    """A sender that stops waiting has still submitted its event, and others are not affected."""

    async def scenario(setup: WriterSetup) -> None:
        impatient = asyncio.create_task(setup.engine.submit(hook("SessionStart")))
        patient = asyncio.create_task(setup.engine.submit(hook("SessionStart")))
        await asyncio.sleep(0)
        impatient.cancel()
        assert (await patient).agent.state == "idle"

    assert len(run(scenario).journal.events()) == 2


# --- what fails -------------------------------------------------------------------------------------------------------


def test_an_event_that_cannot_be_processed_is_stored() -> None:
    """With the reason. It changes nothing, and the rest of its batch is processed."""

    async def scenario(setup: WriterSetup) -> None:
        await setup.engine.submit(hook("SessionStart"))
        timeless = msgspec.structs.replace(hook("Stop"), fired_at="soon")
        results = done(
            await setup.all(
                [
                    hook("UserPromptSubmit", START + SECOND, prompt="Go."),
                    timeless,
                    hook("SessionStart", session_id="other", cwd="/other"),
                ]
            )
        )
        assert [outcome.agent.state.value for outcome in results] == ["working", "working", "idle"]
        assert [stored.anomaly for stored in setup.journal.events()] == [None, None, "not understood: TypeError", None]
        assert (await setup.engine.submit(hook("Stop", START + 2 * SECOND))).agent.state == "idle"

    assert run(scenario).engine.failure is None


@pytest.mark.parametrize(
    "reason", [JournalUnavailable("disk_full", "The disk is full.", "Make setup."), OSError("the disk is full")]
)
def test_a_failed_batch_changes_nothing(reason: Exception) -> None:
    """All its senders get the error, nothing is published, the writer reports the failure, and the next batch works."""

    async def scenario(setup: WriterSetup) -> None:
        await setup.engine.submit(hook("SessionStart"))
        before = setup.journal.agents()
        setup.journal.broken = reason
        results = await setup.all([hook("UserPromptSubmit", START + SECOND, prompt=f"{n}") for n in range(20)])
        assert all(isinstance(result, JournalUnavailable) for result in results)
        assert all(isinstance(result, HeadspaceError) and result.status == 503 for result in results)
        assert setup.engine.failure is not None
        assert "disk is full" in setup.engine.failure
        assert setup.engine.running
        assert setup.journal.agents() == before
        assert len(setup.messages) == 1
        setup.journal.broken = None
        outcome = await setup.engine.submit(hook("UserPromptSubmit", START + SECOND, prompt="Again."))
        assert (outcome.agent.state, outcome.strategy) == ("working", Strategy.MEMORY)

    setup = run(scenario)
    assert setup.engine.failure is None
    assert len(setup.journal.events()) == 2


def test_an_act_for_a_missing_agent_is_refused() -> None:
    """Its sender gets 404. The rest of its batch is not affected."""

    async def scenario(setup: WriterSetup) -> None:
        wrong, right = await asyncio.gather(
            setup.engine.submit(renaming("bob"), "nobody"),
            setup.engine.submit(hook("SessionStart")),
            return_exceptions=True,
        )
        assert isinstance(wrong, BadRequest)
        assert (wrong.status, wrong.code) == (404, "unknown_agent")
        assert isinstance(right, Outcome)

    assert len(run(scenario).journal.events()) == 1


# --- deliveries -------------------------------------------------------------------------------------------------------


def test_one_delivery_is_one_event() -> None:
    """In one batch and later, copies get the outcome of the first and change nothing."""

    async def scenario(setup: WriterSetup) -> None:
        copies = [hook("UserPromptSubmit", START + n, prompt="Go.", delivery_id="d-1") for n in range(5)]
        outcomes = done(await setup.all(copies[:4]))
        outcomes.append(await setup.engine.submit(copies[4]))
        assert [outcome.duplicate for outcome in outcomes] == [False, True, True, True, True]
        assert len({outcome.agent.id for outcome in outcomes}) == 1
        assert len({outcome.strategy for outcome in outcomes}) == 1
        other = await setup.engine.submit(hook("UserPromptSubmit", START + 9 * SECOND, prompt="Go.", delivery_id="d-2"))
        assert not other.duplicate

    setup = run(scenario)
    assert len(setup.journal.events()) == 2
    assert len(setup.journal.turns()) == 2


def test_a_delivery_of_a_failed_batch_is_not_a_duplicate() -> None:
    """It can be sent again."""

    async def scenario(setup: WriterSetup) -> None:
        setup.journal.broken = OSError("gone")
        (failed,) = await setup.all([hook("SessionStart", delivery_id="d-1")])
        assert isinstance(failed, JournalUnavailable)
        setup.journal.broken = None
        assert not (await setup.engine.submit(hook("SessionStart", delivery_id="d-1"))).duplicate

    assert len(run(scenario).journal.events()) == 1


# --- names ------------------------------------------------------------------------------------------------------------


def renaming(name: str) -> Envelope:
    """The act of a person who renames an agent."""
    asked = hook("AgentRenamed", START + SECOND, origin=Origin.OPERATOR)
    return msgspec.structs.replace(asked, payload=msgspec.json.encode({"name": name}))


def test_a_name_belongs_to_one_agent() -> None:
    """Of two renames in one batch the first succeeds. Later the name is still in use."""

    async def scenario(setup: WriterSetup) -> None:
        starts = [hook("SessionStart", session_id=f"s-{n}", cwd=f"/{n}") for n in range(3)]
        one, two, three = (outcome.agent.id for outcome in done(await setup.all(starts)))
        first, second = await asyncio.gather(
            setup.engine.submit(renaming("bob"), one), setup.engine.submit(renaming("bob"), two), return_exceptions=True
        )
        assert isinstance(first, Outcome)
        assert first.agent.name == "bob"
        for refusal in (
            second,
            *await asyncio.gather(setup.engine.submit(renaming("bob"), three), return_exceptions=True),
        ):
            assert isinstance(refusal, BadRequest)
            assert (refusal.status, refusal.code) == (409, "name_taken")
        assert (await setup.engine.submit(renaming("bob"), one)).agent.name == "bob", "its own name is no conflict"

    setup = run(scenario)
    assert len(setup.journal.agents_by_name("bob")) == 1
    assert len(setup.journal.events()) == 5


def test_the_name_of_an_ended_agent_is_free() -> None:
    """Another agent can get it."""

    async def scenario(setup: WriterSetup) -> None:
        old = await setup.engine.submit(hook("SessionStart", session_id="old", cwd="/old"))
        new = await setup.engine.submit(hook("SessionStart", session_id="new", cwd="/new"))
        await setup.engine.submit(renaming("bob"), old.agent.id)
        await setup.engine.submit(hook("SessionEnd", START + 9 * SECOND, session_id="old", cwd="/old", reason="other"))
        assert (await setup.engine.submit(renaming("bob"), new.agent.id)).agent.name == "bob"

    run(scenario)


# --- stopping ---------------------------------------------------------------------------------------------------------


def test_stopping_finishes_the_queue() -> None:
    """Earlier submissions get their outcome; later ones are refused with a hint."""
    many = 2 * MAX_BATCH + 3

    async def scenario(setup: WriterSetup) -> None:
        waiting = [
            asyncio.create_task(setup.engine.submit(hook("Notification", START + n, session_id=f"s-{n}", cwd=f"/{n}")))
            for n in range(many)
        ]
        await asyncio.sleep(0)
        assert setup.engine.queued > 0
        await setup.engine.stop()
        assert len(done(await asyncio.gather(*waiting))) == many
        assert not setup.engine.running
        with pytest.raises(JournalUnavailable, match="stopping"):
            await setup.engine.submit(hook("SessionStart"))

    async def main() -> WriterSetup:
        setup = WriterSetup()
        setup.engine.start()
        async with asyncio.timeout(60):
            await scenario(setup)
        return setup

    assert len(asyncio.run(main()).journal.events(limit=many * 2)) == many


def test_an_idle_writer_stops() -> None:
    """It has nothing to finish."""

    async def scenario(setup: WriterSetup) -> None:
        assert setup.engine.running
        assert setup.engine.queued == 0

    assert not run(scenario).engine.running


# --- events of nobody -------------------------------------------------------------------------------------------------


def test_a_reused_pane_ends_its_previous_agent() -> None:
    """Another client starts there, in another project. An agent without a known process ends, with the reason."""

    async def scenario(setup: WriterSetup) -> None:
        def begins(session: str, root: str, pid: int | None = None) -> Envelope:
            context = Observations(tmux_pane="%1", project_root=root, client_pid=pid)
            return hook(
                "SessionStart",
                START + len(setup.messages),
                session_id=session,
                cwd=root,
                source="startup",
                observations=context,
            )

        first = await setup.engine.submit(begins("one", "/a"))
        second = await setup.engine.submit(begins("two", "/b", 7))
        gone = setup.journal.agent(first.agent.id)
        assert gone is not None
        assert (gone.ended_at is not None, gone.end_reason) == (True, "another client started in its pane")
        third = await setup.engine.submit(begins("three", "/c", 8))
        assert len({each.agent.id for each in (first, second, third)}) == 3
        there = setup.journal.agent(second.agent.id)
        assert there is not None
        assert there.ended_at is None, "its process is looked after"

    setup = run(scenario)
    assert [message.type for message in setup.messages].count("agent_ended") == 1


def test_a_probe_changes_nothing() -> None:
    """A test event of the doctor is stored once, without an agent, and is not published."""

    async def scenario(setup: WriterSetup) -> None:
        probe = msgspec.structs.replace(hook(PROBE), delivery_id="probe")
        outcomes = done(await setup.all([probe, probe]))
        again = await setup.engine.submit(probe)
        assert [outcome.strategy for outcome in [*outcomes, again]] == [Strategy.NOBODY] * 3
        assert [outcome.duplicate for outcome in [*outcomes, again]] == [False, True, True]
        start = await setup.engine.submit(hook("SessionStart"))
        assert start.strategy is Strategy.NEW

    setup = run(scenario)
    assert [stored.agent_id for stored in setup.journal.events()] == ["", "agent-1"]
    assert len(setup.journal.agents()) == 1
    assert {message.agent_id for message in setup.messages} == {"agent-1"}


def test_repaired_text_is_an_anomaly() -> None:
    """An event whose text had to be repaired has the reason."""

    async def scenario(setup: WriterSetup) -> None:
        envelope = hook("SessionStart")
        context = msgspec.structs.replace(envelope.observations, anomaly="the text was broken")
        await setup.engine.submit(msgspec.structs.replace(envelope, observations=context))

    assert [stored.anomaly for stored in run(scenario).journal.events()] == ["the text was broken"]


# --- session notices --------------------------------------------------------------------------------------------------


def test_session_notices_are_stored_with_the_event() -> None:
    """Only a client that reads the reply gets a notice. Event and agent record it."""
    notice = SessionNotice(texts=("Context at 80%",), context_level=80)

    async def scenario(setup: WriterSetup) -> None:
        reported = await setup.engine.submit(hook("UserPromptSubmit", prompt="One"))
        asked = await setup.engine.submit(
            hook("UserPromptSubmit", prompt="Two"), expects_reply=True, reply_reaches_client=True
        )
        elsewhere = await setup.engine.submit(hook("UserPromptSubmit", prompt="Three"), expects_reply=True)
        assert [each.session_notice for each in (reported, asked, elsewhere)] == [NO_NOTICE, notice, NO_NOTICE]
        assert asked.agent.context_level_reported == 80

    setup = run(scenario, lambda _agent, _event: notice)
    assert [each.envelope.decisions.session_notice for each in setup.journal.events()] == [None, notice, None]


def test_an_error_in_notices_is_an_anomaly() -> None:
    """The event is processed, no notice is sent, and the anomaly has the reason."""

    def fails(_agent: Agent, _event: Event) -> SessionNotice:
        raise ZeroDivisionError

    async def scenario(setup: WriterSetup) -> None:
        outcome = await setup.engine.submit(
            hook("UserPromptSubmit", prompt="One"), expects_reply=True, reply_reaches_client=True
        )
        assert (outcome.session_notice, outcome.agent.state.value) == (NO_NOTICE, "working")

    setup = run(scenario, fails)
    assert [each.anomaly for each in setup.journal.events()] == [f"{NOTICES_FAILED}ZeroDivisionError"]
