"""Pending prompts: prompts that Headspace sends when the agent is idle (`headspace send --when-idle`).

The queue of an agent is part of it, oldest prompt first. The complete text is in the `PromptScheduled` event; the agent
has a summary without secrets.

Rules
- A prompt is typed or cancelled, never both: the events `TextTyped` and `PromptCancelled` have the same delivery id
  (`send_delivery`), so the first one counts.
- A prompt after an error (`after_error`) continues a turn that an error stopped, perhaps not before a time: when a rate
  limit ends. It is cancelled when the agent continues without it.
- A prompt leaves the queue when its client has confirmed it, or when a person cancels it. One that was not confirmed,
  or could not be typed, stays with the problem and is not typed again.
"""

import msgspec

from claude_headspace.kernel.envelope import Micros

MAX_PENDING = 20
"""How many prompts may be pending for an agent."""
MAX_SUMMARY_CHARS = 200


class PendingPrompt(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """A prompt that is sent when the agent is idle."""

    id: str
    summary: str
    at: Micros
    by: str = ""
    via: str = ""
    keep_draft: bool = False
    not_before: Micros = 0
    """When it may be sent at the earliest."""
    after_error: bool = False
    """Whether it continues a turn that an error stopped."""
    typed_at: Micros = 0
    """When it was typed; 0: it waits."""
    obstacle: str = ""
    """Why it waits although the agent is idle."""
    problem: str = ""
    """Why it was not sent, or that the client did not confirm it. It is not typed again."""

    @property
    def is_waiting(self) -> bool:
        """Whether it can still be sent."""
        return not self.typed_at and not self.problem


def schedule_delivery(prompt_id: str) -> str:
    """The delivery id of the event that schedules a prompt."""
    return f"prompt-{prompt_id}"


def send_delivery(send_id: str) -> str:
    """The delivery id of the event that types a prompt, or cancels it before."""
    return f"send-{send_id}"
