"""Remote actions from one machine to another: accepted or cancelled, never both, and done once."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

import msgspec
import pytest

from claude_headspace.engine.changes import ChangePublisher
from claude_headspace.engine.remote_actions import Action, Handler, RemoteActions
from claude_headspace.engine.writer import EventWriter
from claude_headspace.errors import HeadspaceError
from claude_headspace.kernel.agent import Agent
from claude_headspace.ports import StreamMessage
from claude_headspace.testing import ManualClock, hook
from tests.journals import TemporaryJournal

HELLO = Action("send", "ann", "cli", "Hello.")
LIMIT = 60.0
SOON = (0.05, 0.05)


class SharedJournal(TemporaryJournal):
    """A journal that others write to as well: their messages must be read from the stream."""

    def __init__(self) -> None:
        super().__init__()
        self.is_shared = True


class Said(msgspec.Struct, frozen=True):
    """The output of a handler."""

    text: str


class Machine:
    """One of several machines on a journal. It receives every message, unless it is disconnected."""

    def __init__(self, team: "Team", name: str, patience: tuple[float, float] = (LIMIT, LIMIT)) -> None:
        self._team, self._name = team, name
        self.is_disconnected = False
        self.typed: list[str] = []
        self.hangs = asyncio.Event()
        self.hangs.set()
        self.handlers: dict[str, Handler] = {"send": self._type}
        self.actions = RemoteActions(team.journal, team.engine, team.clock, name, self.handlers, patience)
        team.machines.append(self)

    async def _type(self, _agent: Agent, action: Action) -> Said:
        self.typed.append(action.text)
        await self.hangs.wait()
        return Said(f"{action.by} said {action.text}")

    async def request(self, action: Action = HELLO) -> Said:
        """Request a text for the team's agent."""
        return await self.actions.do(self._team.agent, action, Said)


class Team:
    """The agent of a laptop, and several machines on one journal."""

    def __init__(self, journal: TemporaryJournal) -> None:
        self.journal = journal
        self.clock = ManualClock()
        self.machines: list[Machine] = []
        self._published = 0
        changes = ChangePublisher()
        changes.on_agent(self._follow)
        self.engine = EventWriter(journal, changes, "laptop", self.clock)

    @property
    def agent(self) -> Agent:
        """The only agent."""
        return self.journal.agents()[0]

    @property
    def log(self) -> list[str]:
        """The recorded steps."""
        return [event.envelope.name for event in self.journal.events(limit=100)][1:]

    def _follow(self, _agent: Agent) -> None:
        """Publish what is new in the journal, as the follower of a shared journal does."""
        messages = self.journal.stream(self._published, 1_000)
        self._published = messages[-1].seq if messages else self._published
        self._publish(messages)

    def _publish(self, messages: Sequence[StreamMessage]) -> None:
        for machine in self.machines:
            if not machine.is_disconnected:
                machine.actions.receive(messages)

    def publish_again(self) -> None:
        """All machines read the whole stream, as after an outage of the database."""
        self._publish(self.journal.stream(0, 1_000))


def run(story: Callable[[Team], Awaitable[None]], journal: TemporaryJournal | None = None) -> None:
    """Run a scenario with a running engine, and check that the projections follow from the log."""

    async def main() -> None:
        team = Team(journal or SharedJournal())
        team.engine.start()
        await team.engine.submit(hook("SessionStart", host="laptop"))
        await story(team)
        for machine in team.machines:
            await machine.actions.stop()
        await team.engine.stop()
        assert list(team.journal.verify()) == []

    asyncio.run(main())


async def settle() -> None:
    """Wait until started work has had time to finish."""
    await asyncio.sleep(0.1)


async def until(condition: Callable[[], bool]) -> None:
    """Wait until a condition is true."""
    async with asyncio.timeout(LIMIT):
        while True:
            if condition():
                return
            await asyncio.sleep(0.01)


def test_an_action_is_done_where_the_agent_runs() -> None:
    """The requester gets the result, and no other machine does it."""

    async def story(team: Team) -> None:
        laptop, page, other = (Machine(team, name) for name in ("laptop", "page", "other"))
        assert await page.request() == await laptop.request() == Said("ann said Hello.")
        assert (laptop.typed, page.typed, other.typed) == (["Hello."] * 2, [], [])
        assert team.log == ["ErrandAsked", "ErrandTaken", "ErrandDone"]

    run(story)


def test_a_cancelled_action_is_not_done_later() -> None:
    """The machine was disconnected and then reads all missed messages, twice."""

    async def story(team: Team) -> None:
        page, laptop = Machine(team, "page", SOON), Machine(team, "laptop")
        laptop.is_disconnected = True
        with pytest.raises(HeadspaceError, match="laptop did not accept the request") as refused:
            await page.request()
        assert refused.value.code == "host_away"
        laptop.is_disconnected = False
        team.publish_again()
        team.publish_again()
        await settle()
        assert (laptop.typed, team.log) == ([], ["ErrandAsked", "ErrandGivenUp"])

    run(story)


def test_an_accepted_action_is_done_once() -> None:
    """Reading the stream again, or after a restart, finds that it was accepted."""

    async def story(team: Team) -> None:
        page, laptop = Machine(team, "page"), Machine(team, "laptop")
        await page.request()
        again = Machine(team, "laptop")
        team.publish_again()
        await settle()
        assert (laptop.typed, again.typed) == (["Hello."], [])

    run(story)


def test_a_requester_without_messages_reads_the_result_from_the_log() -> None:
    """It cannot cancel an accepted action, and gets its result."""

    async def story(team: Team) -> None:
        page, _laptop = Machine(team, "page", (1.0, 1.0)), Machine(team, "laptop")
        page.is_disconnected = True
        assert await page.request() == Said("ann said Hello.")

    run(story)


def test_an_accepted_action_without_a_result_is_uncertain() -> None:
    """The error says that it may have been done."""

    async def story(team: Team) -> None:
        page, laptop = Machine(team, "page", (LIMIT, 0.05)), Machine(team, "laptop")
        laptop.hangs.clear()
        with pytest.raises(HeadspaceError, match="may have been done") as silent:
            await page.request()
        assert silent.value.code == "no_word"

    run(story)


def test_an_old_action_is_refused() -> None:
    """Its requester was killed before it could cancel. An action that is found an hour later is not done."""

    async def story(team: Team) -> None:
        page, laptop = Machine(team, "page"), Machine(team, "laptop")
        laptop.is_disconnected = True
        killed = asyncio.ensure_future(page.request())
        await until(lambda: team.log == ["ErrandAsked"])
        killed.cancel()
        laptop.is_disconnected = False
        team.clock.advance(3600)
        team.publish_again()
        await until(lambda: team.log == ["ErrandAsked", "ErrandTaken", "ErrandDone"])
        assert laptop.typed == []

    run(story)


def test_errors_of_a_handler_reach_the_requester() -> None:
    """An unknown action, a refusal and an internal error."""

    async def story(team: Team) -> None:
        page, laptop = Machine(team, "page"), Machine(team, "laptop")
        with pytest.raises(HeadspaceError, match="does not support dance"):
            await page.request(Action("dance", "ann", "cli"))

        async def fail(_agent: Agent, _action: Action) -> Said:
            raise ZeroDivisionError

        laptop.handlers["send"] = fail
        with pytest.raises(HeadspaceError, match="Internal error") as bug:
            await page.request()
        assert (bug.value.code, bug.value.status) == ("bug", 500)

    run(story)


def test_a_journal_of_one_daemon_refuses_remote_actions() -> None:
    """An agent of another machine cannot be reached."""

    async def story(team: Team) -> None:
        desktop = Machine(team, "desktop")
        with pytest.raises(HeadspaceError, match="runs on laptop") as refused:
            await desktop.request()
        assert (refused.value.code, refused.value.status, team.log) == ("elsewhere", 409, [])

    run(story, TemporaryJournal())
