"""Finds the project location of a directory: its root, its repository, and the branch and commit that are checked out.

A hook waits for this, so the I/O is bounded: a few `stat` calls and a few small files, with a cache and a time limit.
Only git's own files (`.git`, `HEAD` and the files of references) are opened, and only if they are regular files.
"""

import asyncio
import os
import re
import stat
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from claude_headspace.kernel.envelope import Observations

CACHE_SECONDS = 5.0
TIMEOUT_SECONDS = 0.2
MAX_CACHED = 2_000
MAX_HEAD_BYTES = 4_096
MAX_PACKED_BYTES = 256 * 1_024

_COMMIT = re.compile("[0-9a-f]{40}([0-9a-f]{24})?")

_UNKNOWN = Observations()


class ProjectLocator:
    """Locates projects in a thread, with a cache and a time limit."""

    def __init__(self) -> None:
        self._cache: dict[str, tuple[float, Observations]] = {}
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="projects")

    async def __call__(self, directory: str | None) -> Observations:
        """The project root and the branch; the last known ones if the disk does not answer in time."""
        if not directory or "\0" in directory or not directory.startswith("/"):
            return Observations(project_root=directory) if directory else _UNKNOWN
        now = time.monotonic()
        cached = self._cache.get(directory)
        if cached is not None and cached[0] > now:
            return cached[1]
        return await self._find(directory, now, cached[1] if cached else Observations(project_root=directory))

    async def _find(self, directory: str, now: float, fallback: Observations) -> Observations:
        search = asyncio.get_running_loop().run_in_executor(self._thread, locate_project, directory)
        try:
            found = await asyncio.wait_for(search, TIMEOUT_SECONDS)
        except TimeoutError:
            found = fallback
        if len(self._cache) >= MAX_CACHED:
            self._cache.clear()
        self._cache[directory] = (now + CACHE_SECONDS, found)
        return found

    def close(self) -> None:
        """Stop the thread."""
        self._thread.shutdown(wait=False, cancel_futures=True)


def locate_project(directory: str) -> Observations:
    """The location of the nearest repository. Without a repository the directory is its own project."""
    start = Path(os.path.normpath(directory))
    for folder in (start, *start.parents):
        git = folder / ".git"
        try:
            mode = git.stat().st_mode
        except (OSError, ValueError):
            continue
        if stat.S_ISDIR(mode) or stat.S_ISREG(mode):
            return _location(folder, _git_directory(git) if stat.S_ISREG(mode) else git)
    return Observations(project_root=str(start))


def _git_directory(git: Path) -> Path | None:
    """The directory that a file `.git` names: in a worktree or a submodule."""
    pointer = _read_small_file(git) or ""
    return git.parent / pointer.removeprefix("gitdir: ").strip() if pointer.startswith("gitdir: ") else None


def _location(folder: Path, git: Path | None) -> Observations:
    if git is None:
        return Observations(project_root=str(folder))
    branch, commit = _checked_out(git)
    repository = _repository_root(git)
    return Observations(project_root=str(folder), repository_root=repository, branch=branch, commit=commit)


def _repository_root(git: Path) -> str | None:
    """The root of the repository, if this is the git directory of a worktree that is not the main one.

    The root of a bare repository is its directory, or the directory around it if its name is hidden (`.bare`). A
    worktree of a submodule is a project of its own.
    """
    shared = (_read_small_file(git / "commondir") or "").strip()
    if not shared or git.parent.name != "worktrees":
        return None
    common = Path(os.path.normpath(git / shared))
    if common.name.startswith("."):
        return str(common.parent)
    return None if ".git" in common.parts else str(common)


def _checked_out(git: Path) -> tuple[str | None, str | None]:
    """The branch, or the start of the commit hash; and the commit."""
    head = (_read_small_file(git / "HEAD") or "").strip()
    if not head.startswith("ref: "):
        return head[:12] or None, head if _COMMIT.fullmatch(head) else None
    reference = head.removeprefix("ref: ")
    branch = reference.removeprefix("refs/heads/")[:200] if reference.startswith("refs/heads/") else head[:12]
    return branch, _commit_of(git, reference)


def _commit_of(git: Path, reference: str) -> str | None:
    """The commit of a reference: in a file of its own, or in the file of packed references."""
    if ".." in reference or not reference.startswith("refs/"):
        return None
    shared = git / (_read_small_file(git / "commondir") or ".").strip()
    for folder in dict.fromkeys((git, shared)):
        commit = (_read_small_file(folder / reference) or "").strip()
        if _COMMIT.fullmatch(commit):
            return commit
    packed = _read_small_file(shared / "packed-refs", MAX_PACKED_BYTES) or ""
    lines = (line.split(" ", 1) for line in packed.splitlines())
    found = next((line[0] for line in lines if len(line) == 2 and line[1] == reference), "")
    return found if _COMMIT.fullmatch(found) else None


def branch_commit(root: str, branch: str) -> str | None:
    """The commit of a branch of the repository of a checkout, from git's own files."""
    git = Path(root) / ".git"
    folder = _git_directory(git) if git.is_file() else git
    return _commit_of(folder, f"refs/heads/{branch}") if folder is not None else None


def _read_small_file(path: Path, limit: int = MAX_HEAD_BYTES) -> str | None:
    """The text of a regular file, up to a limit. Never blocks on a pipe."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError):
        return None
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            return None
        return os.read(handle, limit).decode("utf-8", "replace")
    except OSError:
        return None
    finally:
        os.close(handle)
