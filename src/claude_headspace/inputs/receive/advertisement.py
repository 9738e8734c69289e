"""Tells the shims that the daemon is there: where it listens, which process it is, and which events it wants to answer.

All in the state directory, which is the same for every program of the user, where the runtime directory depends on the
session that one happened to be started from. The shims look each time, so they follow a changed port.

    address           127.0.0.1 5055 4711
    asked/PreToolUse  whoever has this event asks; in the file, how many seconds the answer may take, if more than usual
"""

import asyncio
import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress

from claude_headspace.background import Loop
from claude_headspace.clients.claude_code.hook_kinds import hook_names
from claude_headspace.clients.claude_code.wire import HOOKS
from claude_headspace.config import Paths
from claude_headspace.kernel.hooks import HookKind

ALL_HOOKS = "*"
INTERVAL_SECONDS = 1.0
_LOCAL_ADDRESS = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104  # addresses to listen on, and how to reach them


class ExpectedHooks:
    """The hooks that must wait for a reply at the moment. Each component declares its own."""

    def __init__(self, always: frozenset[HookKind] = frozenset()) -> None:
        self._by_component: dict[str, frozenset[HookKind]] = {"": always}
        self._subscribers: list[Callable[[], None]] = []

    def on_change(self, subscriber: Callable[[], None]) -> None:
        """Call this when the hooks change."""
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
        """The names of all of them."""
        return hook_names(frozenset().union(*self._by_component.values()))


class Advertisement(Loop):
    """The daemon's sign at the door, kept up while it runs."""

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
        usual = set(HOOKS) if ALL_HOOKS in names else {name for name in names if name.isidentifier()}
        self._asked = dict.fromkeys(usual, "") | {name: f"{seconds}\n" for name, seconds in (held or {}).items()}

    async def stop(self) -> None:
        """Withdraw: from now on events are only told."""
        await super().stop()
        self._paths.address_file.unlink(missing_ok=True)
        self._write_asked_hooks({})

    async def _run(self) -> None:
        while True:
            with suppress(OSError):  # a full disk: the shims tell instead of asking
                self.update()
            await asyncio.sleep(INTERVAL_SECONDS)

    def _update_now(self) -> None:
        """The hooks that wait changed. The scripts know at once, if the daemon runs."""
        if self.running:
            with suppress(OSError):
                self.update()

    def update(self) -> None:
        """Put the sign up where it is missing, and take away the mark of a daemon that does not answer."""
        self._paths.no_answer_file.unlink(missing_ok=True)
        self._write_asked_hooks(dict.fromkeys(self._expected.names, "") | self._asked)
        try:
            is_up = self._paths.address_file.read_bytes() == self._line
        except FileNotFoundError:
            is_up = False
        if not is_up:
            self._write_address()

    def _write_address(self) -> None:
        draft = self._paths.address_file.with_suffix(".new")
        draft.touch(mode=0o600)
        draft.write_bytes(self._line)
        draft.replace(self._paths.address_file)

    def _write_asked_hooks(self, wanted: Mapping[str, str]) -> None:
        folder = self._paths.asked_hooks_dir
        found = {path.name: path.read_text() for path in folder.iterdir()} if folder.exists() else {}
        if wanted and not folder.exists():
            folder.mkdir(mode=0o700)
        for name in (name for name, limit in wanted.items() if found.get(name) != limit):
            (folder / name).touch(mode=0o600)
            (folder / name).write_text(wanted[name])
        for name in found.keys() - wanted.keys():
            (folder / name).unlink(missing_ok=True)
