"""Replies to the hooks of a client, in its format. Pure.

`replies_of` finds the module of the client. Its functions never raise, and return an empty reply if there is nothing
to act on.
"""

from typing import Protocol

from claude_headspace.clients.claude_code import replies as claude_code
from claude_headspace.clients.codex import replies as codex
from claude_headspace.clients.copilot import replies as copilot
from claude_headspace.clients.gemini import replies as gemini
from claude_headspace.clients.opencode import replies as opencode
from claude_headspace.kernel.agent import Wait
from claude_headspace.kernel.facts import Event
from claude_headspace.kernel.policy.verdict import Verdict
from claude_headspace.kernel.wait.answers import Answer


class Replies(Protocol):
    """The module `replies` of a client's package."""

    def verdict_reply(self, hook: str, verdict: Verdict) -> bytes:
        """The reply for a verdict of the policy."""

    def with_context(self, hook: str, reply: bytes, text: str, denial: str | None = None) -> bytes:
        """A reply that also gives the model a text, or denies the call with a reason."""

    def with_message(self, reply: bytes, text: str) -> bytes:
        """A reply that also shows a text to the user."""

    def block_stop(self, reply: bytes, reason: str) -> bytes:
        """A reply that prevents the turn from ending, with the reason for the model."""

    def answer_reply(self, event: Event, wait: Wait, answer: Answer) -> bytes:
        """The reply to a held hook that was answered."""


REPLIES: dict[str, Replies] = {
    "claude-code": claude_code,
    "codex": codex,
    "opencode": opencode,
    "copilot": copilot,
    "gemini": gemini,
}


def replies_of(client: str) -> Replies:
    """The replies of a client. Events of unknown clients get the replies of Claude Code, whose format they may use."""
    return REPLIES.get(client, claude_code)
