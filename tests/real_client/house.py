"""Where clients and Headspace meet: the hooks installed by the real command, a real daemon, and its board."""

import contextlib
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from tests.real_client.board import Board
from tests.real_client.client import Home, Terminals
from tests.support import LIMIT_SECONDS, RunningDaemon, environment, running_daemon


class House:
    """One Headspace and the homes that it serves. The daemon can be ended and started again."""

    def __init__(
        self, root: Path, terminals: Terminals, homes: Sequence[Home], settings: Mapping[str, object] | None = None
    ) -> None:
        self.root = root
        self.terminals = terminals
        self.board = Board()
        self._homes = homes
        self._settings = dict(settings or {})
        self._open = contextlib.ExitStack()
        root.mkdir(parents=True, exist_ok=True)

    def __enter__(self) -> Self:
        self.board.__enter__()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.board.__exit__(kind, error, at)
        self._open.close()

    @property
    def daemon(self) -> RunningDaemon:
        """The daemon that runs."""
        assert self.board.daemon is not None, "no daemon runs"
        return self.board.daemon

    def start(self) -> None:
        """Start a daemon, and wait until it answers."""
        places = ",".join(str(home.config_dir) for home in self._homes)
        daemon = self._open.enter_context(running_daemon(self.root, config_dirs=places, **self._settings))
        self.board.daemon = daemon

    def kill(self) -> None:
        """End the daemon without warning."""
        self.daemon.kill()
        self._open.close()
        self.board.daemon = None

    def install(self, *options: str) -> None:
        """Let the clients report, as a person would: once for each version."""
        for version in sorted({home.version for home in self._homes}):
            dirs = [f"--config-dir={home.config_dir}" for home in self._homes if home.version == version]
            command = ["install", "--yes", f"--client-version={version}", *options, *dirs]
            subprocess.run(
                [sys.executable, "-m", "claude_headspace", *command],
                env=environment(self.root),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=LIMIT_SECONDS,
                check=True,
            )
