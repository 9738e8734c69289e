"""Runs git in a repository, only to read.

Rules
- No hook, pager, external diff, text conversion, filter, file system monitor or prompt runs, whatever the repository
  configures. Nothing in the repository is written, not even the index.
- A time limit covers all calls together, and the output of each call is limited. What exceeds them is an error.
"""

import os
import subprocess
import threading
import time
from functools import cached_property

TIME_LIMIT_SECONDS = 5.0
MAX_OUTPUT_BYTES = 32 * 1024 * 1024

SETTINGS = (
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.pager=cat",
    "core.quotePath=false",
    "color.ui=false",
    "diff.external=",
    "diff.noprefix=false",
    "diff.mnemonicPrefix=false",
    "diff.autoRefreshIndex=false",
    "diff.relative=false",
    "diff.suppressBlankEmpty=false",
    "i18n.logOutputEncoding=UTF-8",
    "log.showSignature=false",
    "protocol.allow=never",
)
ENVIRONMENT = {
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_PAGER": "cat",
    "GIT_NO_LAZY_FETCH": "1",
    "LC_ALL": "C",
}
FILTERS = r"^filter\..*\.(clean|smudge|process|required)$"


class GitError(Exception):
    """Why git gave no result, for people."""


class Git:
    """One repository, for as long as the time limit allows."""

    def __init__(self, root: str, seconds: float = TIME_LIMIT_SECONDS, *, has_work_tree: bool = True) -> None:
        """`has_work_tree`: `root` is the root of a work tree. Otherwise git finds the repository of the directory."""
        self._root = root
        self._has_work_tree = has_work_tree
        self._seconds = seconds
        self._deadline = time.monotonic() + seconds

    def read(self, *arguments: str, accept: tuple[int, ...] = (0,)) -> bytes:
        """The output of a git command that does not look at files of the work tree."""
        return self._run(SETTINGS, arguments, accept)

    def read_files(self, *arguments: str) -> bytes:
        """The output of a git command that reads files of the work tree. Configured filters are not applied."""
        return self._run((*SETTINGS, *self._no_filters), arguments)

    @cached_property
    def _no_filters(self) -> tuple[str, ...]:
        """Settings that switch off every configured filter."""
        names = split_texts(self.read("config", "-z", "--name-only", "--get-regexp", FILTERS, accept=(0, 1)))
        if any("=" in name for name in names):
            raise GitError("The repository configures a filter that cannot be switched off.")
        return tuple(f"{name}={'false' if name.endswith('.required') else ''}" for name in names)

    def _run(self, settings: tuple[str, ...], arguments: tuple[str, ...], accept: tuple[int, ...] = (0,)) -> bytes:
        options = [option for setting in settings for option in ("-c", setting)]
        work_tree = ["--work-tree", self._root] if self._has_work_tree else []  # a repository can configure another
        place = ["-C", self._root, *work_tree]
        command = ["git", "--no-pager", "--literal-pathspecs", *place, *options, *arguments]
        try:
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=_environment(),
                start_new_session=True,
            )
        except OSError as error:
            raise GitError("git is not installed, or cannot be started.") from error
        output = self._output(process)
        if process.returncode not in accept:
            raise GitError(f"git {arguments[0]} failed.")
        return output

    def _output(self, process: "subprocess.Popen[bytes]") -> bytes:
        timer = threading.Timer(max(self._deadline - time.monotonic(), 0), process.kill)
        timer.daemon = True
        timer.start()
        with process:
            assert process.stdout is not None
            output = process.stdout.read(MAX_OUTPUT_BYTES + 1)
            if len(output) > MAX_OUTPUT_BYTES:
                process.kill()
        timer.cancel()
        if time.monotonic() >= self._deadline:
            raise GitError(f"git took longer than {self._seconds:g} seconds.")
        if len(output) > MAX_OUTPUT_BYTES:
            raise GitError("The changes in the repository are too large.")
        return output


def _environment() -> dict[str, str]:
    """The environment without variables that redirect git to other programs or repositories."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return {**kept, **ENVIRONMENT}


def split_texts(output: bytes) -> list[str]:
    """The parts of a NUL-separated output, with paths as the file system spells them."""
    return [os.fsdecode(part) for part in output.split(b"\0") if part]
