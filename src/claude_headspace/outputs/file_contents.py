"""Files for the model: read within bounds when an answer is composed, and what was left out is named with its size.

Claude Code takes some 10,000 characters from a hook; of what is longer it shows the model a preview and the name of a
file. So all of an answer stays below that, and what does not fit is for the model to read itself.
"""

import os
import stat
from collections.abc import Sequence

import msgspec

BUDGET = 9_500
"""Characters of one answer."""
LARGEST_FILE = 256 * 1024


class FileText(msgspec.Struct, frozen=True):
    """A file as it was found; without a text it was left out, and why."""

    path: str
    size: int = 0
    text: str | None = None
    why: str = ""


def read_files(paths: Sequence[str], budget: int) -> list[FileText]:
    """The files that fit, in their order; the others by name and reason."""
    found = []
    for path in paths:
        file = _read(path)
        if file.text is not None and len(file.text) > budget:
            file = FileText(path, file.size, None, "does not fit")
        budget -= len(file.text or "")
        found.append(file)
    return found


def _read(path: str) -> FileText:
    """A small regular file; never waits for a pipe."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError):
        return FileText(path, why="cannot be opened")
    try:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode):
            return FileText(path, why="is no file")
        if found.st_size > LARGEST_FILE:
            return FileText(path, found.st_size, why="is too large")
        return FileText(path, found.st_size, os.read(handle, LARGEST_FILE).decode("utf-8", "replace"))
    except OSError:
        return FileText(path, why="cannot be read")
    finally:
        os.close(handle)


def as_text(files: Sequence[FileText]) -> str:
    """Files as the model reads them: a list with sizes, what was left out, then the contents."""
    if not files:
        return ""
    lines = ["Files of this effort:"]
    lines += [f"- {file.path} ({file.size} bytes)" + ("" if file.text is not None else _left(file)) for file in files]
    blocks = [f"--- {file.path}\n{file.text}" for file in files if file.text is not None]
    return "\n".join(lines) + "".join(f"\n\n{block}" for block in blocks)


def _left(file: FileText) -> str:
    return f": left out, it {file.why}" + ("; read it yourself" if file.size else "")
