"""The loop: batches, their order, what happens to an event or a batch that fails, and how it stops."""

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


class Watched(TemporaryJournal):
    """A journal that counts its batches, and fails when it is told to."""

    def __init__(self) -> None:
        super().__init__()
        self.batches: list[int] = []
        self.broken: Exception | None = None

    async def transact(self, work: Callable[[SqlTransaction], Result]) -> Result:
        """Do work in one batch; fail at the commit if broken."""

        def watched(batch: SqlTransaction) -> Result:
            result = work(batch)
            if self.broken is not None:
                raise self.broken
            return result

        before = self.counts().events
        result = await super().transact(watched)
        self.batches.append(self.counts().events - before)
        return result


class Room:
    """An engine over a watched journal, and what it announced."""

    def __init__(self, choose_notices: ChooseNotices = no_notices) -> None:
        self.journal = Watched()
        self.told: list[StreamMessage] = []
        new_id = iter(map("agent-{}".format, count(1))).__next__
        self.engine = engine_over(self.journal, new_id, self._hear, choose_notices)

    def _hear(self, messages: Sequence[StreamMessage]) -> None:
        stored = {message.seq for message in self.journal.stream(0, 1_000_000)}
        assert {message.seq for message in messages} <= stored, "announced before it was committed"
        self.told += messages

    async def all(self, envelopes: Sequence[Envelope]) -> list[Outcome | BaseException]:
        """Hand them in at once; what came of each."""
        return await asyncio.gather(*map(self.engine.submit, envelopes), return_exceptions=True)


def run(play: Callable[[Room], Awaitable[None]], choose_notices: ChooseNotices = no_notices) -> Room:
    """Play with a running engine, stop it, and check that the projections follow from the log."""

    async def main() -> Room:
        room = Room(choose_notices)
        room.engine.start()
        async with asyncio.timeout(60):
            await play(room)
            await room.engine.stop()
        return room

    room = asyncio.run(main())
    assert list(room.journal.verify()) == []
    assert room.told == room.journal.stream(0, 1_000_000)
    return room


def done(results: Sequence[Outcome | BaseException]) -> list[Outcome]:
    """The outcomes, if all went well."""
    assert [result for result in results if isinstance(result, BaseException)] == []
    return [result for result in results if isinstance(result, Outcome)]


# --- batches ----------------------------------------------------------------------------------------------------------


def test_an_event_is_answered_with_its_agent() -> None:
    """Whoever hands something in learns the agent afterwards and how it was found."""

    async def play(room: Room) -> None:
        first = await room.engine.submit(hook("SessionStart"))
        second = await room.engine.submit(hook("UserPromptSubmit", START + SECOND, prompt="Go."))
        assert (first.strategy, first.agent.state) == (Strategy.NEW, "idle")
        assert (second.strategy, second.agent.state) == (Strategy.MEMORY, "working")
        assert first.agent.id == second.agent.id

    assert run(play).journal.batches == [1, 1]


def test_what_gathers_is_worked_through_together() -> None:
    """Under load many events share one commit, none of them is larger than allowed, and their order is kept."""
    many = 3 * MAX_BATCH + 5

    async def play(room: Room) -> None:
        envelopes = [hook("Notification", START + n, session_id=f"s-{n % 7}", cwd=f"/{n % 7}") for n in range(many)]
        outcomes = done(await room.all(envelopes))
        assert [stored.envelope.id for stored in room.journal.events(limit=many)] == [one.id for one in envelopes]
        assert len({outcome.agent.id for outcome in outcomes}) == 7

    batches = run(play).journal.batches
    assert sum(batches) == many
    assert max(batches) <= MAX_BATCH
    assert len(batches) < 10


def test_a_batch_leaves_nothing_for_the_collector() -> None:
    """A cycle would keep all that a batch worked on, and stop the daemon for tens of milliseconds when it is found."""

    async def play(room: Room) -> None:
        gc.collect()
        gc.disable()
        try:
            await room.engine.submit(hook("SessionStart"))
            assert [each for each in gc.get_objects() if isinstance(each, Batch)] == []
        finally:
            gc.enable()

    run(play)


def test_each_event_sees_what_the_ones_before_it_changed() -> None:
    """In one batch too, one session is one agent and a whole turn comes to its end."""

    async def play(room: Room) -> None:
        starts = done(await room.all([hook("SessionStart", START + n) for n in range(50)]))
        assert Counter(outcome.strategy for outcome in starts) == {Strategy.NEW: 1, Strategy.MEMORY: 49}
        turn = [
            hook("UserPromptSubmit", START + SECOND, prompt="Go."),
            hook("PreToolUse", START + 2 * SECOND, tool_name="Bash", tool_use_id="a", tool_input={}),
            hook("PostToolUse", START + 3 * SECOND, tool_name="Bash", tool_use_id="a", tool_input={}),
            hook("Stop", START + 4 * SECOND, last_assistant_message="I went."),
        ]
        outcomes = done(await room.all(turn))
        assert [outcome.agent.state.value for outcome in outcomes] == ["working", "working", "working", "idle"]

    assert len(run(play).journal.agents()) == 1


def test_agents_that_begin_together_have_different_names() -> None:
    """No two living agents have one name, even if they are born in one batch."""

    async def play(room: Room) -> None:
        taken = next(suggest_names("agent-2"))
        first = await room.engine.submit(hook("SessionStart", session_id="first", cwd="/first"))
        await room.engine.submit(renaming(taken), first.agent.id)
        await room.all([hook("SessionStart", session_id=f"s-{n}", cwd=f"/{n}") for n in range(500)])
        names = [agent.name for agent in room.journal.agents()]
        assert len(set(names)) == len(names) == 501

    run(play)


def test_what_is_announced_is_numbered_in_order() -> None:
    """Numbers rise without repeating, events and announcements together."""

    async def play(room: Room) -> None:
        await room.all([hook("SessionStart", START + n, session_id=f"s-{n}", cwd=f"/{n}") for n in range(40)])

    room = run(play)
    numbers = sorted([message.seq for message in room.told] + [stored.seq for stored in room.journal.events()])
    assert numbers == list(range(1, len(numbers) + 1))


def test_a_sender_that_gives_up_loses_nothing() -> None:
    """Who does not wait for the answer any more has still handed in the event, and nobody else is disturbed."""

    async def play(room: Room) -> None:
        impatient = asyncio.create_task(room.engine.submit(hook("SessionStart")))
        patient = asyncio.create_task(room.engine.submit(hook("SessionStart")))
        await asyncio.sleep(0)
        impatient.cancel()
        assert (await patient).agent.state == "idle"

    assert len(run(play).journal.events()) == 2


# --- what fails -------------------------------------------------------------------------------------------------------


def test_an_event_that_is_not_understood_is_kept() -> None:
    """It is stored as it is, with the reason; it changes nothing, and its batch is not spoiled."""

    async def play(room: Room) -> None:
        await room.engine.submit(hook("SessionStart"))
        timeless = msgspec.structs.replace(hook("Stop"), fired_at="soon")
        results = done(
            await room.all(
                [
                    hook("UserPromptSubmit", START + SECOND, prompt="Go."),
                    timeless,
                    hook("SessionStart", session_id="other", cwd="/other"),
                ]
            )
        )
        assert [outcome.agent.state.value for outcome in results] == ["working", "working", "idle"]
        assert [stored.anomaly for stored in room.journal.events()] == [None, None, "not understood: TypeError", None]
        assert (await room.engine.submit(hook("Stop", START + 2 * SECOND))).agent.state == "idle"

    assert run(play).engine.failure is None


@pytest.mark.parametrize(
    "reason", [JournalUnavailable("disk_full", "The disk is full.", "Make room."), OSError("the disk is full")]
)
def test_a_batch_that_cannot_be_stored_leaves_no_trace(reason: Exception) -> None:
    """Everybody in it is told, nothing is announced, the writer says that it fails, and the next batch works."""

    async def play(room: Room) -> None:
        await room.engine.submit(hook("SessionStart"))
        before = room.journal.agents()
        room.journal.broken = reason
        results = await room.all([hook("UserPromptSubmit", START + SECOND, prompt=f"{n}") for n in range(20)])
        assert all(isinstance(result, JournalUnavailable) for result in results)
        assert all(isinstance(result, HeadspaceError) and result.status == 503 for result in results)
        assert room.engine.failure is not None
        assert "disk is full" in room.engine.failure
        assert room.engine.running
        assert room.journal.agents() == before
        assert len(room.told) == 1
        room.journal.broken = None
        outcome = await room.engine.submit(hook("UserPromptSubmit", START + SECOND, prompt="Again."))
        assert (outcome.agent.state, outcome.strategy) == ("working", Strategy.MEMORY)

    room = run(play)
    assert room.engine.failure is None
    assert len(room.journal.events()) == 2


def test_an_event_for_nobody_is_refused_alone() -> None:
    """A sender that names an agent which is not there gets 404; the others of its batch do not notice."""

    async def play(room: Room) -> None:
        wrong, right = await asyncio.gather(
            room.engine.submit(renaming("bob"), "nobody"),
            room.engine.submit(hook("SessionStart")),
            return_exceptions=True,
        )
        assert isinstance(wrong, BadRequest)
        assert (wrong.status, wrong.code) == (404, "unknown_agent")
        assert isinstance(right, Outcome)

    assert len(run(play).journal.events()) == 1


# --- deliveries -------------------------------------------------------------------------------------------------------


def test_one_delivery_is_one_event() -> None:
    """In one batch and later: the copies get the answer of the first and change nothing."""

    async def play(room: Room) -> None:
        copies = [hook("UserPromptSubmit", START + n, prompt="Go.", delivery_id="d-1") for n in range(5)]
        outcomes = done(await room.all(copies[:4]))
        outcomes.append(await room.engine.submit(copies[4]))
        assert [outcome.duplicate for outcome in outcomes] == [False, True, True, True, True]
        assert len({outcome.agent.id for outcome in outcomes}) == 1
        assert len({outcome.strategy for outcome in outcomes}) == 1
        other = await room.engine.submit(hook("UserPromptSubmit", START + 9 * SECOND, prompt="Go.", delivery_id="d-2"))
        assert not other.duplicate

    room = run(play)
    assert len(room.journal.events()) == 2
    assert len(room.journal.turns()) == 2


def test_a_delivery_that_was_not_stored_may_come_again() -> None:
    """After a failed batch the same delivery is a first one."""

    async def play(room: Room) -> None:
        room.journal.broken = OSError("gone")
        (failed,) = await room.all([hook("SessionStart", delivery_id="d-1")])
        assert isinstance(failed, JournalUnavailable)
        room.journal.broken = None
        assert not (await room.engine.submit(hook("SessionStart", delivery_id="d-1"))).duplicate

    assert len(run(play).journal.events()) == 1


# --- names ------------------------------------------------------------------------------------------------------------


def renaming(name: str) -> Envelope:
    """A person gives a name."""
    asked = hook("AgentRenamed", START + SECOND, origin=Origin.OPERATOR)
    return msgspec.structs.replace(asked, payload=msgspec.json.encode({"name": name}))


def test_a_name_is_given_to_one_only() -> None:
    """Of two who ask for one name in one batch the first gets it; later it is still taken."""

    async def play(room: Room) -> None:
        starts = [hook("SessionStart", session_id=f"s-{n}", cwd=f"/{n}") for n in range(3)]
        one, two, three = (outcome.agent.id for outcome in done(await room.all(starts)))
        first, second = await asyncio.gather(
            room.engine.submit(renaming("bob"), one), room.engine.submit(renaming("bob"), two), return_exceptions=True
        )
        assert isinstance(first, Outcome)
        assert first.agent.name == "bob"
        for refusal in (
            second,
            *await asyncio.gather(room.engine.submit(renaming("bob"), three), return_exceptions=True),
        ):
            assert isinstance(refusal, BadRequest)
            assert (refusal.status, refusal.code) == (409, "name_taken")
        assert (await room.engine.submit(renaming("bob"), one)).agent.name == "bob", "its own name is no conflict"

    room = run(play)
    assert len(room.journal.agents_by_name("bob")) == 1
    assert len(room.journal.events()) == 5


def test_the_name_of_an_ended_agent_is_free() -> None:
    """Names are for the living."""

    async def play(room: Room) -> None:
        old = await room.engine.submit(hook("SessionStart", session_id="old", cwd="/old"))
        new = await room.engine.submit(hook("SessionStart", session_id="new", cwd="/new"))
        await room.engine.submit(renaming("bob"), old.agent.id)
        await room.engine.submit(hook("SessionEnd", START + 9 * SECOND, session_id="old", cwd="/old", reason="other"))
        assert (await room.engine.submit(renaming("bob"), new.agent.id)).agent.name == "bob"

    run(play)


# --- stopping ---------------------------------------------------------------------------------------------------------


def test_stopping_finishes_what_was_handed_in() -> None:
    """Everybody who handed something in before is answered; whoever comes later is told to come again."""
    many = 2 * MAX_BATCH + 3

    async def play(room: Room) -> None:
        waiting = [
            asyncio.create_task(room.engine.submit(hook("Notification", START + n, session_id=f"s-{n}", cwd=f"/{n}")))
            for n in range(many)
        ]
        await asyncio.sleep(0)
        assert room.engine.queued > 0
        await room.engine.stop()
        assert len(done(await asyncio.gather(*waiting))) == many
        assert not room.engine.running
        with pytest.raises(JournalUnavailable, match="stopping"):
            await room.engine.submit(hook("SessionStart"))

    async def main() -> Room:
        room = Room()
        room.engine.start()
        async with asyncio.timeout(60):
            await play(room)
        return room

    assert len(asyncio.run(main()).journal.events(limit=many * 2)) == many


def test_an_idle_engine_stops_too() -> None:
    """There is nothing to finish."""

    async def play(room: Room) -> None:
        assert room.engine.running
        assert room.engine.queued == 0

    assert not run(play).engine.running


# --- events of nobody -------------------------------------------------------------------------------------------------


def test_a_reused_pane_ends_the_agent_before() -> None:
    """Another client begins there, in another project: whoever had no known process is gone, with the reason."""

    async def play(room: Room) -> None:
        def begins(session: str, root: str, pid: int | None = None) -> Envelope:
            context = Observations(tmux_pane="%1", project_root=root, client_pid=pid)
            return hook(
                "SessionStart",
                START + len(room.told),
                session_id=session,
                cwd=root,
                source="startup",
                observations=context,
            )

        first = await room.engine.submit(begins("one", "/a"))
        second = await room.engine.submit(begins("two", "/b", 7))
        gone = room.journal.agent(first.agent.id)
        assert gone is not None
        assert (gone.ended_at is not None, gone.end_reason) == (True, "another client started in its pane")
        third = await room.engine.submit(begins("three", "/c", 8))
        assert len({each.agent.id for each in (first, second, third)}) == 3
        there = room.journal.agent(second.agent.id)
        assert there is not None
        assert there.ended_at is None, "its process is looked after"

    room = run(play)
    assert [message.type for message in room.told].count("agent_ended") == 1


def test_a_probe_is_kept_and_changes_nothing() -> None:
    """A test of the way in is one event in the log, of no agent, announced to nobody, however often it is delivered."""

    async def play(room: Room) -> None:
        probe = msgspec.structs.replace(hook(PROBE), delivery_id="probe")
        outcomes = done(await room.all([probe, probe]))
        again = await room.engine.submit(probe)
        assert [outcome.strategy for outcome in [*outcomes, again]] == [Strategy.NOBODY] * 3
        assert [outcome.duplicate for outcome in [*outcomes, again]] == [False, True, True]
        start = await room.engine.submit(hook("SessionStart"))
        assert start.strategy is Strategy.NEW

    room = run(play)
    assert [stored.agent_id for stored in room.journal.events()] == ["", "agent-1"]
    assert len(room.journal.agents()) == 1
    assert {message.agent_id for message in room.told} == {"agent-1"}


def test_what_was_broken_in_the_text_is_noted() -> None:
    """An event whose text had to be repaired says so."""

    async def play(room: Room) -> None:
        envelope = hook("SessionStart")
        context = msgspec.structs.replace(envelope.observations, anomaly="the text was broken")
        await room.engine.submit(msgspec.structs.replace(envelope, observations=context))

    assert [stored.anomaly for stored in run(play).journal.events()] == ["the text was broken"]


# --- what a session is told -------------------------------------------------------------------------------------------


def test_what_a_session_is_told_stands_with_the_event() -> None:
    """Only a client that reads the answer is told anything; the journal knows, and so does the agent."""
    spoken = SessionNotice(texts=("Context at 80%",), context_level=80)

    async def play(room: Room) -> None:
        told = await room.engine.submit(hook("UserPromptSubmit", prompt="One"))
        asked = await room.engine.submit(
            hook("UserPromptSubmit", prompt="Two"), expects_reply=True, reply_reaches_client=True
        )
        elsewhere = await room.engine.submit(hook("UserPromptSubmit", prompt="Three"), expects_reply=True)
        assert [each.session_notice for each in (told, asked, elsewhere)] == [NO_NOTICE, spoken, NO_NOTICE]
        assert asked.agent.context_level_reported == 80

    room = run(play, lambda _agent, _event: spoken)
    assert [each.envelope.decisions.session_notice for each in room.journal.events()] == [None, spoken, None]


def test_a_mistake_leaves_the_session_in_peace_and_its_mark() -> None:
    """The event is stored and understood, nothing is said, and the anomaly tells that something went wrong."""

    def fails(_agent: Agent, _event: Event) -> SessionNotice:
        raise ZeroDivisionError

    async def play(room: Room) -> None:
        outcome = await room.engine.submit(
            hook("UserPromptSubmit", prompt="One"), expects_reply=True, reply_reaches_client=True
        )
        assert (outcome.session_notice, outcome.agent.state.value) == (NO_NOTICE, "working")

    room = run(play, fails)
    assert [each.anomaly for each in room.journal.events()] == [f"{NOTICES_FAILED}ZeroDivisionError"]
