"""Files for the model: included if they fit, otherwise listed with size and reason."""

import os
from pathlib import Path

from claude_headspace.outputs.file_contents import MAX_FILE_BYTES, format_files, read_files


def test_files_that_fit_are_read_and_the_others_are_listed(tmp_path: Path) -> None:
    """In order, within the limit, with sizes and reasons."""
    for name, size in (("a", 10), ("b", 5_000), ("c", 20)):
        (tmp_path / name).write_text(name * size)
    (tmp_path / "huge").write_bytes(b"x" * (MAX_FILE_BYTES + 1))
    os.mkfifo(tmp_path / "pipe")
    names = ["a", "b", "c", "missing", "huge", "pipe"]
    files = read_files([str(tmp_path / name) for name in names], 100)
    assert [file.text for file in files] == ["a" * 10, None, "c" * 20, None, None, None]
    text = format_files(files)
    assert f"{tmp_path}/b (5000 bytes): left out, it does not fit; read it yourself" in text
    assert f"{tmp_path}/missing (0 bytes): left out, it cannot be opened" in text
    assert "is too large" in text
    assert "is not a regular file" in text
    assert text.endswith(f"--- {tmp_path}/c\n{'c' * 20}")


def test_without_files_the_text_is_empty() -> None:
    """There is no heading."""
    assert format_files([]) == ""
