"""The first prompt of a restarted client: how to continue, and the prompt that the previous client had not finished.

Rules
- A prompt that nothing was done about is sent again, unchanged: also a slash command works as if it was typed now.
- A prompt that was being worked on is quoted, because a part of it is done.
- A handover is only mentioned if there is one.
"""

from collections.abc import Sequence
from typing import NamedTuple

from claude_headspace.kernel.sanitize import is_altered
from claude_headspace.kernel.state_machine import Actor
from claude_headspace.surfaces.text.formatting import Json

CONTINUE = "Continue the effort that you work on."
HANDED_OVER = f"{CONTINUE} The handover of the previous session is in your context."
EARLIER_HANDOVER = (
    f"{CONTINUE} The previous session ended without a handover, because its context was full. Your context has the"
    " handover of an earlier session and the log entries since then."
)
NO_HANDOVER = (
    f"{CONTINUE} The previous session ended without a handover, because its context was full. Your context has its log"
    " entries. Look at the files to see what is done."
)
UNFINISHED = "The previous session had not finished this prompt:"
CHECK_FIRST = "Check what is already done before you continue."
ALTERED = "(Headspace does not store secrets and the middle of long texts. They are missing here.)"


class UnfinishedPrompt(NamedTuple):
    """What the user wrote for a command that has no outcome yet."""

    text: str
    is_untouched: bool
    """Whether the client did nothing about it: no text, no tool call."""


def unfinished_prompt(command: Json | None, turns: Sequence[Json], calls: Sequence[Json]) -> UnfinishedPrompt | None:
    """The prompt of the newest command, if that is not finished. `turns` are those of the command."""
    if command is None or command["ended_at"]:
        return None
    text = "\n\n".join(turn["text"] for turn in turns if turn["actor"] == Actor.USER)
    is_touched = any(turn["actor"] == Actor.AGENT for turn in turns) or any(
        call["started_at"] >= command["started_at"] for call in calls
    )
    return UnfinishedPrompt(text, not is_touched) if text else None


def restart_prompt(effort: Json, window: Json, unfinished: UnfinishedPrompt | None) -> str:
    """The prompt of the next client. `window` is the used-up window."""
    if unfinished is None:
        return _how_to_continue(effort, window)
    text, altered = unfinished.text, is_altered(unfinished.text)
    if unfinished.is_untouched and not altered:
        return text
    parts = (_how_to_continue(effort, window), UNFINISHED, text, ALTERED if altered else "", CHECK_FIRST)
    return "\n\n".join(filter(None, parts))


def _how_to_continue(effort: Json, window: Json) -> str:
    if window["dehydrated"]:
        return HANDED_OVER
    return EARLIER_HANDOVER if effort["dehydrated"] else NO_HANDOVER
