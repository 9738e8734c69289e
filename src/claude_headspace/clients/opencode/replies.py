"""Replies to the hooks of opencode, in its format. Pure."""

from claude_headspace.kernel.agent import Wait
from claude_headspace.kernel.facts import Event
from claude_headspace.kernel.policy.verdict import Verdict
from claude_headspace.kernel.wait.answers import Answer


def verdict_reply(hook: str, verdict: Verdict) -> bytes:
    """The reply for a verdict of the policy."""
    del hook, verdict
    return b""


def with_context(hook: str, reply: bytes, text: str, denial: str | None = None) -> bytes:
    """A reply that also gives the model a text, or denies the call with a reason."""
    del hook, text, denial
    return reply


def with_message(reply: bytes, text: str) -> bytes:
    """A reply that also shows a text to the user."""
    del text
    return reply


def block_stop(reply: bytes, reason: str) -> bytes:
    """A reply that prevents the turn from ending, with the reason for the model."""
    del reason
    return reply


def answer_reply(event: Event, wait: Wait, answer: Answer) -> bytes:
    """The reply to a held hook that was answered."""
    del event, wait, answer
    return b""
