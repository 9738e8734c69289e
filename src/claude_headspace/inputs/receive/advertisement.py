"""Files that tell hook scripts where the daemon listens, its pid, and for which events they must ask.

    address           127.0.0.1 5055 4711
    asked/EVENT       hooks of this event ask; the file may contain how many seconds the reply may take

They are in the state directory, which is the same for all programs of a user. The runtime directory is not: it depends
on the login session. Hook scripts read the files on every hook, so they follow a changed port.

A stopped daemon keeps the space of its address file under another name (`address.kept`). So the next one can be found
on a full disk, too.

While the daemon runs, files that were removed, changed or replaced by something else are restored every second.
"""

import asyncio
import os
import secrets
import stat
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path

import structlog

from claude_headspace.background import Loop
from claude_headspace.clients.hooks import EVERY_ASKING_HOOK, asking_hooks
from claude_headspace.config import Paths, withdraw_file, write_kept_file
from claude_headspace.kernel.hooks import HookKind

log = structlog.get_logger(__name__)

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
        return asking_hooks(frozenset().union(*self._by_component.values()))


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
        on_repair: Callable[[str], None] = lambda _what: None,
    ) -> None:
        super().__init__()
        self._on_repair = on_repair
        """Receives what was wrong with the files while the daemon ran."""
        self._written: frozenset[str] = frozenset()
        """The hooks that ask, as last written."""
        self.daemon_info = b""
        """The content of `daemon.json`, which is restored with the other files."""
        self._paths = paths
        self._expected = expected or ExpectedHooks()
        self._expected.on_change(self._update_now)
        host, port = address
        self._line = f"{_LOCAL_ADDRESS.get(host, host)} {port} {os.getpid()}\n".encode()
        names = set(asked)
        hooks = (
            set(EVERY_ASKING_HOOK)
            if ALL_HOOKS in names
            else {name for name in names if name.replace(".", "_").isidentifier()}
        )
        self._asked = dict.fromkeys(hooks, "") | {name: f"{seconds}\n" for name, seconds in (held or {}).items()}

    async def stop(self) -> None:
        """Remove the address and the events. From now on hooks only report."""
        await super().stop()
        with suppress(OSError):
            withdraw_file(self._paths.address_file)
            self._write_asked_hooks({})

    async def _run(self) -> None:
        while True:
            self._try_update()
            await asyncio.sleep(INTERVAL_SECONDS)

    def _update_now(self) -> None:
        """The expected hooks changed: update the files immediately, if the daemon runs."""
        if self.running:
            self._try_update()

    def _try_update(self) -> None:
        try:
            self.update()
            self.failure = None
        except OSError as error:  # a full disk: hooks report instead of asking
            self.failure = f"{error.filename or self._paths.state} cannot be written: {error.strerror}"

    def update(self) -> None:
        """Write what is missing or different, and remove the mark of a daemon that does not answer."""
        if self._paths.no_answer_file.is_dir():
            self._repair("there was a directory named `silent`")
        self._remove(self._paths.no_answer_file)
        self._write(self._paths.address_file, self._line)
        if self.daemon_info:
            self._write(self._paths.daemon_file, self.daemon_info)
        self._write_asked_hooks(dict.fromkeys(self._expected.names, "") | self._asked)

    def _write_asked_hooks(self, asked: Mapping[str, str]) -> None:
        folder = self._paths.asked_hooks_dir
        if os.path.lexists(folder) and (folder.is_symlink() or not folder.is_dir()):
            self._repair("`asked` was not a directory")
            self._remove(folder)
        found = {path.name for path in folder.iterdir()} if folder.exists() else set[str]()
        if missing := sorted((self._written & asked.keys()) - found):
            self._repair(f"{', '.join(f'asked/{name}' for name in missing)} was removed")
        if asked and not folder.exists():
            folder.mkdir(mode=0o700)
        for name, limit in sorted(asked.items(), key=lambda item: len(item[1])):  # empty files need no space
            self._write(folder / name, limit.encode())
        for name in found - asked.keys():
            self._remove(folder / name)
        self._written = frozenset(asked)

    def _write(self, path: Path, content: bytes) -> None:
        """Write a file unless it has this content. Something else with its name is moved away."""
        try:
            found = path.lstat()
        except FileNotFoundError:
            found = None
        if found is not None and not stat.S_ISREG(found.st_mode):
            self._remove(path)
        elif found is not None and found.st_size == len(content) and path.read_bytes() == content:
            return
        if content:
            write_kept_file(path, content)
        else:
            path.touch(mode=0o600)
            os.truncate(path, 0)

    def _remove(self, path: Path) -> None:
        """Remove a file or a link. A directory is moved away, because it may contain something."""
        if path.is_dir() and not path.is_symlink():
            path.rename(path.with_name(f"{path.name}.removed.{secrets.token_hex(4)}"))
        else:
            path.unlink(missing_ok=True)

    def _repair(self, what: str) -> None:
        log.warning("state_repaired", what=what)
        self._on_repair(what)
