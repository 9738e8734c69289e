"""The version of Claude Code on this machine."""

from pathlib import Path

import pytest

from claude_headspace.clients.claude_code.hooks.version import find_version, parse_version


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("2.1.325 (Claude Code)\n", (2, 1, 325)),
        ("2.1.197", (2, 1, 197)),
        (" 3.0\n", (3, 0)),
        ("claude: not found", None),
        ("", None),
        ("2", None),
    ],
)
def test_a_version_is_parsed(text: str, version: tuple[int, ...] | None) -> None:
    """The numbers at the start of the text."""
    assert parse_version(text) == version


@pytest.mark.parametrize(
    ("script", "version"),
    [("echo '2.1.325 (Claude Code)'", (2, 1, 325)), ("exit 1", None), ("echo hello", None)],
)
def test_the_version_comes_from_the_client(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, version: tuple[int, ...] | None
) -> None:
    """From `claude --version`; a client that fails has no version."""
    program = tmp_path / "claude"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o700)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_version() == version


def test_without_a_client_there_is_no_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`claude` is not in PATH."""
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_version() is None
