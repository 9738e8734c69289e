"""One checkout of a repository, in which git runs as the user would run it: with the user's settings and hooks.

Rules
- Git never opens an editor, a pager or a prompt. Variables that redirect git to another repository are removed.
- Ctrl+C interrupts git so that it removes its lock files. Then the operation is undone by its caller.
- Errors have the text that git printed, and the next step.
"""

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from claude_headspace.errors import BadRequest
from claude_headspace.inputs.repository.git import GitError
from claude_headspace.kernel.hidden_characters import mark_controls

REDIRECTING = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY", "GIT_NAMESPACE")
QUIET = {
    "GIT_EDITOR": "true",
    "GIT_SEQUENCE_EDITOR": "true",
    "GIT_MERGE_AUTOEDIT": "no",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_PAGER": "cat",
}
OPERATIONS = {
    "MERGE_HEAD": "merge",
    "rebase-merge": "rebase",
    "rebase-apply": "rebase",
    "CHERRY_PICK_HEAD": "cherry-pick",
    "REVERT_HEAD": "revert",
    "BISECT_LOG": "bisect",
}
"""Files in the git directory, and the operation that they show."""
MAX_ERROR_LINES = 12


class Result(NamedTuple):
    """What a git command returned."""

    code: int
    output: str
    errors: str

    @property
    def text(self) -> str:
        """What git printed, for people: on one line, without the progress that a line showed before its last text."""
        lines = [each.rpartition("\r")[2] for each in (self.errors + "\n" + self.output).split("\n")]
        return mark_controls("; ".join([each.strip() for each in lines if each.strip()][:MAX_ERROR_LINES]))


@contextmanager
def explained() -> Iterator[None]:
    """Errors while reading a repository, as errors for people."""
    try:
        yield
    except GitError as error:
        raise refuse("git_failed", str(error), "Nothing was changed.") from error


def refuse(code: str, message: str, hint: str) -> BadRequest:
    """Why nothing was changed, and what to do."""
    return BadRequest(code, message, hint, status=409)


class Checkout:
    """A worktree."""

    def __init__(self, path: str) -> None:
        self.path = path

    def run(self, *arguments: str) -> Result:
        """Run git to its end."""
        kept = {name: value for name, value in os.environ.items() if name not in REDIRECTING}
        try:
            process = subprocess.Popen(
                ["git", "--no-pager", "-C", self.path, *arguments],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env={**kept, **QUIET},
                start_new_session=True,  # Ctrl+C reaches only this process
            )
        except OSError as error:
            raise refuse("no_git", "git is not installed, or cannot be started.", "Install git.") from error
        output, errors = _finish(process)
        return Result(process.returncode, os.fsdecode(output), os.fsdecode(errors))

    def read(self, *arguments: str) -> str:
        """The output of a git command that must succeed, without the end of the last line."""
        result = self.run(*arguments)
        if result.code:
            raise refuse("git_failed", f"git {arguments[0]} failed: {result.text}", "Nothing was changed.")
        return result.output.removesuffix("\n")

    def succeeds(self, *arguments: str) -> bool:
        """Whether a git command returns 0."""
        return self.run(*arguments).code == 0

    def commit(self, revision: str = "HEAD") -> str | None:
        """The commit of a revision, if there is one."""
        result = self.run("rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}")
        return result.output.strip() if result.code == 0 else None

    def branch(self) -> str | None:
        """The branch that is checked out; None if HEAD is detached."""
        result = self.run("symbolic-ref", "--quiet", "--short", "HEAD")
        return result.output.strip() if result.code == 0 else None

    def is_ancestor(self, one: str, other: str) -> bool:
        """Whether a commit is contained in another."""
        return self.succeeds("merge-base", "--is-ancestor", one, other)

    def operation(self) -> str | None:
        """The operation that was begun here and has not ended, such as a merge."""
        folder = Path(self.read("rev-parse", "--absolute-git-dir"))
        return next((name for file, name in OPERATIONS.items() if (folder / file).exists()), None)

    def changed_files(self, *, untracked: bool = True) -> list[str]:
        """Files whose changes are not committed. Nothing in the configuration hides one."""
        arguments = ("--porcelain=v1", "-z", "--no-renames", "--ignore-submodules=none")
        shown = "--untracked-files=all" if untracked else "--untracked-files=no"
        settings = ("-c", "core.fsmonitor=false", "-c", "core.untrackedCache=false")
        entries = self.read(*settings, "status", *arguments, shown).split("\0")
        return [entry[3:] for entry in entries if entry]

    def conflicting_files(self) -> list[str]:
        """Files in which an operation stopped at a conflict."""
        return [each for each in self.run("diff", "--name-only", "--diff-filter=U", "-z").output.split("\0") if each]


def _finish(process: "subprocess.Popen[bytes]") -> tuple[bytes, bytes]:
    """Wait for git. It is interrupted if this process is, and has ended when this raises."""
    try:
        return process.communicate()
    except BaseException:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGINT)  # also its hooks
        process.communicate()
        raise


def listed(names: list[str], limit: int = 5) -> str:
    """Some names, and how many more there are."""
    more = f" and {len(names) - limit} more" if len(names) > limit else ""
    return mark_controls(", ".join(names[:limit])) + more
