"""Remote actions: what only the daemon on the agent's machine can do (type text, press a key), requested anywhere.

If the agent runs on this machine, the action is done immediately. Otherwise, on a journal that several daemons share,
it is recorded as an event of the agent (`RemoteActionRequested`). The daemon of the agent's machine gets it from the
stream, accepts it (`RemoteActionAccepted`), does it as if it had been requested locally, and records the result
(`RemoteActionFinished`) for the requester.

Rules
- An action is accepted or cancelled, never both: the two events share one delivery id, so the first one counts. A
  requester can rely on the reply "not done", and nothing is done again after a restart.
- Only actions that are published while a daemon runs are done. One that is found late, because its requester could not
  cancel it, is refused.
- Requests and results are read from the log by their delivery id. The stream only signals that they exist.
"""

import asyncio
import uuid
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import suppress
from typing import Any, TypeVar

import msgspec
import structlog

from claude_headspace.errors import HeadspaceError, JournalUnavailable
from claude_headspace.kernel.acts import (
    RemoteAct,
    RemoteActionAccepted,
    RemoteActionCancelled,
    RemoteActionFinished,
    RemoteActionRequested,
)
from claude_headspace.kernel.agent import Agent
from claude_headspace.kernel.envelope import SECOND, Micros
from claude_headspace.outputs.pane_input import require_local
from claude_headspace.outputs.tmux import Refused
from claude_headspace.ports import Clock, Journal, Recorder, StoredEvent, StreamMessage

log = structlog.get_logger(__name__)

MESSAGE_TYPE = "errand_moved"
ACCEPT_OR_CANCEL = "turn"
"""The step of both events in their delivery id: only the first of them is stored."""
ACCEPT_SECONDS = 5.0
"""How long the other daemon has to accept: more than twice the longest delay of the stream."""
FINISH_SECONDS = 45.0
"""How long an action may take, since others may be typing to the same agent. Requesters wait a minute at most."""
MAX_AGE: Micros = 60 * SECOND
"""An older request is refused. The clocks of two machines may differ by nearly as much."""

Output = TypeVar("Output", bound=msgspec.Struct)


class Action(msgspec.Struct, frozen=True, omit_defaults=True):
    """What to do, and who requested it through what."""

    what: str
    by: str
    via: str
    text: str = ""
    id: str = ""
    """The requester's own id: the same one is done once."""
    keep_draft: bool = False
    """Whether a draft in the input box is put aside and restored."""
    force: bool = False
    """Whether a client is ended with signals at once."""
    when_idle: bool = False
    """Whether it is a pending prompt: it is refused unless the agent is idle."""
    after_error: bool = False
    """Whether it continues a turn that an error stopped: it is refused unless the agent is still stopped."""


Handler = Callable[[Agent, Action], Awaitable[Any]]
"""Does one kind of action on this machine."""


class Refusal(msgspec.Struct, frozen=True):
    """Why an action was not done, for the requester as if it had been refused locally."""

    code: str
    message: str
    hint: str
    status: int


class Result(msgspec.Struct, frozen=True, omit_defaults=True):
    """The output of the handler, or the refusal."""

    done: msgspec.Raw = msgspec.Raw(b"null")
    refusal: Refusal | None = None


class _StepMessage(msgspec.Struct):
    id: str
    step: str
    host: str


class _Request:
    """A request of this daemon that is not finished."""

    def __init__(self) -> None:
        self.accepted, self.finished = asyncio.Event(), asyncio.Event()

    def receive(self, step: str) -> None:
        if step in ("taken", "done"):
            self.accepted.set()
        if step == "done":
            self.finished.set()


class RemoteActions:
    """Does actions where they can be done."""

    def __init__(
        self,
        journal: Journal,
        recorder: Recorder,
        clock: Clock,
        host: str,
        handlers: Mapping[str, Handler],
        timeouts: tuple[float, float] = (ACCEPT_SECONDS, FINISH_SECONDS),
    ) -> None:
        self._journal = journal
        self._recorder = recorder
        self._clock = clock
        self._host = host
        self._handlers = handlers
        self._accept_seconds, self._finish_seconds = timeouts
        self._requests: dict[str, _Request] = {}
        self._running: set[asyncio.Task[None]] = set()

    async def do(self, agent: Agent, action: Action, output: type[Output]) -> Output:
        """Do an action here or on the agent's machine. Returns its output, or raises why it was not done."""
        if agent.host != self._host and self._journal.is_shared:
            return msgspec.json.decode(await self._request(agent, action), type=output)
        require_local(agent, self._host)
        done: Output = await self._handlers[action.what](agent, action)
        return done

    # --- requesting ---

    async def _request(self, agent: Agent, action: Action) -> msgspec.Raw:
        action_id = uuid.uuid4().hex
        request = self._requests[action_id] = _Request()
        try:
            await self._record(RemoteActionRequested(errand_id=action_id, errand=_raw(action)), agent.id, "asked")
            if not await _wait(self._accept_seconds, request.accepted):
                await self._cancel(agent, action_id)
            await _wait(self._finish_seconds, request.finished)
            return await self._output(agent, action_id)
        finally:
            del self._requests[action_id]

    async def _cancel(self, agent: Agent, action_id: str) -> None:
        """Cancel a request, unless it has just been accepted."""
        try:
            is_accepted = await self._record(RemoteActionCancelled(errand_id=action_id), agent.id, ACCEPT_OR_CANCEL)
        except JournalUnavailable as error:
            raise _no_result(agent) from error
        if not is_accepted:
            raise Refused(
                "host_away",
                f"The daemon on {agent.host} did not accept the request in time. It was cancelled.",
                f"{agent.name} runs on {agent.host}. Start the daemon there with `headspace up`, then try again.",
            )

    async def _output(self, agent: Agent, action_id: str) -> msgspec.Raw:
        event = await asyncio.to_thread(self._journal.event_by_delivery, _delivery(action_id, "done"))
        if event is None:
            raise _no_result(agent)
        result = msgspec.json.decode(_content(event), type=Result)
        if (refusal := result.refusal) is not None:
            raise HeadspaceError(refusal.code, refusal.message, refusal.hint, status=refusal.status)
        return result.done

    # --- doing ---

    def receive(self, messages: Iterable[StreamMessage]) -> None:
        """Stream messages: a step of an own request, or a request for this machine."""
        for message in messages:
            if message.type == MESSAGE_TYPE:
                data = msgspec.json.decode(message.data, type=_StepMessage)
                if (request := self._requests.get(data.id)) is not None:
                    request.receive(data.step)
                if (data.step, data.host) == ("asked", self._host):
                    self._start(message.agent_id, data.id)

    def _start(self, agent_id: str, action_id: str) -> None:
        task = asyncio.create_task(self._run(agent_id, action_id), name=f"remote action {action_id}")
        self._running.add(task)
        task.add_done_callback(self._running.discard)

    async def _run(self, agent_id: str, action_id: str) -> None:
        """Do a requested action, unless it was cancelled."""
        with suppress(JournalUnavailable):  # the requester cancels it, or reports that the result is unknown
            event = await asyncio.to_thread(self._journal.event_by_delivery, _delivery(action_id, "asked"))
            if event is None or await self._record(
                RemoteActionAccepted(errand_id=action_id), agent_id, ACCEPT_OR_CANCEL
            ):
                return
            result = await self._result(agent_id, event)
            await self._record(RemoteActionFinished(errand_id=action_id, errand=_raw(result)), agent_id, "done")

    async def _result(self, agent_id: str, event: StoredEvent) -> Result:
        try:
            action = msgspec.json.decode(_content(event), type=Action)
            agent = await self._check(agent_id, action, self._clock() - event.envelope.fired_at)
            return Result(done=_raw(await self._handlers[action.what](agent, action)))
        except HeadspaceError as error:
            return Result(refusal=Refusal(error.code, error.message, error.hint, error.status))
        except Exception:  # a bug here is reported to the requester as if it had happened there
            log.exception("remote_action_failed", agent=agent_id)
            return Result(
                refusal=Refusal("bug", f"Internal error on {self._host}.", "See `headspace logs` there.", 500)
            )

    async def _check(self, agent_id: str, action: Action, age: Micros) -> Agent:
        """The agent, if the action can be done here and now."""
        agent = await asyncio.to_thread(self._journal.agent, agent_id)
        if agent is None:
            raise Refused("unknown_agent", "The agent does not exist any more.", "See `headspace list`.")
        require_local(agent, self._host)
        if age > MAX_AGE:
            raise Refused(
                "too_old",
                f"The request is {age // SECOND} seconds old by the clock of {self._host}. Nothing was done.",
                "Try again. If that does not help, synchronize the clocks of both machines.",
            )
        if action.what not in self._handlers:
            raise Refused(
                "unknown_errand", f"The daemon on {self._host} does not support {action.what}.", "Upgrade it."
            )
        return agent

    async def stop(self) -> None:
        """Cancel running actions; their requesters report that the result is unknown."""
        for task in self._running:
            task.cancel()
        await asyncio.gather(*self._running, return_exceptions=True)

    async def _record(self, act: RemoteAct, agent_id: str, step: str) -> bool:
        """Record a step; whether it was recorded before. Accepting and cancelling are the same step."""
        delivery_id = _delivery(act.errand_id, step)
        return (await self._recorder.record(act, agent_id, delivery_id=delivery_id)).duplicate


def _delivery(action_id: str, step: str) -> str:
    return f"errand-{action_id}-{step}"


def _raw(content: object) -> msgspec.Raw:
    return msgspec.Raw(msgspec.json.encode(content))


def _content(event: StoredEvent) -> msgspec.Raw:
    return msgspec.json.decode(event.envelope.payload, type=RemoteAct).errand


def _no_result(agent: Agent) -> Refused:
    return Refused(
        "no_word",
        f"The daemon on {agent.host} has not reported a result. The action may have been done.",
        f"Check {agent.name} before you try again.",
    )


async def _wait(seconds: float, event: asyncio.Event) -> bool:
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await event.wait()
    return event.is_set()
