"""What Headspace adds to the reply to a hook: session context, session notices, and the advice of an effort.

One size limit for all of it, in this order: what the effort says itself, the session's files, the effort's files. A
denial by a policy stands.
"""

from collections.abc import Sequence

import msgspec

from claude_headspace.clients.claude_code.replies import keep_turn, with_context
from claude_headspace.kernel.claude_os.session_notice import NO_NOTICE, SessionNotice
from claude_headspace.kernel.effort import messages as texts
from claude_headspace.kernel.effort.advice import NOTHING, Advice
from claude_headspace.kernel.effort.model import Injection
from claude_headspace.outputs.file_contents import BUDGET, FileText, as_text, read_files

LEFT_OUT_NOTE = 70
"""Room for what is said of a file that was left out, beside its path."""


class Spoken(msgspec.Struct, frozen=True):
    """Claude Code's part of a reply, and the files of an effort that it carries."""

    reply: bytes
    loaded: tuple[str, ...] = ()


def room_beside(advice: Advice, injections: Sequence[Injection] = ()) -> int:
    """How many characters an effort leaves for what a session is given."""
    names = sum(len(path) + LEFT_OUT_NOTE for path in advice.preload)
    return BUDGET - LEFT_OUT_NOTE - names - sum(len(part) + 2 for part in _parts(advice, injections))


def with_advice(
    event: str,
    reply: bytes,
    advice: Advice = NOTHING,
    injections: Sequence[Injection] = (),
    *,
    briefing: str = "",
    care: SessionNotice = NO_NOTICE,
) -> Spoken:
    """Claude Code's part of the reply with all of it. It reads the files to preload, which may take a moment."""
    if care.blocks_turn_end:
        return Spoken(keep_turn(reply, "\n\n".join(care.texts)))
    text, loaded = _words([briefing, *care.texts], advice, injections)
    return Spoken(with_context(event, reply, text, advice.reason if advice.denies else None), loaded)


def _words(first: Sequence[str], advice: Advice, injections: Sequence[Injection]) -> tuple[str, tuple[str, ...]]:
    """All that the model is told, bounded, and the files in it."""
    parts = [*first, *_parts(advice, injections)]
    room = BUDGET - sum(len(part) + 2 for part in parts)
    names = sum(len(path) + 40 for path in advice.preload)
    files: list[FileText] = read_files(advice.preload, max(0, room - 2 * names)) if advice.preload else []
    loaded = tuple(file.path for file in files if file.text is not None)
    return "\n\n".join(part for part in (*parts, as_text(files)) if part), loaded


def _parts(advice: Advice, injections: Sequence[Injection]) -> list[str]:
    return [*advice.context, *(texts.injection(one) for one in injections)]
