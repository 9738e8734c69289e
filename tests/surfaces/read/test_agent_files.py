"""Files of agents are read for a diff only if they are small regular text files."""

import os
from pathlib import Path

import pytest

from claude_headspace.kernel.wait.requested_edit import NotApplicable
from claude_headspace.surfaces.read.agent_files import MAX_BYTES, read_text


def test_a_text_file_is_read(tmp_path: Path) -> None:
    """By an absolute path, or relative to the agent's directory. A missing file has no text."""
    (tmp_path / "a.txt").write_bytes(b"caf\xc3\xa9\r\n\xff")
    assert read_text(str(tmp_path / "a.txt"), None) == read_text("a.txt", str(tmp_path)) == "café\r\n\ufffd"
    assert read_text("b.txt", str(tmp_path)) is None


def test_other_files_are_not_read(tmp_path: Path) -> None:
    """A pipe is not waited for."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "binary").write_bytes(b"a\0b")
    (tmp_path / "file").touch()
    with (tmp_path / "large").open("wb") as large:
        large.truncate(MAX_BYTES + 1)
    reasons = {
        "pipe": "not a regular file",
        "/dev/zero": "not a regular file",
        ".": "not a regular file",
        "binary": "binary",
        "large": f"{MAX_BYTES + 1:,} bytes",
        "file/below": "Not a directory",
        "a\0b": "name is not valid",
    }
    for path, reason in reasons.items():
        with pytest.raises(NotApplicable, match=reason):
            read_text(path, str(tmp_path))
