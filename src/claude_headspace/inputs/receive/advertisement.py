"""Files that tell hook scripts where the daemon listens, its pid, and for which events they must ask.

    address           127.0.0.1 5055 4711
    asked/EVENT       hooks of this event ask; the file may contain how many seconds the reply may take

They are in the state directory, which is the same for all programs of a user. The runtime directory is not: it depends
on the login session. Hook scripts read the files on every hook, so they follow a changed port.
"""

import asyncio
import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress

from claude_headspace.background import Loop
from claude_headspace.clients.hooks import KNOWN_HOOKS, hook_names
from claude_headspace.config import Paths, write_private_file
from claude_headspace.kernel.hooks import HookKind

ALL_HOOKS = "*"
INTERVAL_SECONDS = 1.0
_LOCAL_ADDRESS = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104  # addresses to listen on, and how to reach them


class ExpectedHooks:
    """The hooks that must currently wait for a reply. Each component declares its own."""

    def __init__(self, always: frozenset[HookKind] = frozenset()) -> None:
        self._by_component: dict[str, frozenset[HookKind]] = {"": always}
        self._subscribers: list[Callable[[], None]] = []

    def on_change(self, subscriber: Callable[[], None]) -> None:
        """Register a function that is called when the hooks change."""
        self._subscribers.append(subscriber)

    def declare(self, component: str, hooks: frozenset[HookKind]) -> None:
        """Replace the hooks of a component."""
        before = self.names
        self._by_component[component] = hooks
        if self.names != before:
            for subscriber in self._subscribers:
                subscriber()

    @property
    def names(self) -> frozenset[str]:
        """The names of all expected hooks."""
        return hook_names(frozenset().union(*self._by_component.values()))


class Advertisement(Loop):
    """Writes the files, and restores them while the daemon runs.

    `asked` are hooks that always ask, `held` those that may wait longer for a reply, with the seconds.
    """

    def __init__(
        self,
        paths: Paths,
        address: tuple[str, int],
        asked: Iterable[str],
        held: Mapping[str, int] | None = None,
        expected: ExpectedHooks | None = None,
    ) -> None:
        super().__init__()
        self._paths = paths
        self._expected = expected or ExpectedHooks()
        self._expected.on_change(self._update_now)
        host, port = address
        self._line = f"{_LOCAL_ADDRESS.get(host, host)} {port} {os.getpid()}\n".encode()
        names = set(asked)
        hooks = set(KNOWN_HOOKS) if ALL_HOOKS in names else {name for name in names if name.isidentifier()}
        self._asked = dict.fromkeys(hooks, "") | {name: f"{seconds}\n" for name, seconds in (held or {}).items()}

    async def stop(self) -> None:
        """Remove the files. From now on hooks only report."""
        await super().stop()
        self._paths.address_file.unlink(missing_ok=True)
        self._write_asked_hooks({})

    async def _run(self) -> None:
        while True:
            with suppress(OSError):  # the disk is full: hooks report instead of asking
                self.update()
            await asyncio.sleep(INTERVAL_SECONDS)

    def _update_now(self) -> None:
        """The expected hooks changed: update the files immediately, if the daemon runs."""
        if self.running:
            with suppress(OSError):
                self.update()

    def update(self) -> None:
        """Write what is missing or different, and remove the mark of a daemon that does not answer."""
        self._paths.no_answer_file.unlink(missing_ok=True)
        self._write_asked_hooks(dict.fromkeys(self._expected.names, "") | self._asked)
        try:
            is_current = self._paths.address_file.read_bytes() == self._line
        except FileNotFoundError:
            is_current = False
        if not is_current:
            write_private_file(self._paths.address_file, self._line)

    def _write_asked_hooks(self, asked: Mapping[str, str]) -> None:
        folder = self._paths.asked_hooks_dir
        found = {path.name: path.read_text() for path in folder.iterdir()} if folder.exists() else {}
        if asked and not folder.exists():
            folder.mkdir(mode=0o700)
        for name in (name for name, limit in asked.items() if found.get(name) != limit):
            (folder / name).touch(mode=0o600)
            (folder / name).write_text(asked[name])
        for name in found.keys() - asked.keys():
            (folder / name).unlink(missing_ok=True)
