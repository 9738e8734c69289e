"""Reads the files that a Claude OS session starts with: core files, then the files that its role and mode include.

    <root>/.claude/roles/<role>.md, or <role>/role.md    frontmatter with `auto_include:`, then the text of the role
    <root>/.claude/modes/<mode>.md, or <mode>/mode.md    the same for the mode

Rules
- The number of files, the size of each, and the directory entries that a pattern visits are limited.
- Nothing outside the root and the project is read, and no link below them is followed. Otherwise anyone who can write
  to a project could put any file into a model's context.
- A file that cannot be read is listed with the reason. A missing or broken role file includes nothing.
"""

import difflib
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
"""How many directory entries one pattern may visit."""
MAX_DEPTH = 12
SKIPPED_DIRECTORIES = frozenset({"node_modules", "__pycache__", "venv"})

PROJECT_PATH = "${PROJECT_PATH}"

_NAME = re.compile(r"[A-Za-z0-9][\w.-]{0,99}")
_GLOB = re.compile(r"[*?\[]")

NOT_FOUND = "not found"
INVALID_NAME = "not a valid {} name"
INVALID_ROLE = INVALID_NAME.format(ROLE)

_REASONS = {
    errno.ENOENT: NOT_FOUND,
    errno.ENOTDIR: "not found, or reached through a link",
    errno.ELOOP: "is a link",
    errno.EMLINK: "is a link",
    errno.EACCES: "permission denied",
    errno.EISDIR: "not a regular file",
}


class ContextRoots(msgspec.Struct, frozen=True, kw_only=True):
    """The two directories that files are read from: the Claude OS directory, and the project of the session."""

    root: str
    project: str
    core: tuple[str, ...] = ()
    """The configured core files. If none are configured, those of Claude OS that exist."""

    def root_containing(self, path: str) -> str | None:
        """The directory that contains a path, if any."""
        return next((each for each in (self.root, self.project) if each and Path(path).is_relative_to(each)), None)


def context_roots(root: str, core: Sequence[str], project: str) -> ContextRoots:
    """The directories of a session. Without the setting `claude_os.root`, the project is the Claude OS directory."""
    project = _usable_project(project)
    directory = os.path.normpath(Path(root).expanduser().absolute()) if root else project
    return ContextRoots(root=directory, project=project, core=tuple(core))


def _usable_project(project: str) -> str:
    """The project, or nothing if it is the root directory of the machine."""
    return project if project.startswith("/") and os.path.normpath(project) != "/" else ""


def read_context_files(roots: ContextRoots, role: str | None, mode: str | None) -> SessionContext:
    """All files of a session, in order, each once."""
    by_path: dict[str, ContextFile] = {}
    found = (
        (*_core_files(roots), *_included_files(roots, ROLE, role), *_included_files(roots, MODE, mode))
        if roots.root
        else ()
    )
    for file in found:
        by_path.setdefault(file.path or file.name, file)
    files = list(by_path.values())
    if len(files) > MAX_FILES:
        rest = ContextFile(
            kind=CORE, name=f"{len(files) - MAX_FILES} more files", missing_reason=f"limit of {MAX_FILES} files"
        )
        files = [*files[:MAX_FILES], rest]
    has_roles = bool(roots.root) and not _is_optional(roots, ROLE)
    unknown = unknown_role(roots, role) if role is not None and has_roles else ""
    return SessionContext(role=role, mode=mode, files=tuple(files), unknown_role=unknown)


def unknown_role(roots: ContextRoots, role: str) -> str:
    """A message for the user if a role does not exist, with the nearest name; empty if it exists."""
    if read_definition(roots, ROLE, role).missing_reason not in (NOT_FOUND, INVALID_ROLE):
        return ""
    return f"There is no role {role[:100]} in {roots.root}/.claude/roles.{_nearest(roots, role)}"


def _nearest(roots: ContextRoots, role: str) -> str:
    near = difflib.get_close_matches(role.lower(), list_names(roots), n=1)
    return f" Did you mean {near[0]}?" if near else ""


def list_names(roots: ContextRoots, kind: str = ROLE) -> list[str]:
    """The names of all roles, or modes."""
    folder = Path(roots.root) / ".claude" / f"{kind}s"
    names: set[str] = set()
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.endswith(".md") and entry.is_file(follow_symlinks=False):
                names.add(entry.name.removesuffix(".md"))
            elif entry.is_dir(follow_symlinks=False) and (folder / entry.name / f"{kind}.md").is_file():
                names.add(entry.name)
    return sorted(name for name in names if _NAME.fullmatch(name))


# --- which files ------------------------------------------------------------------------------------------------------


def _core_files(roots: ContextRoots) -> list[ContextFile]:
    """The core files. A configured one that is missing is reported, a default one is not."""
    files = [file for name in roots.core or DEFAULT_CORE_FILES for file in _resolve_entry(roots, CORE, name)]
    return files if roots.core else [file for file in files if file.missing_reason != NOT_FOUND]


def _included_files(roots: ContextRoots, kind: str, name: str | None) -> list[ContextFile]:
    if name is None:
        return []
    definition = read_definition(roots, kind, name)
    if definition.text is None:
        if definition.missing_reason == NOT_FOUND and _is_optional(roots, kind):
            return []
        is_unknown_role = kind == ROLE and definition.missing_reason == NOT_FOUND
        hint = _nearest(roots, name) if is_unknown_role else ""
        reason = f"{definition.missing_reason}.{hint}" if hint else definition.missing_reason
        return [msgspec.structs.replace(definition, missing_reason=reason)]
    frontmatter = parse_frontmatter(definition.text)
    included = frontmatter.settings.get("auto_include", [])
    problem = frontmatter.problem or ("" if isinstance(included, list | str) else "auto_include is not a list")
    broken = (
        [ContextFile(kind=kind, name=definition.name, missing_reason=f"nothing is included: {problem}")]
        if problem
        else []
    )
    found = [file for entry in as_strings(included) for file in _resolve_entry(roots, kind, entry)]
    body = msgspec.structs.replace(definition, text=frontmatter.body)
    return [*broken, *(body if file.path == definition.path and file.text is not None else file for file in found)]


def _is_optional(roots: ContextRoots, kind: str) -> bool:
    """Whether a missing definition is normal: modes need none, and roles need none if there is no roles directory."""
    return kind == MODE or not (Path(roots.root) / ".claude" / f"{kind}s").is_dir()


def read_definition(roots: ContextRoots, kind: str, name: str) -> ContextFile:
    """The file that defines a role or a mode."""
    base = f".claude/{kind}s/{name}"
    if not _NAME.fullmatch(name):
        return ContextFile(kind=kind, name=f"{kind} {name[:100]!r}", missing_reason=INVALID_NAME.format(kind))
    flat = _read_file(roots, kind, f"{base}.md", str(Path(roots.root) / f"{base}.md"))
    if flat.missing_reason != NOT_FOUND:
        return flat
    nested = _read_file(roots, kind, f"{base}/{kind}.md", str(Path(roots.root) / base / f"{kind}.md"))
    return nested if nested.missing_reason != NOT_FOUND else flat


def _resolve_entry(roots: ContextRoots, kind: str, entry: str) -> list[ContextFile]:
    """The files of an `auto_include` entry: one, or all that match its pattern."""
    text = entry.strip().replace("$PROJECT_PATH", PROJECT_PATH).replace(PROJECT_PATH, roots.project)
    if "\0" in text or "${" in text:
        return [ContextFile(kind=kind, name=entry, missing_reason="contains an unknown variable")]
    path = os.path.normpath(Path(roots.root) / text)
    if not _GLOB.search(text):
        return [_read_file(roots, kind, _display_name(roots, path), path)]
    found, is_complete = _find_matches(roots, path)
    files = [_read_file(roots, kind, _display_name(roots, each), each) for each in found]
    if not is_complete:
        files.append(
            ContextFile(
                kind=kind, name=entry, missing_reason=f"too many files to search; the first {len(found)} are used"
            )
        )
    return files or [ContextFile(kind=kind, name=entry, missing_reason="no file matches")]


def _display_name(roots: ContextRoots, path: str) -> str:
    """A path relative to the root, or the complete path if it is not below the root."""
    return os.path.relpath(path, roots.root) if Path(path).is_relative_to(roots.root) else path


# --- reading ----------------------------------------------------------------------------------------------------------


def _read_file(roots: ContextRoots, kind: str, name: str, path: str) -> ContextFile:
    root = roots.root_containing(path)
    if root is None:
        return ContextFile(
            kind=kind, name=name, path=path, missing_reason="outside the Claude OS directory and the project"
        )
    try:
        text = _read_bytes(os.path.realpath(root), Path(path).relative_to(root).parts)
    except (OSError, ValueError) as error:
        reason = _REASONS.get(getattr(error, "errno", None) or 0, "cannot be read")
        return ContextFile(kind=kind, name=name, path=path, missing_reason=reason)
    if len(text) > MAX_FILE_BYTES:
        return ContextFile(kind=kind, name=name, path=path, missing_reason="too large")
    return ContextFile(kind=kind, name=name, path=path, text=text.decode("utf-8", "replace").replace("\0", "\ufffd"))


def _read_bytes(root: str, parts: Sequence[str]) -> bytes:
    """Read a regular file below a directory. Follows no links, never blocks on a pipe."""
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
            raise OSError(errno.EISDIR, "not a regular file")
        return file.read(MAX_FILE_BYTES + 1)


# --- patterns ---------------------------------------------------------------------------------------------------------


def _find_matches(roots: ContextRoots, pattern: str) -> tuple[list[str], bool]:
    """The paths below an allowed directory that match a pattern, sorted, and whether the search was complete."""
    root = roots.root_containing(pattern)
    if root is None:
        return [], True
    search = _GlobSearch()
    found = search.find(Path(root), list(Path(pattern).relative_to(root).parts), MAX_DEPTH)
    paths = list(dict.fromkeys(str(path) for path in islice(found, MAX_FILES + 1)))
    return paths[:MAX_FILES], search.entries_left > 0 and len(paths) <= MAX_FILES


class _GlobSearch:
    """One search. `**` matches any directories except hidden ones."""

    def __init__(self) -> None:
        self.entries_left = MAX_DIRECTORY_ENTRIES

    def find(self, folder: Path, parts: list[str], max_depth: int) -> Iterator[Path]:
        """The files below a directory that match the parts of a pattern."""
        if not parts or max_depth < 0:
            return
        first, rest = parts[0], parts[1:]
        if first == "**":
            yield from self.find(folder, rest or ["*"], max_depth)
        for entry in self._entries(folder):
            is_folder = entry.is_dir(follow_symlinks=False)
            if first == "**" and is_folder and not entry.name.startswith(".") and entry.name not in SKIPPED_DIRECTORIES:
                yield from self.find(folder / entry.name, parts, max_depth - 1)
            elif first != "**" and fnmatch.fnmatchcase(entry.name, first):
                if rest and is_folder:
                    yield from self.find(folder / entry.name, rest, max_depth - 1)
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
