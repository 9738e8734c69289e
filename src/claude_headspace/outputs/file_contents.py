"""Files for the model, read within a size limit when a reply is composed. Omitted files are listed with their size.

Claude Code accepts about 10,000 characters from a hook. For a longer reply the model gets only a preview and the name
of a file. So a reply stays below that limit, and the model reads omitted files itself.
"""

import os
import stat
from collections.abc import Sequence

import msgspec

MAX_REPLY_CHARACTERS = 9_500
"""Maximum length of the context in one reply."""
MAX_FILE_BYTES = 256 * 1024


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
