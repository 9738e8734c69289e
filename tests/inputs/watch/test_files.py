"""Files that others write: only what lies below a root is opened, and every change below a place is told."""

import asyncio
import os
from pathlib import Path

import pytest

from claude_headspace.inputs.watch.files import FileWatch, open_regular_file, resolve_below


def test_what_lies_below_a_root_is_known_by_its_real_path(tmp_path: Path) -> None:
    """Links inside are followed, those that lead out are not; the root itself may be a link."""
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
def test_strange_paths_lie_nowhere(path: str, tmp_path: Path) -> None:
    """They come from anybody's payload."""
    assert resolve_below(path, [tmp_path]) is None


def test_only_regular_files_are_opened(tmp_path: Path) -> None:
    """No pipe is waited for, no link followed at the last step, no directory read."""
    (tmp_path / "file").write_bytes(b"text")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to(tmp_path / "file")
    with open_regular_file(str(tmp_path / "file")) as handle:
        assert os.read(handle, 10) == b"text"
    for name in ("pipe", "link", "nothing", "."):
        with pytest.raises(OSError, match=r"regular|links|such"), open_regular_file(str(tmp_path / name)):
            pass


def test_changes_are_told_also_of_places_that_come_later(tmp_path: Path) -> None:
    """An empty set says: look for yourself; it is told at the beginning, and whenever a place is another one."""
    place, told, more = tmp_path / "place", list[set[str]](), asyncio.Event()

    def changed(paths: set[str]) -> None:
        told.append(paths)
        more.set()

    async def next_one() -> set[str]:
        async with asyncio.timeout(30):
            await more.wait()
        more.clear()
        return told[-1]

    async def play() -> None:
        watch = FileWatch(lambda: [place], changed, recursive=True)
        watch.start()
        assert await next_one() == set()
        assert (watch.running, watch.watching) == (True, 0)
        place.mkdir()
        assert await next_one() == set()
        (place / "one").touch()
        assert str(place / "one") in await next_one()
        await watch.stop()
        assert not watch.running

    asyncio.run(play())
