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
def test_versions_are_read(text: str, version: tuple[int, ...] | None) -> None:
    """The numbers at the beginning count; anything else is no version."""
    assert parse_version(text) == version


@pytest.mark.parametrize(
    ("script", "version"),
    [("echo '2.1.325 (Claude Code)'", (2, 1, 325)), ("exit 1", None), ("echo hello", None)],
)
def test_the_client_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, version: tuple[int, ...] | None
) -> None:
    """What `claude --version` says counts; one that fails says nothing."""
    program = tmp_path / "claude"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o700)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_version() == version


def test_without_a_client_there_is_no_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing in PATH, nothing known."""
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_version() is None
