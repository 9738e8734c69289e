"""The control socket of Codex: threads, approvals, and answers."""

import asyncio
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from claude_headspace.clients.codex.control_protocol import Thread
from claude_headspace.clients.codex.control_socket import ControlSocket, socket_path
from tests.codex_daemon import ACTIVE, ASKING, CodexDaemon

LIMIT_SECONDS = 30.0


class Follower:
    """A connection to a simulated daemon, and what it reported."""

    def __init__(self, config_dir: Path) -> None:
        self.reported: list[tuple[str, str]] = []
        self.control = ControlSocket(socket_path(config_dir), self._report, lambda *_answered: None, lambda: None)

    def _report(self, _control: ControlSocket, thread: Thread, _at: int) -> None:
        self.reported.append((thread.id, thread.status.type))

    async def until(self, condition: Callable[[], object]) -> None:
        """Wait until a condition is true."""
        async with asyncio.timeout(LIMIT_SECONDS):
            while True:
                if condition():
                    return
                await asyncio.sleep(0.005)


def follow(
    home: Path,
    story: Callable[[CodexDaemon, Follower], Awaitable[None]],
    before: Callable[[CodexDaemon], Awaitable[None]] | None = None,
) -> None:
    """Run a story with a connected daemon; `before` happens before the connection."""

    async def main() -> None:
        async with CodexDaemon(home) as daemon:
            if before is not None:
                await before(daemon)
            follower = Follower(home)
            running = asyncio.create_task(follower.control.run())
            async with asyncio.timeout(LIMIT_SECONDS):
                await follower.control.loaded.wait()
            await story(daemon, follower)
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)

    asyncio.run(main())


def test_threads_are_followed(tmp_path: Path) -> None:
    """Those that are open at first, new ones, their changes and their ends; ephemeral ones are skipped."""

    async def before(daemon: CodexDaemon) -> None:
        await daemon.open("old", ACTIVE)

    async def story(daemon: CodexDaemon, follower: Follower) -> None:
        await daemon.open("title", ephemeral=True)
        await daemon.change("title", ACTIVE)
        await daemon.open("new")
        await daemon.change("new", ACTIVE)
        await daemon.close("new")
        await follower.until(lambda: ("new", "closed") in follower.reported)
        assert follower.reported == [("old", "active"), ("new", "idle"), ("new", "active"), ("new", "closed")]

    follow(tmp_path, story, before)


def test_an_approval_that_was_open_before_is_found_and_answered(tmp_path: Path) -> None:
    """The thread is subscribed to only while its dialog is open."""

    async def before(daemon: CodexDaemon) -> None:
        await daemon.open("one")
        await daemon.ask("one")

    async def story(daemon: CodexDaemon, follower: Follower) -> None:
        await follower.until(lambda: follower.control.approvals_of("one"))
        assert daemon.subscribers == {"one"}
        (approval,) = follower.control.approvals_of("one")
        await follower.control.answer(approval, "accept")
        assert daemon.decisions == ["accept"]
        assert follower.control.approvals_of("one") == []
        await follower.until(lambda: not daemon.subscribers)

    follow(tmp_path, story, before)


def test_an_approval_answered_in_the_terminal_cannot_be_answered_again(tmp_path: Path) -> None:
    """The daemon tells all its clients."""

    async def story(daemon: CodexDaemon, follower: Follower) -> None:
        await daemon.open("one")
        await daemon.ask("one")
        await follower.until(lambda: follower.control.approvals_of("one"))
        (approval,) = follower.control.approvals_of("one")
        await daemon.resolve()
        await follower.until(lambda: not follower.control.approvals_of("one"))
        with pytest.raises(OSError, match="the dialog is closed"):
            await follower.control.answer(approval, "accept")
        assert daemon.decisions == []

    follow(tmp_path, story)


def test_a_lost_connection_forgets_everything(tmp_path: Path) -> None:
    """Nothing can be answered, and nothing is known."""

    async def story(daemon: CodexDaemon, follower: Follower) -> None:
        await daemon.open("one", ASKING)
        await follower.until(lambda: follower.control.threads)
        await daemon.hang_up()
        await follower.until(lambda: not follower.control.is_connected)
        assert (follower.control.threads, follower.control.loaded.is_set()) == ({}, False)

    follow(tmp_path, story)


def test_without_a_daemon_there_is_no_connection() -> None:
    """The file of the socket may be missing, or be left behind. The path of a socket must be short."""
    with tempfile.TemporaryDirectory() as folder, pytest.raises(OSError, match="No such file"):
        asyncio.run(Follower(Path(folder)).control.run())
