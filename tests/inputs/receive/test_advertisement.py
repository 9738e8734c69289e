"""The advertisement: written while the daemon runs, restored, removed when it stops."""

import asyncio
import errno
import os
import stat
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from claude_headspace.clients.claude_code.wire import HOOKS
from claude_headspace.clients.hooks import EVERY_ASKING_HOOK, asking_hooks
from claude_headspace.config import Paths, find_paths, withdraw_file
from claude_headspace.inputs.receive.advertisement import Advertisement, ExpectedHooks
from claude_headspace.kernel.hooks import HookKind


async def until(condition: Callable[[], object]) -> None:
    """Wait until a condition holds, with a limit that only a hang reaches."""
    for _ in range(60_000):
        if condition():
            return
        await asyncio.sleep(0.001)
    raise TimeoutError


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    """The paths of an empty home."""
    return find_paths({"HEADSPACE_HOME": str(tmp_path)})


@pytest.mark.parametrize(
    ("host", "line"),
    [
        ("127.0.0.1", "127.0.0.1 5055 {pid}\n"),
        ("0.0.0.0", "127.0.0.1 5055 {pid}\n"),  # noqa: S104  # only written to a file
        ("::", "::1 5055 {pid}\n"),
    ],
)
def test_the_address_file_has_address_and_pid(paths: Paths, host: str, line: str) -> None:
    """One line: how to reach the daemon, and its process. Only its user can read it."""
    Advertisement(paths, (host, 5055), ()).update()
    assert paths.address_file.read_text() == line.format(pid=os.getpid())
    assert stat.S_IMODE(paths.address_file.stat().st_mode) == 0o600
    assert list(paths.state.iterdir()) == [paths.address_file]


def test_there_is_a_file_for_each_event_that_asks(paths: Paths) -> None:
    """Files of an earlier daemon are removed."""
    Advertisement(paths, ("127.0.0.1", 5055), ("Stop", "PreToolUse", "../oops")).update()
    assert asked(paths) == {"Stop", "PreToolUse"}
    Advertisement(paths, ("127.0.0.1", 5055), ("Stop", "NewEvent")).update()
    assert asked(paths) == {"Stop", "NewEvent"}
    Advertisement(paths, ("127.0.0.1", 5055), ("*",)).update()
    assert asked(paths) == EVERY_ASKING_HOOK >= set(HOOKS)
    Advertisement(paths, ("127.0.0.1", 5055), ()).update()
    assert asked(paths) == set()


def asked(paths: Paths) -> set[str]:
    """The events that ask."""
    return {path.name for path in paths.asked_hooks_dir.iterdir()}


def test_expected_hooks_are_added_and_removed(paths: Paths) -> None:
    """A component may expect more hooks for some time. The time limit of held hooks stays."""
    expected = ExpectedHooks()
    advertisement = Advertisement(paths, ("127.0.0.1", 5055), ("Stop",), {"PermissionRequest": 65}, expected)
    expected.declare("component", frozenset({HookKind.BEFORE_TOOL, HookKind.PERMISSION}))
    advertisement.update()
    assert asked(paths) == {"Stop"} | asking_hooks({HookKind.BEFORE_TOOL, HookKind.PERMISSION})
    assert {"PreToolUse", "codex.PreToolUse", "PermissionRequest", "opencode.permission.asked"} < asked(paths)
    assert "codex.PermissionRequest" not in asked(paths)
    assert (paths.asked_hooks_dir / "PermissionRequest").read_text() == "65\n"
    expected.declare("component", frozenset())
    advertisement.update()
    assert asked(paths) == {"Stop", "PermissionRequest"}


def test_the_address_file_is_restored(paths: Paths) -> None:
    """It is rewritten if it was removed or overwritten, and the mark of a silent daemon is removed."""
    advertisement = Advertisement(paths, ("127.0.0.1", 5055), ())
    advertisement.update()
    expected = paths.address_file.read_text()
    paths.address_file.write_text("other content")
    paths.no_answer_file.touch()
    advertisement.update()
    assert paths.address_file.read_text() == expected
    assert not paths.no_answer_file.exists()
    paths.address_file.unlink()
    advertisement.update()
    assert paths.address_file.read_text() == expected


def test_the_files_are_removed_when_the_daemon_stops(paths: Paths) -> None:
    """No hook asks any more."""

    async def run() -> None:
        advertisement = Advertisement(paths, ("127.0.0.1", 5055), ("Stop",))
        advertisement.start()
        await until(paths.address_file.exists)
        assert asked(paths) == {"Stop"}
        await advertisement.stop()

    asyncio.run(run())
    assert not paths.address_file.exists()
    assert asked(paths) == set()


def test_a_restart_on_a_full_disk_needs_no_space(paths: Paths, monkeypatch: pytest.MonkeyPatch) -> None:
    """The address and `daemon.json` use the space of the last ones, so hooks find the new daemon."""
    first = Advertisement(paths, ("127.0.0.1", 5055), ("PreToolUse",), {"PermissionRequest": 65})
    first.daemon_info = b'{"first": 1}'
    paths.create_directories()
    first.update()
    asyncio.run(first.stop())
    withdraw_file(paths.daemon_file)
    write, pwrite = os.open, os.pwrite

    def open_without_space(path: str | Path, flags: int, mode: int = 0o777) -> int:
        if flags & os.O_EXCL:
            raise OSError(errno.ENOSPC, "no space", str(path))
        return write(path, flags, mode)

    def write_within(handle: int, content: bytes, at: int) -> int:
        assert len(content) <= 4096  # stays within the block that the file has
        return pwrite(handle, content, at)

    monkeypatch.setattr(os, "open", open_without_space)
    monkeypatch.setattr(os, "pwrite", write_within)
    second = Advertisement(paths, ("127.0.0.1", 50567), ("PreToolUse",), {"PermissionRequest": 65})
    second.daemon_info = b'{"second": 2, "longer": "than the first"}'
    with suppress(OSError):
        second.update()
    assert paths.address_file.read_text() == f"127.0.0.1 50567 {os.getpid()}\n"
    assert paths.daemon_file.read_bytes() == second.daemon_info
    assert "PreToolUse" in asked(paths)


def test_a_full_disk_does_not_stop_it(tmp_path: Path) -> None:
    """If the files cannot be written, the daemon still runs."""

    async def run() -> None:
        advertisement = Advertisement(
            find_paths({"HEADSPACE_HOME": str(tmp_path / "nowhere")}), ("127.0.0.1", 5055), ("Stop",)
        )
        advertisement.start()
        await asyncio.sleep(0.01)
        await advertisement.stop()

    asyncio.run(run())
