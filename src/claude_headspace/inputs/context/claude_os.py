"""Reads what a context window of Claude OS begins with: core files, then what the role and the mode want included.

    <root>/.claude/roles/<role>.md, or <role>/role.md    frontmatter with `auto_include:`, then the role's own words
    <root>/.claude/modes/<mode>.md, or <mode>/mode.md    the same for the mode

Rules
- Bounded I/O: so many files, so many characters of each, so many directory entries for a `**`.
- Nothing is read outside of the root and the session's project, and nothing through a link below them: whoever can
  write into a project could else have any file put into a model's context.
- What cannot be read is named with the reason. A missing or broken role file loses what it would have included.
"""

import errno
import fnmatch
import os
import re
import stat
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path

import msgspec

from claude_headspace.kernel.claude_os.context_files import (
    CORE,
    DEFAULT_CORE_FILES,
    MODE,
    ROLE,
    ContextFile,
    SessionContext,
)
from claude_headspace.kernel.frontmatter import as_strings, parse_frontmatter

MAX_FILE_BYTES = 256 * 1024
MAX_FILES = 60
MAX_DIRECTORY_ENTRIES = 5_000
"""How many directory entries one pattern may look at."""
MAX_DEPTH = 12
SKIPPED_DIRECTORIES = frozenset({"node_modules", "__pycache__", "venv"})

PROJECT_PATH = "${PROJECT_PATH}"

_NAME = re.compile(r"[A-Za-z0-9][\w.-]{0,99}")
_GLOB = re.compile(r"[*?\[]")

_REASONS = {
    errno.ENOENT: "is not there",
    errno.ENOTDIR: "leads through a link, or is not there",
    errno.ELOOP: "is a link",
    errno.EMLINK: "is a link",
    errno.EACCES: "may not be read",
    errno.EISDIR: "is no file",
}


class ContextRoots(msgspec.Struct, frozen=True, kw_only=True):
    """Where files are looked for: below the root of Claude OS, and in the session's project."""

    root: str
    project: str
    core: tuple[str, ...] = ()
    """The core files; none named means those of Claude OS, where they exist."""

    def root_containing(self, path: str) -> str | None:
        """The directory of the two that a path lies in."""
        return next((each for each in (self.root, self.project) if each and Path(path).is_relative_to(each)), None)


def context_roots(root: str, core: Sequence[str], project: str) -> ContextRoots:
    """The house of a session: `claude_os.root` anchors it where that is set, else its own project does."""
    anchor = os.path.normpath(Path(root).expanduser().absolute()) if root else _usable_project(project)
    return ContextRoots(root=anchor, project=_usable_project(project), core=tuple(core))


def _usable_project(project: str) -> str:
    """A project that is the whole machine is none."""
    return project if project.startswith("/") and os.path.normpath(project) != "/" else ""


def read_context_files(house: ContextRoots, role: str | None, mode: str | None) -> SessionContext:
    """All files of a session, in their order, each once."""
    once: dict[str, ContextFile] = {}
    found = (
        (*_core_files(house), *_included_files(house, ROLE, role), *_included_files(house, MODE, mode))
        if house.root
        else ()
    )
    for piece in found:
        once.setdefault(piece.path or piece.name, piece)
    pieces = list(once.values())
    if len(pieces) > MAX_FILES:
        rest = ContextFile(
            kind=CORE, name=f"{len(pieces) - MAX_FILES} more files", missing_reason=f"more than {MAX_FILES}"
        )
        pieces = [*pieces[:MAX_FILES], rest]
    return SessionContext(role=role, mode=mode, files=tuple(pieces))


def list_names(house: ContextRoots, kind: str = ROLE) -> list[str]:
    """The roles, or modes, that there are."""
    folder = Path(house.root) / ".claude" / f"{kind}s"
    names: set[str] = set()
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.endswith(".md") and entry.is_file(follow_symlinks=False):
                names.add(entry.name.removesuffix(".md"))
            elif entry.is_dir(follow_symlinks=False) and (folder / entry.name / f"{kind}.md").is_file():
                names.add(entry.name)
    return sorted(name for name in names if _NAME.fullmatch(name))


# --- what is wanted ---------------------------------------------------------------------------------------------------


def _core_files(house: ContextRoots) -> list[ContextFile]:
    """Those that somebody named are missed when they are not there; the usual ones are not."""
    wanted = [piece for name in house.core or DEFAULT_CORE_FILES for piece in _resolve_entry(house, CORE, name)]
    return wanted if house.core else [piece for piece in wanted if piece.missing_reason != _REASONS[errno.ENOENT]]


def _included_files(house: ContextRoots, kind: str, name: str | None) -> list[ContextFile]:
    if name is None:
        return []
    own = read_definition(house, kind, name)
    if own.text is None:
        return [] if own.missing_reason == _REASONS[errno.ENOENT] and _is_optional(house, kind) else [own]
    read = parse_frontmatter(own.text)
    listed = read.settings.get("auto_include", [])
    problem = read.problem or ("" if isinstance(listed, list | str) else "auto_include is no list")
    broken = (
        [ContextFile(kind=kind, name=own.name, missing_reason=f"nothing is included, {problem}")] if problem else []
    )
    found = [piece for entry in as_strings(listed) for piece in _resolve_entry(house, kind, entry)]
    body = msgspec.structs.replace(own, text=read.body)
    return [*broken, *(body if piece.path == own.path and piece.text is not None else piece for piece in found)]


def _is_optional(house: ContextRoots, kind: str) -> bool:
    """Whether a file is not missed: no mode needs one, and where there are no roles at all nobody expects one."""
    return kind == MODE or not (Path(house.root) / ".claude" / f"{kind}s").is_dir()


def read_definition(house: ContextRoots, kind: str, name: str) -> ContextFile:
    """The file of a role or a mode."""
    base = f".claude/{kind}s/{name}"
    if not _NAME.fullmatch(name):
        return ContextFile(kind=kind, name=f"{kind} {name[:100]!r}", missing_reason=f"no {kind} can be called so")
    flat = _read_file(house, kind, f"{base}.md", str(Path(house.root) / f"{base}.md"))
    if flat.missing_reason != _REASONS[errno.ENOENT]:
        return flat
    nested = _read_file(house, kind, f"{base}/{kind}.md", str(Path(house.root) / base / f"{kind}.md"))
    return nested if nested.missing_reason != _REASONS[errno.ENOENT] else flat


def _resolve_entry(house: ContextRoots, kind: str, entry: str) -> list[ContextFile]:
    """The files that an entry means: one, or all that fit its pattern."""
    written = entry.strip().replace("$PROJECT_PATH", PROJECT_PATH).replace(PROJECT_PATH, house.project)
    if "\0" in written or "${" in written:
        return [ContextFile(kind=kind, name=entry, missing_reason="names something that is not known")]
    path = os.path.normpath(Path(house.root) / written)
    if not _GLOB.search(written):
        return [_read_file(house, kind, _display_name(house, path), path)]
    found, whole = _find_matches(house, path)
    pieces = [_read_file(house, kind, _display_name(house, each), each) for each in found]
    if not whole:
        pieces.append(
            ContextFile(
                kind=kind, name=entry, missing_reason=f"too much to look through; the first {len(found)} are used"
            )
        )
    return pieces or [ContextFile(kind=kind, name=entry, missing_reason="nothing fits")]


def _display_name(house: ContextRoots, path: str) -> str:
    """A path as short as it is clear: below the root, or else all of it."""
    return os.path.relpath(path, house.root) if Path(path).is_relative_to(house.root) else path


# --- reading ----------------------------------------------------------------------------------------------------------


def _read_file(house: ContextRoots, kind: str, name: str, path: str) -> ContextFile:
    root = house.root_containing(path)
    if root is None:
        return ContextFile(kind=kind, name=name, path=path, missing_reason="lies outside of the root and the project")
    try:
        text = _read_bytes(os.path.realpath(root), Path(path).relative_to(root).parts)
    except (OSError, ValueError) as error:
        why = _REASONS.get(getattr(error, "errno", None) or 0, "cannot be read")
        return ContextFile(kind=kind, name=name, path=path, missing_reason=why)
    if len(text) > MAX_FILE_BYTES:
        return ContextFile(kind=kind, name=name, path=path, missing_reason="is too large")
    return ContextFile(kind=kind, name=name, path=path, text=text.decode("utf-8", "replace").replace("\0", "\ufffd"))


def _read_bytes(root: str, parts: Sequence[str]) -> bytes:
    """A regular file below a directory; never through a link, never waits for a pipe."""
    folder = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for part in parts[:-1]:
            inner = os.open(part, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
            os.close(folder)
            folder = inner
        handle = os.open(parts[-1], os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
    finally:
        os.close(folder)
    with os.fdopen(handle, "rb") as file:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise OSError(errno.EISDIR, "is no file")
        return file.read(MAX_FILE_BYTES + 1)


# --- patterns ---------------------------------------------------------------------------------------------------------


def _find_matches(house: ContextRoots, pattern: str) -> tuple[list[str], bool]:
    """The paths below an allowed directory that fit a pattern, sorted; and whether all were looked at."""
    root = house.root_containing(pattern)
    if root is None:
        return [], True
    walk = _GlobSearch()
    found = walk.find(Path(root), list(Path(pattern).relative_to(root).parts), MAX_DEPTH)
    paths = list(dict.fromkeys(str(path) for path in islice(found, MAX_FILES + 1)))
    return paths[:MAX_FILES], walk.entries_left > 0 and len(paths) <= MAX_FILES


class _GlobSearch:
    """One search: `**` stands for any directories, hidden ones excepted."""

    def __init__(self) -> None:
        self.entries_left = MAX_DIRECTORY_ENTRIES

    def find(self, folder: Path, parts: list[str], deepest: int) -> Iterator[Path]:
        """The files below a directory whose names fit the parts of a pattern."""
        if not parts or deepest < 0:
            return
        first, rest = parts[0], parts[1:]
        if first == "**":
            yield from self.find(folder, rest or ["*"], deepest)
        for entry in self._entries(folder):
            is_folder = entry.is_dir(follow_symlinks=False)
            if first == "**" and is_folder and not entry.name.startswith(".") and entry.name not in SKIPPED_DIRECTORIES:
                yield from self.find(folder / entry.name, parts, deepest - 1)
            elif first != "**" and fnmatch.fnmatchcase(entry.name, first):
                if rest and is_folder:
                    yield from self.find(folder / entry.name, rest, deepest - 1)
                elif not rest and not is_folder and (first.startswith(".") or not entry.name.startswith(".")):
                    yield folder / entry.name

    def _entries(self, folder: Path) -> list["os.DirEntry[str]"]:
        if self.entries_left <= 0:
            return []
        with suppress(OSError), os.scandir(folder) as entries:
            found = list(islice(entries, self.entries_left))
            self.entries_left -= len(found)
            return sorted(found, key=lambda entry: entry.name)
        return []
