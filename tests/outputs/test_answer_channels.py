"""Answer channels: which waits can be answered, and what becomes of an answer."""

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import msgspec
import pytest

from claude_headspace.engine.changes import ChangePublisher
from claude_headspace.engine.writer import EventWriter
from claude_headspace.errors import BadRequest
from claude_headspace.kernel.acts import WaitAnswered
from claude_headspace.kernel.agent import Agent, Wait
from claude_headspace.kernel.envelope import Origin
from claude_headspace.kernel.wait.answers import Answer
from claude_headspace.outputs import answer_channels
from claude_headspace.outputs.answer_channels import AnswerChannels
from claude_headspace.testing import ManualClock, hook
from tests.journals import TemporaryJournal

LIMIT = 30.0
COMMAND: dict[str, Any] = {"tool_name": "Bash", "tool_input": {"command": "make test"}}
ALLOW = Answer(decision="allow")
CLOSED = "The channel is closed."


class Channel:
    """A channel that remembers what it delivered."""

    def __init__(self) -> None:
        self.is_open = True
        self.delivered: list[Answer] = []
        self.failure: Exception | None = None
        self.hangs = False

    def find_obstacle(self, agent: Agent, wait: Wait) -> str | None:
        """Whether the channel is open."""
        return None if self.is_open and agent.waits == (wait,) else CLOSED

    async def deliver(self, agent: Agent, wait: Wait, answer: Answer) -> None:
        """Keep the answer, fail or hang."""
        assert wait in agent.waits
        if self.failure is not None:
            raise self.failure
        if self.hangs:
            await asyncio.Event().wait()
        self.delivered.append(answer)


class OneByOne(Channel):
    """A channel to a client that shows one dialog at a time."""

    def __init__(self) -> None:
        super().__init__()
        self.shown: int = 0

    def find_obstacle(self, agent: Agent, wait: Wait) -> str | None:
        """Every dialog could be answered."""
        return None

    async def find_shown_obstacle(self, agent: Agent, wait: Wait) -> str | None:
        """Only one of them is shown."""
        return None if agent.waits.index(wait) == self.shown else CLOSED


class Desk:
    """An agent with a permission dialog, and the channels of its machine."""

    def __init__(self, host: str, channel: Channel | None = None) -> None:
        self.journal, self.clock = TemporaryJournal(), ManualClock()
        self.channel = channel or Channel()
        changes = ChangePublisher()
        self.engine = EventWriter(self.journal, changes, "laptop", self.clock)
        self.is_complete = True
        self.denial_ends_turn = False
        self.channels = AnswerChannels(
            self.journal,
            self.engine,
            self.clock,
            {"claude-code": self.channel, "codex": self.channel},
            host,
            lambda _wait: self.is_complete,
            lambda _client: self.denial_ends_turn,
        )
        changes.on_agent(self.channels.update_agent)
        changes.on_messages(self.channels.receive, types={"wait_answered"})

    async def send(self, name: str, **payload: Any) -> None:
        """The client runs a hook."""
        await self.engine.submit(hook(name, self.clock.advance(1), **payload))

    async def ask(self) -> None:
        """The client shows a dialog."""
        await self.send("UserPromptSubmit", prompt="Fix it")
        await self.send("PermissionRequest", **COMMAND)

    @property
    def wait(self) -> Wait:
        """The newest wait, open or closed."""
        return self.journal.waits(only_open=False)[-1]

    async def until(self, condition: Callable[[], bool]) -> None:
        """Wait until a condition is true."""
        async with asyncio.timeout(LIMIT):
            while True:
                if condition():
                    return
                await asyncio.sleep(0.005)

    async def until_held(self) -> None:
        """Wait until the wait can be answered."""
        await self.until(lambda: self.wait.held_until > self.clock())

    async def answer(self, answer: Answer = ALLOW) -> None:
        """A person answers."""
        raw = msgspec.Raw(msgspec.json.encode(answer))
        act = WaitAnswered(wait_id=self.wait.id, by="ann", via="page", words="allowed", answer=raw)
        await self.engine.record(act, self.wait.agent_id)

    def names(self) -> list[str]:
        """The names of the events after the first."""
        return [event.envelope.name for event in self.journal.events(limit=100)][1:]


def run(story: Callable[[Desk], Awaitable[None]], host: str = "laptop", channel: Channel | None = None) -> None:
    """Run a scenario with running channels, and check that the projections follow from the log."""

    async def main() -> None:
        desk = Desk(host, channel)
        desk.engine.start()
        await desk.engine.submit(hook("SessionStart", desk.clock()))
        desk.channels.start()
        await story(desk)
        await desk.channels.stop()
        await desk.engine.stop()
        assert list(desk.journal.verify()) == []

    asyncio.run(main())


def test_an_answer_is_delivered_and_closes_the_wait() -> None:
    """The wait is held, the channel gets the complete answer, and the wait closes with the words of the answer."""

    async def story(desk: Desk) -> None:
        await desk.ask()
        await desk.until_held()
        await desk.answer(Answer(decision="deny", message="not now"))
        await desk.until(lambda: desk.wait.closed_at is not None)
        assert desk.channel.delivered == [Answer(decision="deny", message="not now")]
        assert desk.wait.resolution == "allowed by ann"
        assert desk.journal.agents()[0].state == "working"

    run(story)


def is_shown(desk: Desk, expected: list[tuple[int, str]]) -> bool:
    """Whether the open waits can be answered as expected, or say why they cannot."""
    return [(int(wait.held_until > 0), wait.obstacle) for wait in desk.journal.agents()[0].waits] == expected


def test_of_several_dialogs_the_shown_one_can_be_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    """The others say why they cannot be answered yet. It is checked again which one is shown."""
    monkeypatch.setattr(answer_channels, "SHOWN_SECONDS", 0.02)
    monkeypatch.setattr(answer_channels, "SETTLE_SECONDS", 0.02)

    async def story(desk: Desk) -> None:
        await desk.ask()
        await desk.send("PermissionRequest", tool_name="Bash", tool_input={"command": "make all"})
        for shown in (1, 0):
            channel.shown = shown
            expected = [(0, CLOSED), (1, "")] if shown else [(1, ""), (0, CLOSED)]
            await desk.until(partial(is_shown, desk, expected))

    channel = OneByOne()
    run(story, channel=channel)


def test_a_wait_that_the_channel_does_not_accept_is_not_held() -> None:
    """It is held when the channel accepts it, and released when the channel accepts it no longer."""

    async def story(desk: Desk) -> None:
        desk.channel.is_open = False
        await desk.ask()
        desk.channels.check_soon()
        await asyncio.sleep(0.05)
        assert desk.wait.held_until == 0
        desk.channel.is_open = True
        desk.channels.check_soon()
        await desk.until_held()
        desk.channel.is_open = False
        desk.channels.check_soon()
        await desk.until(lambda: desk.wait.held_until == 0)
        assert (desk.wait.undelivered, desk.wait.obstacle) == (None, CLOSED)
        assert desk.names()[-2:] == ["WaitHeld", "WaitReleased"]

    run(story)


@pytest.mark.parametrize(
    ("failure", "problem"),
    [
        (BadRequest("gone", "The dialog is gone.", "Answer it in the terminal."), "The dialog is gone."),
        (OSError("broken pipe"), "The answer could not be given to the client."),
    ],
)
def test_an_answer_that_cannot_be_delivered_is_recorded(failure: Exception, problem: str) -> None:
    """The wait stays open, shows the lost answer and why it was lost, and can be answered again."""

    async def story(desk: Desk) -> None:
        desk.channel.failure = failure
        await desk.ask()
        await desk.until_held()
        await desk.answer()
        await desk.until(lambda: desk.wait.undelivered is not None)
        assert desk.wait.closed_at is None
        assert desk.wait.undelivered is not None
        assert desk.wait.undelivered.problem == problem
        assert desk.wait.answered is None
        assert desk.wait.held_until > desk.clock()
        desk.channel.failure = None
        await desk.answer()
        await desk.until(lambda: desk.wait.closed_at is not None)
        assert desk.channel.delivered == [ALLOW]

    run(story)


def test_a_wait_is_released_if_the_channel_closes_while_an_answer_is_lost() -> None:
    """Then only the terminal can answer, and the wait says why."""

    async def story(desk: Desk) -> None:
        await desk.ask()
        await desk.until_held()
        desk.channel.is_open, desk.channel.failure = False, BadRequest("gone", "It is gone.", "")
        await desk.answer()
        await desk.until(lambda: desk.wait.undelivered is not None and desk.wait.held_until == 0)
        assert desk.wait.obstacle == CLOSED

    run(story)


def test_after_a_denial_the_report_of_the_client_counts() -> None:
    """If the client ends its turn, the agent is not shown as working before, nor afterwards."""

    async def story(desk: Desk) -> None:
        desk.denial_ends_turn = True
        await desk.ask()
        await desk.until_held()
        await desk.answer(Answer(decision="deny"))
        await desk.until(lambda: bool(desk.channel.delivered))
        await desk.send("Stop")
        await desk.until(lambda: "WaitTaken" in desk.names())
        assert desk.names()[-2:] == ["Stop", "WaitTaken"]
        assert desk.journal.agents()[0].state == "idle"

    run(story)


def test_why_a_wait_cannot_be_answered_is_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Once, if it is still so after a moment. It is forgotten when the wait can be answered."""
    monkeypatch.setattr(answer_channels, "SETTLE_SECONDS", 0.01)

    async def story(desk: Desk) -> None:
        desk.channel.is_open = False
        await desk.ask()
        await desk.until(lambda: desk.wait.obstacle == CLOSED)
        desk.channels.check_soon()
        desk.channel.is_open = True
        desk.channels.check_soon()
        await desk.until_held()
        assert desk.wait.obstacle == ""
        assert desk.names().count("WaitReleased") == 1

    run(story)


def test_a_delivery_that_hangs_is_recorded_as_undelivered(monkeypatch: pytest.MonkeyPatch) -> None:
    """The person learns that the client did not get the answer."""
    monkeypatch.setattr(answer_channels, "DELIVERY_SECONDS", 0.01)

    async def story(desk: Desk) -> None:
        desk.channel.hangs = True
        await desk.ask()
        await desk.until_held()
        await desk.answer()
        await desk.until(lambda: desk.wait.undelivered is not None)

    run(story)


@pytest.mark.parametrize(("answer", "delivered"), [(ALLOW, False), (Answer(decision="deny"), True)])
def test_a_request_that_is_not_complete_can_only_be_denied(answer: Answer, *, delivered: bool) -> None:
    """Nobody could see what would be allowed."""

    async def story(desk: Desk) -> None:
        desk.is_complete = False
        await desk.ask()
        await desk.until_held()
        await desk.answer(answer)
        await desk.until(lambda: desk.wait.closed_at is not None or desk.wait.undelivered is not None)
        assert desk.channel.delivered == ([answer] if delivered else [])

    run(story)


def test_an_answer_in_the_terminal_ends_the_wait() -> None:
    """Nothing is delivered."""

    async def story(desk: Desk) -> None:
        await desk.ask()
        await desk.until_held()
        await desk.send("PostToolUse", **COMMAND)
        assert desk.wait.closed_at is not None
        assert (desk.wait.held_until, desk.channel.delivered) == (0, [])

    run(story)


def test_open_waits_are_found_at_the_start() -> None:
    """A wait that opened while the daemon was down can be answered."""

    async def story(desk: Desk) -> None:
        await desk.channels.stop()
        await desk.ask()
        restarted = AnswerChannels(desk.journal, desk.engine, desk.clock, {"claude-code": Channel()}, "laptop")
        restarted.load()
        restarted.start()
        await desk.until_held()
        await restarted.stop()

    run(story)


def test_a_daemon_of_another_machine_holds_nothing() -> None:
    """Only the agent's machine can give the client an answer."""

    async def story(desk: Desk) -> None:
        await desk.ask()
        desk.channels.check_soon()
        await asyncio.sleep(0.05)
        assert desk.wait.held_until == 0

    run(story, host="server")


def test_a_question_in_a_text_is_not_held() -> None:
    """No dialog is open: only a prompt answers it."""

    async def story(desk: Desk) -> None:
        await desk.send("UserPromptSubmit", prompt="Fix it")
        await desk.send("Stop", last_assistant_message="Which database should the tests use?")
        assert desk.wait.asked_in_text
        desk.channels.check_soon()
        await asyncio.sleep(0.05)
        assert desk.wait.held_until == 0

    run(story)


def test_a_plan_in_a_text_says_why_it_cannot_be_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    """The client shows a dialog for it, which the channel knows."""
    monkeypatch.setattr(answer_channels, "SETTLE_SECONDS", 0.01)
    end = {"type": "event_msg", "payload": {"type": "task_complete", "turn_id": "t"}}
    plan = msgspec.json.encode({"session_id": "planner", "plan": "1. Go.", "line": end})

    async def story(desk: Desk) -> None:
        desk.channel.is_open = False
        prompt = hook("UserPromptSubmit", desk.clock.advance(1), session_id="planner", prompt="Plan it")
        line = hook("TranscriptLine", desk.clock.advance(1), origin=Origin.TRANSCRIPT)
        for each in (prompt, msgspec.structs.replace(line, payload=plan)):
            await desk.engine.submit(msgspec.structs.replace(each, client="codex"))
        assert (desk.wait.kind, desk.wait.asked_in_text) == ("plan", True)
        await desk.until(lambda: desk.wait.obstacle == CLOSED)

    run(story)
