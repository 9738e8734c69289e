"""Reads and writes the files of clients: what they write, and what an installation changes.

Rules
- Only regular files are read, and links to them. A pipe or a device is refused, never opened for long.
- Every file is written to a temporary name first and then moved into place.
- An installation that fails puts every file back as it was (`restored_on_failure`).
"""

import os
import stat
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from claude_headspace.errors import BadConfiguration


def read_file(path: Path) -> bytes | None:
    """The content of a file; None if it does not exist."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)  # never waits for the writer of a pipe
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _unreadable(path, error.strerror or str(error)) from error
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise _unreadable(path, "It is not a regular file")
        with os.fdopen(handle, "rb", closefd=False) as file:
            return file.read()
    except OSError as error:
        raise _unreadable(path, error.strerror or str(error)) from error
    finally:
        os.close(handle)


def _unreadable(path: Path, reason: str) -> BadConfiguration:
    return BadConfiguration(
        "unreadable_settings",
        f"{path} cannot be read: {reason}.",
        "Nothing was changed. Check the type and the owner of the file.",
    )


@contextmanager
def open_regular_file(path: str) -> Iterator[int]:
    """Open a regular file for reading. Never blocks on a pipe, never follows a link as the last part of the path."""
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise OSError(f"{path} is not a regular file")
        yield handle
    finally:
        os.close(handle)


def link_target(path: Path) -> Path:
    """The file behind a link, whether it exists or not."""
    return Path(os.path.realpath(path)) if path.is_symlink() else path


def write_link(path: Path, target: Path) -> None:
    """Create a link atomically."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        temporary.unlink(missing_ok=True)
        temporary.symlink_to(target)
        temporary.replace(path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise cannot_write(path, error) from error


def write_file(path: Path, data: bytes, mode: int, owner: tuple[int, int] | None = None) -> None:
    """Write a file atomically."""
    temporary = ""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(handle)
            if owner is not None and owner != (os.geteuid(), os.getegid()):
                os.fchown(handle, *owner)
            os.fchmod(handle, mode)
        Path(temporary).replace(path)
    except OSError as error:
        if temporary:
            Path(temporary).unlink(missing_ok=True)
        raise cannot_write(path, error) from error


def cannot_write(path: Path, error: OSError) -> BadConfiguration:
    """The error for a file that cannot be written."""
    return BadConfiguration(
        "cannot_write",
        f"{path} cannot be written: {error.strerror}.",
        "Check the free disk space, and the owner and the type of the file and its directory.",
    )


def remove_file(path: Path) -> None:
    """Remove a file. A directory with its name is not ours and stays."""
    with suppress(FileNotFoundError, IsADirectoryError, PermissionError):
        path.unlink()


# --- restoring ---


@contextmanager
def restored_on_failure(files: Iterable[Path], folders: Iterable[Path] = ()) -> Iterator[None]:
    """Put these files back if the body fails, and remove these folders if it created them."""
    undo = [_undo_of(path) for path in files]
    missing = sorted((folder for folder in folders if not folder.exists()), key=lambda folder: -len(folder.parts))
    try:
        yield
    except BaseException:
        for step in (*undo, *(folder.rmdir for folder in missing)):
            with suppress(OSError, BadConfiguration):
                step()
        raise


def _undo_of(path: Path) -> Callable[[], None]:
    """A function that restores a file to its current content. It does nothing if that has not changed."""
    if path.is_symlink():
        target = path.readlink()
        return lambda: None if path.is_symlink() and path.readlink() == target else write_link(path, target)
    if not path.exists():
        return lambda: remove_file(path)
    if not path.is_file():
        return lambda: None
    data, mode = read_file(path) or b"", stat.S_IMODE(path.stat().st_mode)
    return lambda: None if path.is_file() and path.read_bytes() == data else write_file(path, data, mode)
