"""Answer channels: they give an answer to a client whose hooks cannot be held, while its own dialog stays usable.

A client has a channel if something else than a hook can answer its dialogs: a socket, or keys in its terminal.

Rules
- An open wait that the channel of its client accepts is recorded as held (`WaitHeld`): every surface shows it as
  answerable. When the channel accepts it no longer, it is recorded as released (`WaitReleased`).
- Of several waits of a client that shows one dialog at a time, only that of the shown dialog is answerable.
- The first answer wins. An answer in the terminal closes the wait like any other.
- The answer counts as received when the channel has delivered it (`WaitTaken`). If a denial ends the turn, the report
  of the client is awaited first: the agent must not be shown as working in between.
- An answer that could not be delivered is recorded as undelivered, with the reason. The wait stays open, and can be
  answered again if the channel still accepts it.
- Each answer gets a result, also if the wait was closed in the terminal meanwhile: the person is waiting for it.
- Why a wait cannot be answered is recorded, too, if that is still so after a moment: some clients open their dialog
  later than they report it.
- A request of which Headspace did not keep everything is not allowed: nobody could see all of it.
- Only the daemon on the agent's machine holds and delivers.
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import Protocol, runtime_checkable

import msgspec
import structlog

from claude_headspace.background import Loop
from claude_headspace.errors import HeadspaceError
from claude_headspace.kernel.acts import WaitHeld, WaitReleased, WaitTaken
from claude_headspace.kernel.agent import Agent, Wait
from claude_headspace.kernel.envelope import SECOND, Micros
from claude_headspace.kernel.text import count
from claude_headspace.kernel.wait.answers import Answer
from claude_headspace.outputs.held_hooks import find_answer
from claude_headspace.ports import Clock, Reader, Recorder, StreamMessage

log = structlog.get_logger(__name__)

MESSAGE_TYPE = "wait_answered"
HOLD: Micros = 7 * 24 * 3600 * SECOND
"""How long a wait is recorded as answerable. The channel does not limit it."""
DELIVERY_SECONDS = 20.0
"""How long a delivery may take."""
RETRY_SECONDS = 2.0
SHOWN_SECONDS = 1.0
"""How often it is checked which one of several dialogs a client shows."""
REPORT_SECONDS = 3.0
"""How long a client may take to report that a denial ended its turn."""
POLL_SECONDS = 0.05
SETTLE_SECONDS = 2.0
"""How long a new wait may be without an answer channel before the reason is recorded."""
CLOSED = "The dialog was closed in the terminal."


class AnswerChannel(Protocol):
    """One way to give answers to one client."""

    def find_obstacle(self, agent: Agent, wait: Wait) -> str | None:
        """Why this wait cannot be answered now, as a sentence for people; None if it can. Returns at once."""

    async def deliver(self, agent: Agent, wait: Wait, answer: Answer) -> None:
        """Give the client the answer, and return when the client has it.

        Raises a `HeadspaceError`, with what to do, if the client could not be given the answer.
        """


@runtime_checkable
class GrantingChannel(AnswerChannel, Protocol):
    """A channel whose answers can grant more than one call."""

    def suggestions(self, agent: Agent, wait: Wait) -> str:
        """What can be granted with the answer, in the client's format (`clients/requests.py`)."""


@runtime_checkable
class OneByOneChannel(AnswerChannel, Protocol):
    """A channel to a client that shows one dialog at a time, although it reports several."""

    async def find_shown_obstacle(self, agent: Agent, wait: Wait) -> str | None:
        """Why a wait cannot be answered yet, if several are open; None if the client shows its dialog."""


class AnswerChannels(Loop):
    """All channels, by the name of their client."""

    def __init__(
        self,
        reader: Reader,
        recorder: Recorder,
        clock: Clock,
        channels: Mapping[str, AnswerChannel],
        host: str,
        is_complete: Callable[[Wait], bool] = lambda _wait: True,
        denial_ends_turn: Callable[[str], bool] = lambda _client: False,
    ) -> None:
        super().__init__()
        self._denial_ends_turn = denial_ends_turn
        """Whether a denial ends the turn of a client."""
        self._is_complete = is_complete
        """Whether people can see all of a request."""
        self._reader = reader
        self._recorder = recorder
        self._clock = clock
        self._channels = channels
        self._host = host
        self._agents: dict[str, Agent] = {}
        """The agents with open waits and a channel, as last committed."""
        self._settled: dict[str, bool] = {}
        """Waits that could not be answered when they were checked: whether that was a moment ago."""
        self._deliveries: dict[str, asyncio.Task[None]] = {}
        self._changed = asyncio.Event()
        self._is_check_due = False

    def health(self) -> tuple[bool, str | None, str]:
        """Whether it runs, why it fails, and how many waits can be answered through a channel."""
        held = sum(1 for agent in self._agents.values() for wait in agent.waits if wait.held_until)
        return self.running, self.failure, count(held, "request")

    # --- changes ---

    def update_agent(self, agent: Agent) -> None:
        """An agent changed. No-op for agents of other machines, and of clients without a channel."""
        if agent.host != self._host or agent.client not in self._channels:
            return
        if agent.waits:
            self._agents[agent.id] = agent
            self._changed.set()
        elif (before := self._agents.pop(agent.id, None)) is not None:
            for wait in before.waits:
                self._settled.pop(wait.id, None)

    def check_soon(self) -> None:
        """Something that a channel depends on changed: ask again what each one accepts."""
        self._changed.set()

    def receive(self, messages: Iterable[StreamMessage]) -> None:
        """Process stream messages: deliver the answers to waits that are held here."""
        for message in messages:
            if message.type == MESSAGE_TYPE and message.agent_id in self._agents:
                wait_id = msgspec.json.decode(message.data, type=_Id).id
                if wait_id not in self._deliveries:
                    self._deliver_soon(wait_id)

    def load(self) -> None:
        """Find the open waits, at the start."""
        for agent in self._reader.agents():
            self.update_agent(agent)

    async def stop(self) -> None:
        """Stop. A delivery that is cut off is recorded as undelivered at the next start."""
        await super().stop()
        for delivery in self._deliveries.values():
            delivery.cancel()
        await asyncio.gather(*self._deliveries.values(), return_exceptions=True)

    # --- holding ---

    async def _run(self) -> None:
        while True:
            await self._changed.wait()
            self._changed.clear()
            try:
                for agent_id, wait_id in self._open_waits():
                    await self._check(agent_id, wait_id)
                self.failure = None
            except Exception as error:  # the journal is unavailable, or a bug: it is tried again
                log.warning("answer_channels_failed", exc_info=True)
                self.failure = str(error)
                self._changed.set()
                await asyncio.sleep(RETRY_SECONDS)

    def _open_waits(self) -> list[tuple[str, str]]:
        return [(agent.id, wait.id) for agent in self._agents.values() for wait in agent.waits]

    async def _check(self, agent_id: str, wait_id: str) -> None:
        """Hold or release a wait if that changed, as it was last committed."""
        agent = self._agents.get(agent_id)
        wait = next((each for each in agent.waits if each.id == wait_id), None) if agent is not None else None
        if agent is None or wait is None or wait.answered is not None or wait_id in self._deliveries:
            return
        obstacle = await self._find_obstacle(agent, wait)
        if obstacle is None and not wait.held_until:
            until, channel = self._clock() + HOLD, self._channels[agent.client]
            offered = channel.suggestions(agent, wait) if isinstance(channel, GrantingChannel) else ""
            await self._recorder.record(WaitHeld(wait_id=wait_id, until=until, suggestions=offered), agent_id)
        elif obstacle is not None and (wait.held_until or (obstacle != wait.obstacle and self._is_settled(wait_id))):
            await self._recorder.record(WaitReleased(wait_id=wait_id, reason=obstacle), agent_id)

    async def _find_obstacle(self, agent: Agent, wait: Wait) -> str | None:
        """Why a wait cannot be answered. Empty for a question in a text, which has no dialog: a prompt answers it."""
        if wait.asked_in_text and wait.kind == "question":
            return ""
        channel = self._channels[agent.client]
        obstacle = channel.find_obstacle(agent, wait)
        dialogs = sum(1 for each in agent.waits if not each.asked_in_text)
        if obstacle is not None or dialogs < 2 or not isinstance(channel, OneByOneChannel):
            return obstacle
        self._check_again()
        return await channel.find_shown_obstacle(agent, wait)

    def _check_again(self) -> None:
        """Check all waits again in a moment: what a client shows changes without an event."""
        if not self._is_check_due:
            self._is_check_due = True
            asyncio.get_running_loop().call_later(SHOWN_SECONDS, self._check_now)

    def _check_now(self) -> None:
        self._is_check_due = False
        self._changed.set()

    def _is_settled(self, wait_id: str) -> bool:
        """Whether a wait was checked a moment ago. If this is the first time, it is checked again in a moment."""
        if wait_id not in self._settled:
            self._settled[wait_id] = False
            asyncio.get_running_loop().call_later(SETTLE_SECONDS, self._settle, wait_id)
        return self._settled[wait_id]

    def _settle(self, wait_id: str) -> None:
        if wait_id in self._settled:
            self._settled[wait_id] = True
            self._changed.set()

    # --- delivering ---

    def _deliver_soon(self, wait_id: str) -> None:
        delivery = asyncio.create_task(self._deliver(wait_id), name="deliver answer")
        self._deliveries[wait_id] = delivery
        delivery.add_done_callback(lambda _done: self._end_delivery(wait_id))

    def _end_delivery(self, wait_id: str) -> None:
        self._deliveries.pop(wait_id, None)
        self._changed.set()

    async def _deliver(self, wait_id: str) -> None:
        wait = await asyncio.to_thread(self._reader.wait, wait_id)
        if wait is None:
            return
        reason = CLOSED if wait.closed_at is not None else await self._try_to_deliver(wait)
        with suppress(HeadspaceError):  # the daemon stops: the next start records it
            if reason is None:
                await self._record_taken(wait)
            else:
                log.warning("answer_undelivered", wait=wait_id, reason=reason)
                lost = WaitReleased(wait_id=wait_id, undelivered=True, reason=reason, until=wait.held_until)
                await self._recorder.record(lost, wait.agent_id)

    async def _record_taken(self, wait: Wait) -> None:
        agent = self._agents.get(wait.agent_id)
        answer = await asyncio.to_thread(find_answer, self._reader, wait)
        is_denial = answer is not None and answer.decision == "deny"
        if is_denial and agent is not None and self._denial_ends_turn(agent.client):
            await self._wait_for_report(wait.id)
        await self._recorder.record(WaitTaken(wait_id=wait.id), wait.agent_id)

    async def _wait_for_report(self, wait_id: str) -> None:
        """Give the client a moment to report what closes the wait."""
        for _ in range(round(REPORT_SECONDS / POLL_SECONDS)):
            if await asyncio.to_thread(self._is_closed, wait_id):
                return
            await asyncio.sleep(POLL_SECONDS)

    def _is_closed(self, wait_id: str) -> bool:
        wait = self._reader.wait(wait_id)
        return wait is None or wait.closed_at is not None

    async def _try_to_deliver(self, wait: Wait) -> str | None:
        """Deliver the answer. Returns why that failed; None if the client has it."""
        try:
            answer = await asyncio.to_thread(find_answer, self._reader, wait)
            agent = await asyncio.to_thread(self._reader.agent, wait.agent_id)
            if answer is None or agent is None:
                return "The answer was not found."
            if answer.allows and not await asyncio.to_thread(self._is_complete, wait):
                return "The request is so long that Headspace did not keep all of it."
            async with asyncio.timeout(DELIVERY_SECONDS):
                await self._channels[agent.client].deliver(agent, wait, answer)
        except HeadspaceError as refusal:
            return refusal.message
        except TimeoutError:
            return "The client did not react in time."
        except Exception:  # whatever happened: the person must learn that the client did not get the answer
            log.exception("delivery_failed", wait=wait.id)
            return "The answer could not be given to the client."
        return None


class _Id(msgspec.Struct):
    id: str = ""
