"""Resolves paths: makes them absolute, follows links, expands globs. Also reads small files.

Rules
- The number of glob matches is limited. Only small regular files are read.
- Deleting or moving a link affects the link, not its target, unless the path ends with a slash.
- A glob that matches everything in a directory stands for the directory.
"""

import fnmatch
import itertools
import os
import re
import stat
from collections.abc import Callable, Mapping
from pathlib import Path

from claude_headspace.inputs.policy.shell.markers import QUESTION, STAR, has_glob, unmark
from claude_headspace.kernel.policy.call import UNKNOWN, PathUse, Use

Spend = Callable[[int], None]
"""Spends steps of the budget of an analysis."""

MAX_PATH_CHARS = 4_096
"""Longer paths do not exist."""
MAX_GLOB_MATCHES = 100
MAX_GLOB_ENTRIES = 5_000
"""Entries of a directory that a glob is compared with."""
MAX_SCRIPT_BYTES = 256 * 1024

_MATCHES_ALL = re.compile(f"[{STAR}]+|\\.?[{STAR}]+|\\.\\[?[^/]?[{STAR}{QUESTION}]+|[{STAR}]+\\.[{STAR}]+")


def _spend_nothing(_steps: int) -> None:
    """The budget of a caller that resolves a fixed number of paths."""


def make_absolute(text: str, directory: str) -> str:
    """Return the absolute path without `.` and `..`. A path that starts with `UNKNOWN` stays unknown."""
    joined = text if text.startswith(("/", UNKNOWN)) else f"{directory}/{text}"
    if joined.startswith(UNKNOWN):
        return re.sub(r"/(?:\.?/)*(?:\.$)?", "/", joined)
    return "/" + os.path.normpath(joined).lstrip("/")


def resolve_links(text: str, directory: str, *, follow: bool) -> str:
    """Resolve the links of a path; empty if unknown. `follow`: whether to resolve the last name too."""
    joined = os.path.join(directory, text)  # noqa: PTH118  # pathlib would remove `..` and the trailing slash
    if UNKNOWN in joined:
        return ""
    try:
        if follow or joined.endswith("/"):
            return os.path.realpath(joined)
        return os.path.join(os.path.realpath(os.path.dirname(joined)), os.path.basename(joined))  # noqa: PTH118, PTH119, PTH120
    except (OSError, ValueError):
        return ""


def find_path_uses(
    argument: str,
    directory: str,
    use: Use,
    *,
    used_by: str,
    recursive: bool = False,
    links: Mapping[str, str] | None = None,
    spend: Spend = _spend_nothing,
) -> list[PathUse]:
    """Return the uses of all files that an argument names. `links` are those that the same commands create."""
    found = []
    for text in _expand_glob(argument[:MAX_PATH_CHARS], directory, use, spend):
        path = make_absolute(text, directory)
        linked = _follow_new_link(path, links or {})
        real = os.path.normpath(resolve_links(linked or text, directory, follow=use is not Use.DELETE) or path)
        found.append(PathUse(path, use, real if real != path else "", recursive=recursive, used_by=used_by))
    return found


def _expand_glob(argument: str, directory: str, use: Use, spend: Spend) -> list[str]:
    """Return the paths that an argument stands for."""
    if not has_glob(argument):
        return [argument]
    before, _, last = argument.rpartition("/")
    if _MATCHES_ALL.fullmatch(last) and use is not Use.READ:
        parent = before + "/" if argument.startswith("/") else before or "."
        return _expand_glob(parent, directory, use, spend) if has_glob(parent) else [parent]
    if UNKNOWN in argument or UNKNOWN in directory:
        return [unmark(argument)]
    return _glob_matches(argument, directory, spend) or [unmark(argument)]


def _glob_matches(argument: str, directory: str, spend: Spend) -> list[str]:
    """Expand a glob name by name. Reading directories costs steps."""
    found = ["/" if argument.startswith("/") else ""]
    for name in filter(None, argument.split("/")):
        found = [match for parent in found for match in _match_name(parent, name, directory, spend)][:MAX_GLOB_MATCHES]
    return found


def _match_name(parent: str, name: str, directory: str, spend: Spend) -> list[str]:
    """Return the entries of a directory that match a name."""
    prefix = f"{parent.rstrip('/')}/" if parent else ""
    spend(1)
    try:
        if not has_glob(name):
            return [prefix + name] if os.path.lexists(os.path.join(directory, prefix, name)) else []  # noqa: PTH118
        pattern = re.compile(fnmatch.translate(unmark(name)))
        with os.scandir(os.path.join(directory, prefix)) as entries:  # noqa: PTH118
            names = [entry.name for entry in itertools.islice(entries, MAX_GLOB_ENTRIES)]
    except (OSError, re.error, ValueError):
        return []
    spend(len(names) // 20)
    return [prefix + entry for entry in names if pattern.match(entry)]


def first_glob_match(argument: str, directory: str, spend: Spend) -> str:
    """Return the program that bash would run for a name with a glob, such as `/bin/r?`."""
    matches = (
        sorted(_glob_matches(argument, directory, spend)) if has_glob(argument) and UNKNOWN not in argument else []
    )
    return matches[0] if matches else unmark(argument)


def _follow_new_link(path: str, links: Mapping[str, str]) -> str | None:
    """Return the target of a path below one of these links, or None."""
    for link, target in links.items():
        if path == link or path.startswith(f"{link}/"):
            return target + path[len(link) :]
    return None


def is_directory(path: str) -> bool:
    """Whether the path is a directory. Never raises."""
    try:
        return Path(path).is_dir()
    except (OSError, ValueError):
        return False


def read_small_text(path: str) -> str | None:
    """Return the text of a small regular text file, else None. Never blocks on a pipe."""
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
