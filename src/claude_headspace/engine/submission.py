"""Submissions to the writer, and the functions that a batch needs."""

import asyncio
import uuid
from collections.abc import Callable

import msgspec

from claude_headspace.errors import HeadspaceError, JournalUnavailable
from claude_headspace.kernel.agent import Agent
from claude_headspace.kernel.claude_os.session_notice import NO_NOTICE, SessionNotice
from claude_headspace.kernel.decide import Judge, abstain
from claude_headspace.kernel.envelope import Envelope
from claude_headspace.kernel.facts import Event
from claude_headspace.ports import Outcome

Result = Outcome | HeadspaceError
"""The reply to a sender."""

ChooseNotices = Callable[[Agent, Event], SessionNotice]
"""Chooses the session notices of an agent, as it was before an event."""


class Submission(msgspec.Struct):
    """An envelope in the queue of the writer, with the future of its outcome."""

    envelope: Envelope
    agent_id: str | None
    future: "asyncio.Future[Outcome]"
    event: Event | None = None
    """The decoded envelope, if the sender decoded it."""
    announce: bool = True
    """Whether the changes are published. An import of old events publishes nothing."""
    expects_reply: bool = False
    """Whether the sender waits for the reply and acts on it."""
    trusted: bool = True
    """Whether only the user can send through this entry. Untrusted events count for no effort."""
    reply_reaches_client: bool = False
    """Whether the reply goes to the client itself, which can receive context with it."""


IsClientRunning = Callable[[Agent], bool]
"""Whether the client process of an agent runs on this host."""


def no_notices(_agent: Agent, _event: Event) -> SessionNotice:
    """Choose no session notices."""
    return NO_NOTICE


def not_watched(_agent: Agent) -> bool:
    """Treat no client process as running: nothing watches the processes of this host."""
    return False


def keep(payload: bytes) -> bytes:
    """Redact nothing."""
    return payload


class BatchFunctions(msgspec.Struct, frozen=True):
    """The functions that the writer needs: for verdicts, session notices, running clients, new ids and secrets."""

    judge: Judge = abstain
    choose_notices: ChooseNotices = no_notices
    is_client_running: IsClientRunning = not_watched
    new_id: Callable[[], str] = lambda: str(uuid.uuid4())
    redact: Callable[[bytes], bytes] = keep


DEFAULT_FUNCTIONS = BatchFunctions()


def unavailable(error: Exception) -> HeadspaceError:
    """The error for the sender of an event that could not be stored."""
    if isinstance(error, HeadspaceError):
        return error
    return JournalUnavailable("journal_unavailable", f"The event could not be stored: {error}", "See `headspace logs`.")
