"""Acts: what a person or Headspace did to an agent. One type per act.

An act is stored as an event: the type's name is the event's name (exceptions: `STORED_NAMES`), and its fields are the
payload. Most acts are their own fact. Acts on efforts are in `effort/acts.py`.

Rules
- Every field has a default and is omitted from the payload when it has that value, so older events always decode.
- A field name is part of the stored payload. Never rename or remove one.
"""

import msgspec

from claude_headspace.kernel.envelope import Micros
from claude_headspace.kernel.wait.grants import GrantOption

NULL = msgspec.Raw(b"null")


class Act(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """An act on an agent."""


# --- agents -----------------------------------------------------------------------------------------------------------


class AgentRegistered(Act, frozen=True, kw_only=True):
    """An agent is about to be started."""

    name: str = ""
    by: str = ""
    cwd: str | None = None
    role: str | None = None
    mode: str | None = None
    pid: int | None = None
    """The process that starts the client and stays with it."""
    mission_id: str = ""
    goal: str = ""
    conversation_id: str | None = None
    began: Micros | None = None
    """When that process started."""
    supervised: bool = False
    forked_session: str = ""
    """The session of another agent that the client continues as a new one."""


class AgentResumed(Act, frozen=True, kw_only=True):
    """The session of an ended agent is about to be opened again, by a client that does not report that itself."""

    pid: int | None = None
    """The process that starts the client and stays with it."""
    began: Micros | None = None
    """When that process started."""


class AgentRenamed(Act, frozen=True, kw_only=True):
    """The agent got another name."""

    name: str = ""


class AgentNoted(Act, frozen=True, kw_only=True):
    """The agent wrote what it is doing; an empty text removes the note."""

    text: str = ""


class AgentSeen(Act, frozen=True, kw_only=True):
    """A person looked at the agent."""

    via: str = ""


class AgentClosed(Act, frozen=True, kw_only=True):
    """The process that started the client saw it end."""

    reason: str = ""
    pid: int | None = None


class StopRequested(Act, frozen=True, kw_only=True):
    """A person is about to end the client."""

    by: str = ""
    via: str = ""


class WorktreeChangeDone(Act, frozen=True, kw_only=True):
    """A person merged, rebased or removed the agent's git worktree through Headspace."""

    what: str = ""
    text: str = ""
    """The result, as a sentence."""
    by: str = ""
    via: str = ""


class AgentArchived(Act, frozen=True, kw_only=True):
    """A person took the ended agent off the board, or put it back."""

    undone: bool = False


class AgentImported(Act, frozen=True, kw_only=True):
    """The agent's log was imported from another host."""

    host: str = ""
    exported_at: Micros = 0


class RestartBegun(Act, frozen=True, kw_only=True):
    """A supervised client is stopped, to be started again."""

    reason: str = ""


class SupervisionEnded(Act, frozen=True, kw_only=True):
    """The client is not restarted any more."""

    reason: str = ""


class ContextLoaded(Act, frozen=True, kw_only=True):
    """Files were added to a new context window, or could not be."""

    reason: str = ""
    files: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()


class WorktreeObserved(Act, frozen=True, kw_only=True):
    """The worktree of an agent changed: its distance to the base, what is not committed, or it was removed."""

    root: str = ""
    base: str | None = None
    ahead: int = 0
    behind: int = 0
    uncommitted: int = 0
    removed: bool = False


# --- missions ---------------------------------------------------------------------------------------------------------


class MissionReported(Act, frozen=True, kw_only=True):
    """The agent reported the result of its mission."""

    text: str = ""
    outcome: str = ""


class MissionFinished(Act, frozen=True, kw_only=True):
    """The mission was ended."""

    text: str = ""
    outcome: str = ""


class WorkerEnded(Act, frozen=True, kw_only=True):
    """A mission that this agent started has ended."""

    text: str = ""
    mission_id: str = ""
    goal: str = ""


class ConversationPrompted(Act, frozen=True, kw_only=True):
    """A line is about to be typed to the agent because its mission ended."""

    text: str = ""
    mission_id: str = ""


# --- typing -----------------------------------------------------------------------------------------------------------


class TextTyped(Act, frozen=True, kw_only=True):
    """A text is about to be typed into the agent's terminal."""

    by: str = ""
    via: str = ""
    text: str = ""
    prompt_id: str = ""
    """The pending prompt that is typed; empty if it was not pending."""


class EscPressed(Act, frozen=True, kw_only=True):
    """Esc is about to be pressed in the agent's terminal."""

    by: str = ""
    via: str = ""


class TypingFailed(Act, frozen=True, kw_only=True):
    """A text or key could not be typed."""

    reason: str = ""


# --- pending prompts --------------------------------------------------------------------------------------------------


class PromptScheduled(Act, frozen=True, kw_only=True):
    """A prompt is to be sent when the agent is idle."""

    prompt_id: str = ""
    text: str = ""
    summary: str = ""
    """The text in one line, without secrets."""
    by: str = ""
    via: str = ""
    keep_draft: bool = False
    not_before: int = 0
    """When it may be sent at the earliest, in microseconds since 1970; 0: as soon as the agent is idle."""
    after_error: bool = False
    """Whether it continues a turn that an error stopped. It is cancelled if the agent continues without it."""


class PromptDelayed(Act, frozen=True, kw_only=True):
    """A pending prompt cannot be typed now although the agent is idle."""

    prompt_id: str = ""
    reason: str = ""


class PromptFinished(Act, frozen=True, kw_only=True):
    """The client received a pending prompt, or it is given up."""

    prompt_id: str = ""
    reason: str = ""
    """Why it was not sent, or not confirmed; empty if the client received it."""


class PromptCancelled(Act, frozen=True, kw_only=True):
    """A person removed a pending prompt."""

    prompt_id: str = ""
    by: str = ""
    via: str = ""


# --- remote actions ---------------------------------------------------------------------------------------------------


class RemoteAct(Act, frozen=True, kw_only=True):
    """A step of a remote action. `errand` is the request or its result."""

    errand_id: str = ""
    errand: msgspec.Raw = NULL


class RemoteActionRequested(RemoteAct, frozen=True, kw_only=True):
    """The agent's machine is requested to do something."""


class RemoteActionAccepted(RemoteAct, frozen=True, kw_only=True):
    """The agent's machine accepted the request."""


class RemoteActionCancelled(RemoteAct, frozen=True, kw_only=True):
    """The requester cancelled the request before it was accepted."""


class RemoteActionFinished(RemoteAct, frozen=True, kw_only=True):
    """The agent's machine finished the request."""


# --- waits ------------------------------------------------------------------------------------------------------------


class WaitHeld(Act, frozen=True, kw_only=True):
    """A hook is held open for an answer, or the client can be answered in another way."""

    wait_id: str = ""
    until: Micros = 0
    suggestions: str = ""
    """What the client offers to grant with the answer, if the hook did not say so."""


class WaitAnswered(Act, frozen=True, kw_only=True):
    """A person answered a wait."""

    wait_id: str = ""
    by: str = ""
    via: str = ""
    words: str = ""
    answer: msgspec.Raw = NULL
    """The complete answer (`kernel.wait.answers.Answer`)."""
    grants: tuple[GrantOption, ...] = ()
    """What it grants beyond this call."""


class WaitTaken(Act, frozen=True, kw_only=True):
    """The client received the answer and shows no dialog any more."""

    wait_id: str = ""


class WaitReleased(Act, frozen=True, kw_only=True):
    """The hook is not held open any more, or the client did not receive an answer."""

    wait_id: str = ""
    undelivered: bool = False
    """Whether the client did not receive the answer that a person gave. False in older logs."""
    reason: str = ""
    """Why it did not receive it; without an answer, why Headspace cannot answer the dialog."""
    until: Micros = 0
    """Until when the client still accepts another answer; 0: it does not."""


# --- notifications ----------------------------------------------------------------------------------------------------


class NotificationStarted(Act, frozen=True, kw_only=True):
    """A notification is about to be sent."""

    wait_id: str = ""
    words: str = ""
    need: str = ""
    kind: str = ""
    channel: str = ""


class NotificationCompleted(Act, frozen=True, kw_only=True):
    """A notification was sent, or sending failed."""

    need: str = ""
    channel: str = ""
    receipt: str = ""
    reason: str = ""


class NotificationClosed(Act, frozen=True, kw_only=True):
    """The need that people were notified of has ended."""

    need: str = ""
    reason: str = ""


DELIVERED = (WaitAnswered, RemoteAct, PromptScheduled)
"""Acts whose content another process reads from the log and acts on. It is stored as it is."""

STORED_NAMES: dict[type[Act], str] = {
    ConversationPrompted: "ConversationWoken",
    RemoteActionRequested: "ErrandAsked",
    RemoteActionAccepted: "ErrandTaken",
    RemoteActionCancelled: "ErrandGivenUp",
    RemoteActionFinished: "ErrandDone",
    NotificationStarted: "NoticeBegun",
    NotificationCompleted: "NoticeSettled",
    NotificationClosed: "NoticeOver",
}
"""Acts whose event has another name than the type, because it is stored under the name of an earlier version."""

_TYPES: tuple[type[Act], ...] = (*Act.__subclasses__(), *RemoteAct.__subclasses__())
ACTS = {STORED_NAMES.get(each, each.__name__): each for each in _TYPES if each is not RemoteAct}
"""Every act, by the name of its event."""
_NAMES = {each: name for name, each in ACTS.items()}


def event_name(act: Act) -> str:
    """The name of the event that stores an act."""
    return _NAMES[type(act)]
