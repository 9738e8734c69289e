"""Finding the daemon: the lock is the truth, the file only tells where."""

from pathlib import Path

import pytest

from claude_headspace.config import Paths, find_paths
from claude_headspace.errors import AlreadyRunning
from claude_headspace.surfaces.client.running_daemon import daemon_lock, find_daemon, is_locked, read_daemon_file

TOLD = b'{"url": "http://127.0.0.1:1", "pid": 7, "version": "1", "started_at": "2026-01-01T00:00:00+00:00"}'


@pytest.fixture
def places(tmp_path: Path) -> Paths:
    """A home of its own."""
    places = find_paths({"HEADSPACE_HOME": str(tmp_path)})
    places.create_directories()
    return places


def test_a_file_is_believed_only_while_somebody_holds_the_lock(places: Paths) -> None:
    """What a killed daemon left behind leads nowhere."""
    places.daemon_file.write_bytes(TOLD)
    assert find_daemon(places) is None
    with daemon_lock(places):
        assert is_locked(places.lock_file)
        places.daemon_file.write_bytes(TOLD)
        found = find_daemon(places)
        assert found is not None
        assert (found.url, found.pid) == ("http://127.0.0.1:1", 7)
    assert not is_locked(places.lock_file)


def test_whoever_takes_the_lock_takes_back_the_old_word(places: Paths) -> None:
    """Between the lock and its own word nobody is sent to the daemon before."""
    places.daemon_file.write_bytes(TOLD)
    with daemon_lock(places):
        assert find_daemon(places) is None


def test_the_lock_is_held_once(places: Paths) -> None:
    """The second is pointed to the first, and leaves its file alone."""
    with daemon_lock(places):
        places.daemon_file.write_bytes(TOLD)
        with pytest.raises(AlreadyRunning, match=r"at http://127.0.0.1:1 \(pid 7\)"), daemon_lock(places):
            pass
        assert places.daemon_file.exists()
        places.daemon_file.unlink()
        with pytest.raises(AlreadyRunning, match="and is starting"), daemon_lock(places):
            pass


def test_looking_does_not_disturb(places: Paths) -> None:
    """A home where nobody ever was has no lock; looking for one makes none, and takes none."""
    assert not is_locked(places.lock_file)
    assert not places.lock_file.exists()
    with daemon_lock(places):
        assert is_locked(places.lock_file)
        assert is_locked(places.lock_file)


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"url": 1}', b"\xff"])
def test_a_broken_file_is_no_daemon(places: Paths, content: bytes) -> None:
    """Whatever stands there, reading it never fails."""
    places.daemon_file.write_bytes(content)
    assert read_daemon_file(places.daemon_file) is None
