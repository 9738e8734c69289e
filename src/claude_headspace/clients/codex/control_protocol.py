"""The messages of Codex's control socket: JSON-RPC without the version field. Pure and total.

The shared daemon of Codex has the socket. A client that connects hears of every thread when it starts, changes its
status and closes. A client that subscribes to a thread (`thread/resume`) also gets its approvals as requests, and also
those that are open already. All clients that have such a request may answer it; the first answer counts.

Unknown messages and fields are ignored.
"""

from typing import Any

import msgspec

from claude_headspace.clients.codex.grants import Suggestion
from claude_headspace.kernel.tolerant_json import UNREADABLE

RequestId = int | str

WAITING_ON_APPROVAL = "waitingOnApproval"
CLOSED, VANISHED = "closed", "vanished"
"""The status of a thread that is closed: Codex has a notification of its own for that, or its daemon is gone."""
APPROVALS = {"item/commandExecution/requestApproval": "command", "item/fileChange/requestApproval": "file"}
"""The requests for an approval, and what is to be approved."""
FILE_DECISIONS = ("accept", "acceptForSession", "decline", "cancel")
"""The decisions about a file change: the request does not list them."""
PLAIN_DECISIONS = ("accept", "decline", "cancel")
"""The decisions that grant nothing beyond this call."""


class Status(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """What a thread does: idle, active, systemError or notLoaded; while it is active also what it waits for."""

    type: str = ""
    active_flags: tuple[str, ...] = ()


class Thread(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True, kw_only=True):
    """A thread: a session of Codex, or a sub-agent of one."""

    id: str = ""
    parent_thread_id: str | None = None
    ephemeral: bool = False
    """It makes a title or a prediction, and nobody sees it."""
    cwd: str | None = None
    status: Status = Status()
    answered_call: str = ""
    """Added by Headspace: the call whose dialog was answered in the terminal, while the thread shows another one."""

    @property
    def is_session(self) -> bool:
        """Whether it is a session of a person."""
        return bool(self.id) and not self.ephemeral and not self.parent_thread_id

    @property
    def session_id(self) -> str:
        """The session that it is, or whose sub-agent it is."""
        return self.parent_thread_id or self.id

    @property
    def waits_for_approval(self) -> bool:
        """Whether it shows an approval dialog."""
        return WAITING_ON_APPROVAL in self.status.active_flags


class Approval(msgspec.Struct, frozen=True, kw_only=True):
    """An open request for an approval."""

    request_id: RequestId
    thread_id: str
    turn_id: str
    call_id: str
    suggestions: tuple[Suggestion, ...] = ()
    """What can be granted beyond this call."""


class Message(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """A message of the daemon: a response has no method, a notification no id."""

    method: str = ""
    id: RequestId | None = None
    params: Any = None
    result: Any = None
    error: Any = None
    emitted_at_ms: int = 0

    def param(self, name: str) -> Any:
        """A parameter by its name; None if there is none."""
        return self.params.get(name) if isinstance(self.params, dict) else None


class _ApprovalParams(msgspec.Struct, frozen=True, rename="camel"):
    thread_id: str
    turn_id: str = ""
    item_id: str = ""
    available_decisions: list[Any] | None = None


def read_message(text: str | bytes) -> Message | None:
    """A message of the daemon; None if it is something else."""
    try:
        return msgspec.json.decode(text, type=Message)
    except UNREADABLE:
        return None


def write_request(request_id: RequestId, method: str, params: dict[str, Any]) -> str:
    """A request to the daemon."""
    return msgspec.json.encode({"id": request_id, "method": method, "params": params}).decode()


def write_notification(method: str) -> str:
    """A notification for the daemon."""
    return msgspec.json.encode({"method": method}).decode()


def write_decision(request_id: RequestId, decision: object) -> str:
    """The answer to a request for an approval."""
    return msgspec.json.encode({"id": request_id, "result": {"decision": decision}}).decode()


def read_thread(value: object) -> Thread | None:
    """A thread as the daemon describes it; None if it is something else."""
    try:
        return msgspec.convert(value, Thread)
    except UNREADABLE:
        return None


def read_status(value: object) -> Status:
    """The status of a thread; one without a type if it is something else."""
    try:
        return msgspec.convert(value, Status)
    except UNREADABLE:
        return Status()


def read_approval(message: Message) -> Approval | None:
    """The request for an approval in a message; None if it is another message."""
    kind = APPROVALS.get(message.method)
    if kind is None or message.id is None:
        return None
    try:
        params = msgspec.convert(message.params, _ApprovalParams)
    except UNREADABLE:
        return None
    decisions = FILE_DECISIONS if kind == "file" else params.available_decisions or ()
    return Approval(
        request_id=message.id,
        thread_id=params.thread_id,
        turn_id=params.turn_id,
        call_id=params.item_id,
        suggestions=tuple(Suggestion(kind=kind, decision=each) for each in decisions if each not in PLAIN_DECISIONS),
    )
