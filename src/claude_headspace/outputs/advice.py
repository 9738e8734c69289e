"""Adds session context, session notices and the advice of an effort to a hook reply.

Rules
- All of it shares one size limit. The effort's own texts come first, then the session context, then the effort's files.
- A policy's denial is never replaced.
"""

from collections.abc import Sequence

import msgspec

from claude_headspace.clients.claude_code.replies import block_stop, with_context
from claude_headspace.kernel.claude_os.session_notice import NO_NOTICE, SessionNotice
from claude_headspace.kernel.effort import messages
from claude_headspace.kernel.effort.advice import NO_ADVICE, Advice
from claude_headspace.kernel.effort.model import Injection
from claude_headspace.outputs.file_contents import MAX_REPLY_CHARACTERS, FileContent, format_files, read_files

OMITTED_NOTE_LENGTH = 70
"""Maximum length of the note about an omitted file, without its path."""


class AdvisedReply(msgspec.Struct, frozen=True):
    """Claude Code's part of a reply, and the effort's files that it contains."""

    reply: bytes
    loaded: tuple[str, ...] = ()


def remaining_characters(advice: Advice, injections: Sequence[Injection] = ()) -> int:
    """Return how many characters an effort leaves for the session context."""
    notes = OMITTED_NOTE_LENGTH + sum(len(path) + OMITTED_NOTE_LENGTH for path in advice.preload)
    return MAX_REPLY_CHARACTERS - notes - sum(len(text) + 2 for text in _effort_texts(advice, injections))


def add_advice(
    event: str,
    reply: bytes,
    advice: Advice = NO_ADVICE,
    injections: Sequence[Injection] = (),
    *,
    session_context: str = "",
    notice: SessionNotice = NO_NOTICE,
) -> AdvisedReply:
    """Return Claude Code's part of the reply with everything added. Reads the files to preload, so it may block."""
    if notice.blocks_turn_end:
        return AdvisedReply(block_stop(reply, "\n\n".join(notice.texts)))
    text, loaded = _compose_text([session_context, *notice.texts], advice, injections)
    return AdvisedReply(with_context(event, reply, text, advice.reason if advice.denies else None), loaded)


def _compose_text(first: Sequence[str], advice: Advice, injections: Sequence[Injection]) -> tuple[str, tuple[str, ...]]:
    """Return the text for the model within the size limit, and the files in it."""
    parts = [*first, *_effort_texts(advice, injections)]
    remaining = MAX_REPLY_CHARACTERS - sum(len(part) + 2 for part in parts)
    names = sum(len(path) + 40 for path in advice.preload)
    files: list[FileContent] = read_files(advice.preload, max(0, remaining - 2 * names)) if advice.preload else []
    loaded = tuple(file.path for file in files if file.text is not None)
    return "\n\n".join(part for part in (*parts, format_files(files)) if part), loaded


def _effort_texts(advice: Advice, injections: Sequence[Injection]) -> list[str]:
    return [*advice.context, *(messages.injection_text(injection) for injection in injections)]
