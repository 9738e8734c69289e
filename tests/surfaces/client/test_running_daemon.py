"""Finding the running daemon through its lock and its file."""

from pathlib import Path

import pytest

from claude_headspace.config import Paths, find_paths
from claude_headspace.errors import AlreadyRunning
from claude_headspace.surfaces.client.running_daemon import daemon_lock, find_daemon, is_locked, read_daemon_file

DAEMON_FILE = b'{"url": "http://127.0.0.1:1", "pid": 7, "version": "1", "started_at": "2026-01-01T00:00:00+00:00"}'


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    """The paths of a scratch home."""
    paths = find_paths({"HEADSPACE_HOME": str(tmp_path)})
    paths.create_directories()
    return paths


def test_the_file_counts_only_while_the_lock_is_held(paths: Paths) -> None:
    """The file of a killed daemon is ignored."""
    paths.daemon_file.write_bytes(DAEMON_FILE)
    assert find_daemon(paths) is None
    with daemon_lock(paths):
        assert is_locked(paths)
        paths.daemon_file.write_bytes(DAEMON_FILE)
        found = find_daemon(paths)
        assert found is not None
        assert (found.url, found.pid) == ("http://127.0.0.1:1", 7)
    assert not is_locked(paths)


def test_locking_removes_the_old_file(paths: Paths) -> None:
    """A starting daemon is not found at the address of the previous one."""
    paths.daemon_file.write_bytes(DAEMON_FILE)
    with daemon_lock(paths):
        assert find_daemon(paths) is None


def test_only_one_process_holds_the_lock(paths: Paths) -> None:
    """The error names the running daemon, and its file stays."""
    with daemon_lock(paths):
        paths.daemon_file.write_bytes(DAEMON_FILE)
        with pytest.raises(AlreadyRunning, match=r"at http://127.0.0.1:1 \(pid 7\)"), daemon_lock(paths):
            pass
        assert paths.daemon_file.exists()
        paths.daemon_file.unlink()
        with pytest.raises(AlreadyRunning, match="and is starting"), daemon_lock(paths):
            pass


@pytest.mark.parametrize("kind", ["removed", "another file"])
def test_a_lock_without_its_file_is_still_held(paths: Paths, kind: str) -> None:
    """The directory is locked, too: the daemon is found, and no other one gets the lock."""
    with daemon_lock(paths):
        paths.daemon_file.write_bytes(DAEMON_FILE)
        paths.lock_file.unlink()
        if kind != "removed":
            paths.lock_file.touch()
        assert find_daemon(paths) is not None
        with pytest.raises(AlreadyRunning), daemon_lock(paths):
            pass
        assert paths.daemon_file.exists()
    assert not is_locked(paths)


def test_checking_the_lock_has_no_side_effects(paths: Paths) -> None:
    """It creates no file and takes no lock."""
    assert not is_locked(paths)
    assert not paths.lock_file.exists()
    with daemon_lock(paths):
        assert is_locked(paths)
        assert is_locked(paths)


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"url": 1}', b"\xff"])
def test_an_invalid_file_is_ignored(paths: Paths, content: bytes) -> None:
    """Reading it never raises."""
    paths.daemon_file.write_bytes(content)
    assert read_daemon_file(paths.daemon_file) is None
