"""git runs with a limit of time and output."""

from pathlib import Path

import pytest

from claude_headspace.inputs.repository import git
from claude_headspace.inputs.repository.git import Git, GitError
from tests.inputs.repository.repositories import Repository


def test_a_call_after_the_time_limit_fails(tmp_path: Path) -> None:
    """The message says how long the limit is."""
    repository = Repository(tmp_path)
    with pytest.raises(GitError, match="0 seconds"):
        Git(str(repository.root), seconds=0).read("log")


def test_too_much_output_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is not read to its end."""
    repository = Repository(tmp_path)
    monkeypatch.setattr(git, "MAX_OUTPUT_BYTES", 3)
    with pytest.raises(GitError, match="too large"):
        Git(str(repository.root)).read("log")


def test_a_missing_git_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """There is none on the path."""
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(GitError, match="not installed"):
        Git(str(tmp_path)).read("log")
