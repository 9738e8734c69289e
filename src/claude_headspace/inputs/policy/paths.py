"""Where a path leads: made absolute, `..` taken away, links followed, globs looked up.

Rules
- Bounded: so many names for a glob, and nothing below a pipe or device is opened.
- What is deleted or moved is the name itself, not what it links to; a trailing slash follows the link.
- A glob that means everything in a directory means the directory.
"""

import glob
import os
import re
import stat
from collections.abc import Mapping
from pathlib import Path

from claude_headspace.inputs.policy.shell.markers import QUESTION, STAR, has_glob, unmark
from claude_headspace.kernel.policy.call import UNKNOWN, PathUse, Use

MAX_GLOB_MATCHES = 100
"""Files of one glob that are looked at; rules protect names that are found early."""
MAX_SCRIPT_BYTES = 256 * 1024

_MATCHES_ALL = re.compile(f"[{STAR}]+|\\.?[{STAR}]+|\\.\\[?[^/]?[{STAR}{QUESTION}]+|[{STAR}]+\\.[{STAR}]+")


def make_absolute(text: str, directory: str) -> str:
    """A path with its directory before it, and without `.` and `..`; unknown below an unknown directory."""
    joined = text if text.startswith(("/", UNKNOWN)) else f"{directory}/{text}"
    if joined.startswith(UNKNOWN):
        return re.sub(r"/(?:\.?/)*(?:\.$)?", "/", joined)
    return "/" + os.path.normpath(joined).lstrip("/")


def resolve_links(text: str, directory: str, *, follow: bool) -> str:
    """Where a path leads once links are followed."""
    joined = os.path.join(directory, text)  # noqa: PTH118  # pathlib would take the `..` and slashes that matter here
    if UNKNOWN in joined:
        return ""
    try:
        if follow or joined.endswith("/"):
            return os.path.realpath(joined)
        return os.path.join(os.path.realpath(os.path.dirname(joined)), os.path.basename(joined))  # noqa: PTH118, PTH119, PTH120
    except (OSError, ValueError):
        return ""


def uses(
    field: str, directory: str, use: Use, *, by: str, recursive: bool = False, links: Mapping[str, str] | None = None
) -> list[PathUse]:
    """What becomes of the file or files that an argument names."""
    found = []
    for text in _expand_glob(field, directory):
        path = make_absolute(text, directory)
        via = _follow_new_link(path, links or {})
        real = os.path.normpath(resolve_links(via or text, directory, follow=use is not Use.DELETE) or path)
        found.append(PathUse(path, use, real if real != path else "", recursive=recursive, by=by))
    return found


def _expand_glob(field: str, directory: str) -> list[str]:
    """The names that an argument stands for."""
    if not has_glob(field):
        return [field]
    before, _, last = field.rpartition("/")
    if _MATCHES_ALL.fullmatch(last):
        whole = before + "/" if field.startswith("/") else before or "."
        return _expand_glob(whole, directory) if has_glob(whole) else [whole]
    if UNKNOWN in field or UNKNOWN in directory:
        return [unmark(field)]
    return _glob_matches(field, directory) or [unmark(field)]


def _glob_matches(field: str, directory: str) -> list[str]:
    names: list[str] = []
    try:
        for name in glob.iglob(unmark(field), root_dir=directory, include_hidden=True):  # noqa: PTH207  # bash's own kind
            names.append(name)  # it ends early
            if len(names) == MAX_GLOB_MATCHES:
                break
    except (OSError, re.error, ValueError):
        return []
    return names


def first_glob_match(field: str, directory: str) -> str:
    """The one name that a glob is taken for, such as `/bin/r?`."""
    found = sorted(_glob_matches(field, directory)) if has_glob(field) and UNKNOWN not in field else []
    return found[0] if found else unmark(field)


def _follow_new_link(path: str, links: Mapping[str, str]) -> str | None:
    """A path that leads through a link which the same commands made."""
    for link, target in links.items():
        if path == link or path.startswith(f"{link}/"):
            return target + path[len(link) :]
    return None


def is_directory(path: str) -> bool:
    """Whether there is a directory."""
    try:
        return Path(path).is_dir()
    except (OSError, ValueError):
        return False


def read_small_text(path: str) -> str | None:
    """The text of a script, if it is a small regular file; never waits for a pipe."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError):
        return None
    try:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode) or status.st_size > MAX_SCRIPT_BYTES:
            return None
        raw = os.read(handle, MAX_SCRIPT_BYTES)
    except OSError:
        return None
    finally:
        os.close(handle)
    return None if b"\0" in raw[:512] else raw.decode("utf-8", "replace")
