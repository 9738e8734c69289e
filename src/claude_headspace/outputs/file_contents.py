"""Files for the model: read within bounds when an answer is composed, and what was left out is named with its size.

Claude Code takes some 10,000 characters from a hook; of what is longer it shows the model a preview and the name of a
file. So all of an answer stays below that, and what does not fit is for the model to read itself.
"""

import os
import stat
from collections.abc import Sequence

import msgspec

MAX_REPLY_CHARACTERS = 9_500
"""Characters of one answer."""
MAX_FILE_BYTES = 256 * 1024


class FileContent(msgspec.Struct, frozen=True):
    """A file as it was found; without a text it was left out, and why."""

    path: str
    size: int = 0
    text: str | None = None
    reason: str = ""


def read_files(paths: Sequence[str], max_characters: int) -> list[FileContent]:
    """The files that fit, in their order; the others by name and reason."""
    found = []
    for path in paths:
        file = _read_file(path)
        if file.text is not None and len(file.text) > max_characters:
            file = FileContent(path, file.size, None, "does not fit")
        max_characters -= len(file.text or "")
        found.append(file)
    return found


def _read_file(path: str) -> FileContent:
    """A small regular file; never waits for a pipe."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError):
        return FileContent(path, reason="cannot be opened")
    try:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode):
            return FileContent(path, reason="is no file")
        if found.st_size > MAX_FILE_BYTES:
            return FileContent(path, found.st_size, reason="is too large")
        return FileContent(path, found.st_size, os.read(handle, MAX_FILE_BYTES).decode("utf-8", "replace"))
    except OSError:
        return FileContent(path, reason="cannot be read")
    finally:
        os.close(handle)


def format_files(files: Sequence[FileContent]) -> str:
    """Files as the model reads them: a list with sizes, what was left out, then the contents."""
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
