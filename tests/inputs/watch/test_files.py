"""Watching directories, and opening only regular files below known roots."""

import asyncio
import os
from pathlib import Path

import pytest

from claude_headspace.clients.files import open_regular_file
from claude_headspace.inputs.watch.files import FileWatch, resolve_below


def test_a_path_below_a_root_is_resolved(tmp_path: Path) -> None:
    """Links inside the root are followed, links that lead out of it are not. The root may be a link itself."""
    root, outside = tmp_path / "root", tmp_path / "outside"
    root.mkdir()
    outside.mkdir()
    (root / "file").touch()
    (root / "inside").symlink_to(root / "file")
    (root / "out").symlink_to(outside)
    (tmp_path / "linked-root").symlink_to(root)
    real = os.path.realpath(root / "file")
    assert resolve_below(str(root / "inside"), [root]) == real
    assert resolve_below(str(root / "inside"), [tmp_path / "linked-root"]) == real
    assert resolve_below(str(root / "out" / "file"), [root]) is None
    assert resolve_below(str(root / ".." / "outside"), [root]) is None


@pytest.mark.parametrize("path", ["", "relative", "/a\0b", "/etc/passwd"])
def test_other_paths_are_refused(path: str, tmp_path: Path) -> None:
    """Paths come from any payload: relative, with a NUL, or outside the root."""
    assert resolve_below(path, [tmp_path]) is None


def test_only_regular_files_are_opened(tmp_path: Path) -> None:
    """Pipes, links and directories are refused without blocking."""
    (tmp_path / "file").write_bytes(b"text")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to(tmp_path / "file")
    with open_regular_file(str(tmp_path / "file")) as handle:
        assert os.read(handle, 10) == b"text"
    for name in ("pipe", "link", "nothing", "."):
        with pytest.raises(OSError, match=r"regular|links|such"), open_regular_file(str(tmp_path / name)):
            pass


def test_changes_are_reported_for_directories_that_are_created_later(tmp_path: Path) -> None:
    """An empty set is reported at the start, and whenever a directory is created or replaced."""
    directory, reported, has_changed = tmp_path / "directory", list[set[str]](), asyncio.Event()

    def on_change(paths: set[str]) -> None:
        reported.append(paths)
        has_changed.set()

    async def next_change() -> set[str]:
        async with asyncio.timeout(30):
            await has_changed.wait()
        has_changed.clear()
        return reported[-1]

    async def run() -> None:
        watch = FileWatch(lambda: [directory], on_change, recursive=True)
        watch.start()
        assert await next_change() == set()
        assert (watch.running, watch.watching) == (True, 0)
        directory.mkdir()
        assert await next_change() == set()
        (directory / "one").touch()
        assert str(directory / "one") in await next_change()
        await watch.stop()
        assert not watch.running

    asyncio.run(run())
