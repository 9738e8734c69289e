"""The prompt queue: when a pending prompt is sent, and that it is sent once."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from claude_headspace.engine.changes import ChangePublisher
from claude_headspace.engine.writer import EventWriter
from claude_headspace.kernel.acts import PromptCancelled, PromptScheduled, TextTyped
from claude_headspace.kernel.agent import Agent
from claude_headspace.kernel.envelope import SECOND
from claude_headspace.kernel.pending_prompts import PendingPrompt, schedule_delivery, send_delivery
from claude_headspace.outputs.prompt_queue import ENDED, INTERRUPTED, OBSTACLES, START_DELAY, UNCONFIRMED, PromptQueue
from claude_headspace.outputs.tmux import Refused
from claude_headspace.testing import ManualClock, hook
from tests.journals import TemporaryJournal

LIMIT = 30.0


class Sender:
    """Records what is sent, as `TerminalInput` does: the act first, then the text."""

    def __init__(self, engine: EventWriter) -> None:
        self._engine = engine
        self.sent: list[str] = []
        self.refusal: Refused | None = None
        self.fails_while_typing = False
        self.confirms = True
        self.reported: list[str] = []

    async def send(self, agent: Agent, prompt: PendingPrompt, text: str) -> bool | None:
        """Type a text, unless it is refused."""
        if self.refusal is not None:
            raise self.refusal
        act = TextTyped(text=text, prompt_id=prompt.id)
        if (await self._engine.record(act, agent.id, delivery_id=send_delivery(prompt.id))).duplicate:
            return None
        if self.fails_while_typing:
            raise Refused("gone", "The pane is gone.", "")
        self.sent.append(text)
        return self.confirms

    async def was_received(self, _agent: Agent, text: str, _after: int) -> bool:
        """Whether the client reported it."""
        return text in self.reported


class Desk:
    """An agent and the queue of its machine."""

    def __init__(self, host: str = "laptop") -> None:
        self.journal, self.clock = TemporaryJournal(), ManualClock()
        self.changes = ChangePublisher()
        self.engine = EventWriter(self.journal, self.changes, "laptop", self.clock)
        self.sender = Sender(self.engine)
        self.queue = PromptQueue(self.journal, self.engine, self.clock, host, self.sender, retry_seconds=0.005)
        self.changes.on_agent(self.queue.update_agent)

    @property
    def agent(self) -> Agent:
        """The only agent."""
        return self.journal.agents(ended_after=0)[0]

    @property
    def pending(self) -> list[tuple[str, str]]:
        """The ids of the pending prompts, and why each waits or failed."""
        return [(each.id, each.problem or each.obstacle) for each in self.agent.pending_prompts]

    async def fire(self, name: str, **payload: Any) -> None:
        """The client runs a hook."""
        await self.engine.submit(hook(name, self.clock.advance(1), **payload))

    async def schedule(self, prompt_id: str, text: str, **more: Any) -> None:
        """A person schedules a prompt."""
        act = PromptScheduled(prompt_id=prompt_id, text=text, summary=text, **more)
        await self.engine.record(act, self.agent.id, delivery_id=schedule_delivery(prompt_id))

    async def until(self, condition: Callable[[], bool]) -> None:
        """Wait until a condition is true. Time passes meanwhile."""
        async with asyncio.timeout(LIMIT):
            while not condition():
                self.clock.advance(0.5)
                await asyncio.sleep(0.005)

    def count(self, name: str) -> int:
        """How many events have this name."""
        return sum(1 for event in self.journal.events(limit=100) if event.envelope.name == name)


def run(story: Callable[[Desk], Awaitable[None]], host: str = "laptop") -> None:
    """Run a scenario with a running queue, and check that the projections follow from the log."""

    async def main() -> None:
        desk = Desk(host)
        desk.engine.start()
        await desk.fire("SessionStart")
        desk.queue.start()
        desk.clock.advance(START_DELAY / SECOND)
        await story(desk)
        await desk.queue.stop()
        await desk.engine.stop()
        assert list(desk.journal.verify()) == []

    asyncio.run(main())


def test_a_prompt_is_sent_when_the_turn_has_ended() -> None:
    """While the agent works, the prompt waits; afterwards it is sent once and leaves the queue."""

    async def story(desk: Desk) -> None:
        await desk.fire("UserPromptSubmit", prompt="Work.")
        await desk.schedule("p1", "Then test it.")
        for _ in range(20):
            desk.clock.advance(1)
            await asyncio.sleep(0.002)
        assert (desk.sender.sent, desk.pending) == ([], [("p1", "")])
        await desk.fire("Stop", last_assistant_message="Done.")
        await desk.until(lambda: not desk.pending)
        assert desk.sender.sent == ["Then test it."]
        assert desk.count("PromptFinished") == 1

    run(story)


def test_prompts_are_sent_one_per_turn_in_their_order() -> None:
    """The second one waits until the agent is idle after the first."""

    async def story(desk: Desk) -> None:
        await desk.fire("UserPromptSubmit", prompt="Work.")
        await desk.schedule("p1", "First.")
        await desk.schedule("p2", "Second.")
        await desk.fire("Stop", last_assistant_message="Done.")
        desk.sender.refusal = Refused("in_use", "Someone types.", "")
        await desk.until(lambda: desk.pending[0][1] != "")
        assert desk.pending == [("p1", OBSTACLES["in_use"]), ("p2", "")]
        desk.sender.refusal = None
        await desk.until(lambda: bool(desk.sender.sent))
        assert desk.sender.sent == ["First."]
        await desk.fire("UserPromptSubmit", prompt="First.")
        await desk.fire("Stop", last_assistant_message="Done.")
        await desk.until(lambda: not desk.pending)
        assert desk.sender.sent == ["First.", "Second."]

    run(story)


def test_a_question_keeps_the_prompt_waiting() -> None:
    """The prompt would be taken for the answer."""

    async def story(desk: Desk) -> None:
        await desk.fire("UserPromptSubmit", prompt="Work.")
        await desk.schedule("p1", "Go on.")
        await desk.fire("Stop", last_assistant_message="Which database should I use?")
        for _ in range(20):
            desk.clock.advance(1)
            await asyncio.sleep(0.002)
        assert (desk.sender.sent, desk.pending) == ([], [("p1", "")])

    run(story)


async def stop_by_error(desk: Desk) -> None:
    """A turn that ends with a rate limit."""
    await desk.fire("UserPromptSubmit", prompt="Work.")
    await desk.fire("StopFailure", error="rate_limit")


def test_a_retry_is_sent_when_its_time_has_come() -> None:
    """Until then the agent stays stopped; other prompts wait until it is idle."""

    async def story(desk: Desk) -> None:
        await stop_by_error(desk)
        await desk.schedule("other", "Unrelated.")
        await desk.schedule("retry", "Work.", not_before=desk.clock() + 60 * SECOND, after_error=True)
        desk.clock.advance(55)
        for _ in range(20):
            await asyncio.sleep(0.002)
        assert desk.sender.sent == []
        await desk.until(lambda: desk.pending == [("other", "")])
        assert desk.sender.sent == ["Work."]

    run(story)


def test_a_retry_is_cancelled_if_the_agent_continues_without_it() -> None:
    """A prompt of the user has made it obsolete."""

    async def story(desk: Desk) -> None:
        await stop_by_error(desk)
        await desk.schedule("retry", "Work.", not_before=desk.clock() + 3600 * SECOND, after_error=True)
        await desk.fire("UserPromptSubmit", prompt="Work.")
        await desk.until(lambda: not desk.pending)
        await desk.fire("Stop", last_assistant_message="Done.")
        assert (desk.sender.sent, desk.count("PromptCancelled")) == ([], 1)

    run(story)


def test_a_cancelled_prompt_is_not_sent() -> None:
    """Cancelling and typing have the same delivery id: the first one counts."""

    async def story(desk: Desk) -> None:
        await desk.fire("UserPromptSubmit", prompt="Work.")
        await desk.schedule("p1", "Never.")
        await desk.engine.record(PromptCancelled(prompt_id="p1"), desk.agent.id, delivery_id=send_delivery("p1"))
        await desk.fire("Stop", last_assistant_message="Done.")
        late = PendingPrompt(id="p1", summary="Never.", at=0)
        assert await desk.sender.send(desk.agent, late, "Never.") is None
        assert (desk.sender.sent, desk.pending) == ([], [])

    run(story)


def test_an_unconfirmed_prompt_stays_visible_and_is_not_repeated() -> None:
    """It was typed, so it may have arrived: nothing is typed again."""

    async def story(desk: Desk) -> None:
        desk.sender.confirms = False
        await desk.schedule("p1", "Maybe.")
        await desk.until(lambda: desk.pending == [("p1", UNCONFIRMED)])
        await desk.schedule("p2", "Next.")
        await desk.until(lambda: desk.sender.sent == ["Maybe.", "Next."])

    run(story)


def test_a_failure_while_typing_is_final() -> None:
    """The act is stored before the text is typed; a second attempt could type a part of it twice."""

    async def story(desk: Desk) -> None:
        desk.sender.fails_while_typing = True
        await desk.schedule("p1", "Half.")
        await desk.until(lambda: desk.pending == [("p1", "The pane is gone.")])
        assert desk.count("TextTyped") == 1

    run(story)


def test_an_obstacle_is_recorded_once() -> None:
    """However often it is tried, the log has one entry per reason."""

    async def story(desk: Desk) -> None:
        desk.sender.refusal = Refused("draft", "calm-otter has a draft: “secret”.", "")
        await desk.schedule("p1", "Later.")
        await desk.until(lambda: desk.pending == [("p1", OBSTACLES["draft"])])
        for _ in range(30):
            desk.clock.advance(20)
            await asyncio.sleep(0.002)
        assert desk.count("PromptDelayed") == 1
        desk.sender.refusal = None
        await desk.until(lambda: not desk.pending)
        assert desk.sender.sent == ["Later."]

    run(story)


def test_the_prompts_of_an_ended_agent_are_given_up() -> None:
    """A conversation that is resumed later does not begin with an old prompt."""

    async def story(desk: Desk) -> None:
        await desk.fire("UserPromptSubmit", prompt="Work.")
        await desk.schedule("p1", "Too late.")
        await desk.fire("SessionEnd", reason="prompt_input_exit")
        await desk.until(lambda: desk.pending == [("p1", ENDED)])
        assert desk.sender.sent == []

    run(story)


def test_another_machine_does_not_send() -> None:
    """Only the daemon of the agent's machine can type."""

    async def story(desk: Desk) -> None:
        await desk.schedule("p1", "Elsewhere.")
        for _ in range(20):
            desk.clock.advance(1)
            await asyncio.sleep(0.002)
        assert (desk.sender.sent, desk.pending) == ([], [("p1", "")])

    run(story, host="desktop")


def test_a_restarted_daemon_sends_what_waits_and_settles_what_was_typed() -> None:
    """A prompt that was typed before is not typed again, whether or not it arrived."""

    async def story(desk: Desk) -> None:
        await desk.queue.stop()
        await desk.schedule("arrived", "One.")
        await desk.schedule("lost", "Two.")
        await desk.schedule("waiting", "Three.")
        for prompt_id in ("arrived", "lost"):
            await desk.engine.record(
                TextTyped(prompt_id=prompt_id), desk.agent.id, delivery_id=send_delivery(prompt_id)
            )
        desk.sender.reported = ["One."]
        again = PromptQueue(desk.journal, desk.engine, desk.clock, "laptop", desk.sender, retry_seconds=0.005)
        desk.changes.on_agent(again.update_agent)
        again.load()
        again.start()
        await desk.until(lambda: desk.pending == [("lost", INTERRUPTED)])
        assert desk.sender.sent == ["Three."]
        await again.stop()

    run(story)
