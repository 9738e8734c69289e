"""Reads a file that a tool call wants to change, for its diff.

Rules
- Only regular files of limited size that contain text are read. A pipe or a device is never opened for reading.
- The path comes from an agent. A file is read only for an open request that the client itself reported, see
  `surfaces/api/wait_requests.py`.
"""

import os
import stat
from pathlib import Path

from claude_headspace.kernel.wait.requested_edit import NotApplicable

MAX_BYTES = 4 * 1024 * 1024


def read_text(path: str, cwd: str | None) -> str | None:
    """The text of a file; None if it does not exist. Raises `NotApplicable` if it cannot be shown."""
    try:
        descriptor = os.open(Path(cwd or "/", path), os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            content = _read(descriptor)
        finally:
            os.close(descriptor)
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise NotApplicable(_reason(error), exists=os.path.lexists(Path(cwd or "/", path))) from error
    if b"\0" in content:
        raise NotApplicable("it is a binary file", exists=True)
    return content.decode("utf-8", "replace")


def _read(descriptor: int) -> bytes:
    found = os.fstat(descriptor)
    if not stat.S_ISREG(found.st_mode):
        raise NotApplicable("it is not a regular file", exists=True)
    if found.st_size > MAX_BYTES:
        raise NotApplicable(f"it has {found.st_size:,} bytes", exists=True)
    with os.fdopen(descriptor, "rb", closefd=False) as file:
        return file.read(MAX_BYTES)


def _reason(error: OSError | ValueError) -> str:
    return (error.strerror or str(error)) if isinstance(error, OSError) else "its name is not valid"
