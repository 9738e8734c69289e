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
    """A journal that others write to as well: what they announce must be read from the stream."""

    def __init__(self) -> None:
        super().__init__()
        self.is_shared = True


class Said(msgspec.Struct, frozen=True):
    """The output of a handler."""

    text: str


class Machine:
    """One of several on a journal; it receives every message, unless it is deaf."""

    def __init__(self, team: "Team", name: str, patience: tuple[float, float] = (LIMIT, LIMIT)) -> None:
        self._team, self._name = team, name
        self.is_deaf = False
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

    async def ask(self, action: Action = HELLO) -> Said:
        """Have something typed to the team's agent."""
        return await self.actions.do(self._team.agent, action, Said)


class Team:
    """An agent of a laptop, and machines on one journal."""

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
        """The one."""
        return self.journal.agents()[0]

    @property
    def log(self) -> list[str]:
        """What was done about it."""
        return [event.envelope.name for event in self.journal.events(limit=100)][1:]

    def _follow(self, _agent: Agent) -> None:
        """Publish what is new in the journal, as the follower of a shared journal does."""
        messages = self.journal.stream(self._published, 1_000)
        self._published = messages[-1].seq if messages else self._published
        self._publish(messages)

    def _publish(self, messages: Sequence[StreamMessage]) -> None:
        for machine in self.machines:
            if not machine.is_deaf:
                machine.actions.receive(messages)

    def tell_again(self) -> None:
        """Everybody reads the whole stream, as after a time without the database."""
        self._publish(self.journal.stream(0, 1_000))


def play(story: Callable[[Team], Awaitable[None]], journal: TemporaryJournal | None = None) -> None:
    """Play with a running engine; the log explains what is shown."""

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


async def settled() -> None:
    """What has begun has had its time."""
    await asyncio.sleep(0.1)


async def until(condition: Callable[[], bool]) -> None:
    """It comes about."""
    async with asyncio.timeout(LIMIT):
        while True:
            if condition():
                return
            await asyncio.sleep(0.01)


def test_it_is_done_where_the_agent_runs() -> None:
    """The asker gets the answer of the hand, and nobody else lifts one."""

    async def story(team: Team) -> None:
        laptop, page, other = (Machine(team, name) for name in ("laptop", "page", "other"))
        assert await page.ask() == await laptop.ask() == Said("ann said Hello.")
        assert (laptop.typed, page.typed, other.typed) == (["Hello."] * 2, [], [])
        assert team.log == ["ErrandAsked", "ErrandTaken", "ErrandDone"]

    play(story)


def test_what_was_given_up_is_not_done_when_it_is_heard_of() -> None:
    """The machine was away; then it reads all that it missed, twice."""

    async def story(team: Team) -> None:
        page, laptop = Machine(team, "page", SOON), Machine(team, "laptop")
        laptop.is_deaf = True
        with pytest.raises(HeadspaceError, match="laptop did not accept the request") as refused:
            await page.ask()
        assert refused.value.code == "host_away"
        laptop.is_deaf = False
        team.tell_again()
        team.tell_again()
        await settled()
        assert (laptop.typed, team.log) == ([], ["ErrandAsked", "ErrandGivenUp"])

    play(story)


def test_what_was_done_is_not_done_again() -> None:
    """Whoever reads the stream again, or begins anew, finds that it was taken up."""

    async def story(team: Team) -> None:
        page, laptop = Machine(team, "page"), Machine(team, "laptop")
        await page.ask()
        again = Machine(team, "laptop")
        team.tell_again()
        await settled()
        assert (laptop.typed, again.typed) == (["Hello."], [])

    play(story)


def test_an_asker_that_hears_nothing_finds_it_in_the_log() -> None:
    """It cannot give up what was taken up, and tells what came of it."""

    async def story(team: Team) -> None:
        page, _laptop = Machine(team, "page", (1.0, 1.0)), Machine(team, "laptop")
        page.is_deaf = True
        assert await page.ask() == Said("ann said Hello.")

    play(story)


def test_nobody_pretends_to_know() -> None:
    """It was taken up, and no word came back in time: it may be done."""

    async def story(team: Team) -> None:
        page, laptop = Machine(team, "page", (LIMIT, 0.05)), Machine(team, "laptop")
        laptop.hangs.clear()
        with pytest.raises(HeadspaceError, match="may have been done") as silent:
            await page.ask()
        assert silent.value.code == "no_word"

    play(story)


def test_an_old_action_is_refused() -> None:
    """Nobody gave it up, since its asker was killed; what is found an hour later is not typed."""

    async def story(team: Team) -> None:
        page, laptop = Machine(team, "page"), Machine(team, "laptop")
        laptop.is_deaf = True
        killed = asyncio.ensure_future(page.ask())
        await until(lambda: team.log == ["ErrandAsked"])
        killed.cancel()
        laptop.is_deaf = False
        team.clock.advance(3600)
        team.tell_again()
        await until(lambda: team.log == ["ErrandAsked", "ErrandTaken", "ErrandDone"])
        assert laptop.typed == []

    play(story)


def test_a_hand_that_refuses_or_fails_says_so_at_both_ends() -> None:
    """What the machine does not know how to do, and a mistake there, are errors for whoever asked."""

    async def story(team: Team) -> None:
        page, laptop = Machine(team, "page"), Machine(team, "laptop")
        with pytest.raises(HeadspaceError, match="does not support dance"):
            await page.ask(Action("dance", "ann", "cli"))

        async def fail(_agent: Agent, _action: Action) -> Said:
            raise ZeroDivisionError

        laptop.handlers["send"] = fail
        with pytest.raises(HeadspaceError, match="Internal error") as bug:
            await page.ask()
        assert (bug.value.code, bug.value.status) == ("bug", 500)

    play(story)


def test_where_nobody_else_can_be_it_is_refused_at_once() -> None:
    """A journal of its own has no other daemons: an agent of another name is out of reach."""

    async def story(team: Team) -> None:
        desktop = Machine(team, "desktop")
        with pytest.raises(HeadspaceError, match="runs on laptop") as refused:
            await desktop.ask()
        assert (refused.value.code, refused.value.status, team.log) == ("elsewhere", 409, [])

    play(story, TemporaryJournal())
