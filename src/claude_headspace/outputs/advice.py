"""Adds session context, session notices and the advice of an effort to a hook reply.

Rules
- All of it shares one size limit. The effort's own texts come first, then the session context, then the effort's files.
- A policy's denial is never replaced.
- Claude Code accepts about 10,000 characters from a hook. For a longer reply the model gets only a preview and the name
  of a file. So a reply stays below that limit. Omitted files are listed with their size, and the model reads them.
"""

import os
import stat
from collections.abc import Sequence

import msgspec

from claude_headspace.clients.replies import replies_of
from claude_headspace.kernel.claude_os.session_notice import NO_NOTICE, SessionNotice
from claude_headspace.kernel.effort import messages
from claude_headspace.kernel.effort.advice import NO_ADVICE, Advice
from claude_headspace.kernel.effort.model import Injection

MAX_REPLY_CHARACTERS = 9_500
"""Maximum length of the context in one reply."""
MAX_FILE_BYTES = 256 * 1024
OMITTED_NOTE_LENGTH = 70
"""Maximum length of the note about an omitted file, without its path."""


class AdvisedReply(msgspec.Struct, frozen=True):
    """The reply to a hook, and the effort's files that it contains."""

    reply: bytes
    loaded: tuple[str, ...] = ()


def remaining_characters(advice: Advice, injections: Sequence[Injection] = ()) -> int:
    """Return how many characters an effort leaves for the session context."""
    listed = (*advice.preload, *advice.documents)
    notes = OMITTED_NOTE_LENGTH + sum(len(path) + OMITTED_NOTE_LENGTH for path in listed)
    return MAX_REPLY_CHARACTERS - notes - sum(len(text) + 2 for text in _effort_texts(advice, injections))


def add_advice(
    client: str,
    event: str,
    reply: bytes,
    advice: Advice = NO_ADVICE,
    injections: Sequence[Injection] = (),
    *,
    session_context: str = "",
    notice: SessionNotice = NO_NOTICE,
) -> AdvisedReply:
    """Return the reply to a client's hook with everything added. Reads the files to preload, so it may block."""
    replies = replies_of(client)
    if notice.blocks_turn_end:
        return AdvisedReply(replies.block_stop(reply, "\n\n".join(notice.texts)))
    text, loaded = _compose_text([session_context, *notice.texts], advice, injections)
    return AdvisedReply(replies.with_context(event, reply, text, advice.reason if advice.denies else None), loaded)


def _compose_text(first: Sequence[str], advice: Advice, injections: Sequence[Injection]) -> tuple[str, tuple[str, ...]]:
    """Return the text for the model within the size limit, and the files in it."""
    parts = [*first, *_effort_texts(advice, injections)]
    remaining = MAX_REPLY_CHARACTERS - sum(len(part) + 2 for part in parts)
    paths = (*advice.preload, *existing_files(advice.documents))
    names = sum(len(path) + 40 for path in paths)
    files = read_files(paths, max(0, remaining - 2 * names)) if paths else []
    loaded = tuple(file.path for file in files if file.text is not None)
    return "\n\n".join(part for part in (*parts, format_files(files)) if part), loaded


def existing_files(paths: Sequence[str]) -> tuple[str, ...]:
    """Return the files that exist."""
    return tuple(path for path in paths if os.path.isfile(path))  # noqa: PTH113  # a path may contain a null byte


def _effort_texts(advice: Advice, injections: Sequence[Injection]) -> list[str]:
    return [*advice.context, *(messages.injection_text(injection) for injection in injections)]


# --- files ---


class FileContent(msgspec.Struct, frozen=True):
    """A file. Without `text` it was omitted for the `reason`."""

    path: str
    size: int = 0
    text: str | None = None
    reason: str = ""


def read_files(paths: Sequence[str], max_characters: int) -> list[FileContent]:
    """Read files in order, up to a total length. Files that do not fit have a reason and no text."""
    files = []
    for path in paths:
        file = _read_file(path)
        if file.text is not None and len(file.text) > max_characters:
            file = FileContent(path, file.size, None, "does not fit")
        max_characters -= len(file.text or "")
        files.append(file)
    return files


def _read_file(path: str) -> FileContent:
    """Read a regular file of limited size. Never blocks on a pipe."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError):
        return FileContent(path, reason="cannot be opened")
    try:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            return FileContent(path, reason="is not a regular file")
        if status.st_size > MAX_FILE_BYTES:
            return FileContent(path, status.st_size, reason="is too large")
        return FileContent(path, status.st_size, os.read(handle, MAX_FILE_BYTES).decode("utf-8", "replace"))
    except OSError:
        return FileContent(path, reason="cannot be read")
    finally:
        os.close(handle)


def format_files(files: Sequence[FileContent]) -> str:
    """Format files for the model: a list with sizes and reasons for omissions, then the contents."""
    if not files:
        return ""
    lines = ["Files of this effort:"]
    lines += [
        f"- {file.path} ({file.size} bytes)" + ("" if file.text is not None else _omitted_note(file)) for file in files
    ]
    blocks = [f"--- {file.path}\n{file.text}" for file in files if file.text is not None]
    return "\n".join(lines) + "".join(f"\n\n{block}" for block in blocks)


def _omitted_note(file: FileContent) -> str:
    return f": left out, it {file.reason}" + ("; read it yourself" if file.size else "")
