"""The session registries of all clients: which process has a session open, and whether it shows a dialog.

Clients differ in what they have: Claude Code writes a file per process, others a lock file, a socket, or nothing.
"""

from collections.abc import Mapping
from typing import Protocol

from claude_headspace.kernel.envelope import Observations


class SessionRegistry(Protocol):
    """The running clients of one kind."""

    @property
    def running(self) -> bool:
        """Whether it is being read."""

    @property
    def problem(self) -> str | None:
        """Why it cannot be read."""

    @property
    def summary(self) -> str:
        """What was found, in a few words."""

    def processes(self) -> list[Observations]:
        """The processes of all running clients."""

    def find_client(self, session_id: str) -> Observations | None:
        """The process that has a session open."""

    def shows_dialog(self, session_id: str) -> bool:
        """Whether the client that has a session open shows a dialog."""

    def exists(self) -> bool:
        """Whether there is a registry: then a session that is not in it has ended."""

    def was_killed(self, pid: int) -> bool:
        """Whether a vanished client left its entry behind."""

    def start(self) -> None:
        """Start reading."""

    async def stop(self) -> None:
        """Stop reading."""

    async def first_check(self) -> None:
        """Wait until every existing entry has been read once."""

    async def check(self) -> None:
        """Read every entry."""


class NoRegistry:
    """The registry of a client that has none."""

    running = True
    problem: str | None = None
    summary = ""

    def processes(self) -> list[Observations]:
        """No process is known from here."""
        return []

    def find_client(self, session_id: str) -> Observations | None:
        """No session is known from here."""
        del session_id
        return None

    def shows_dialog(self, session_id: str) -> bool:
        """No dialog is known from here."""
        del session_id
        return False

    def exists(self) -> bool:
        """There is none."""
        return False

    def was_killed(self, pid: int) -> bool:
        """Nothing is left behind."""
        del pid
        return False

    def start(self) -> None:
        """Nothing to start."""

    async def stop(self) -> None:
        """Nothing to stop."""

    async def first_check(self) -> None:
        """Nothing to wait for."""

    async def check(self) -> None:
        """Nothing to read."""


class Registries:
    """The registries of all clients as one."""

    def __init__(self, by_client: Mapping[str, SessionRegistry]) -> None:
        self.by_client = by_client

    def processes(self) -> list[Observations]:
        """The processes of all running clients."""
        return [process for each in self.by_client.values() for process in each.processes()]

    def find_client(self, session_id: str) -> Observations | None:
        """The process that has a session open."""
        found = (each.find_client(session_id) for each in self.by_client.values())
        return next((process for process in found if process is not None), None)

    def shows_dialog(self, session_id: str) -> bool:
        """Whether the client that has a session open shows a dialog."""
        return any(each.shows_dialog(session_id) for each in self.by_client.values())

    def was_killed(self, pid: int) -> bool:
        """Whether a vanished client left its entry behind."""
        return any(each.was_killed(pid) for each in self.by_client.values())

    async def check(self) -> None:
        """Read every entry of all of them."""
        for each in self.by_client.values():
            await each.check()
