"""A Headspace installation: a real daemon, a reader of its event stream, and hooks installed by the real command."""

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


class Installation:
    """One Headspace and the homes of its clients. The daemon can be stopped and started again."""

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
        """The running daemon."""
        assert self.board.daemon is not None, "no daemon runs"
        return self.board.daemon

    def start(self) -> None:
        """Start a daemon and wait until it replies."""
        places = ",".join(str(home.config_dir) for home in self._homes if home.client_name == "claude-code")
        daemon = self._open.enter_context(running_daemon(self.root, config_dirs=places, **self._settings))
        self.board.daemon = daemon

    def kill(self) -> None:
        """Kill the daemon."""
        self.daemon.kill()
        self._open.close()
        self.board.daemon = None

    def install(self, *options: str) -> None:
        """Install the hooks with the real command, once for each client and version."""
        for own in sorted({home.install_options for home in self._homes}):
            dirs = [f"--config-dir={home.config_dir}" for home in self._homes if home.install_options == own]
            command = ["install", "--yes", *own, *options, *dirs]
            subprocess.run(
                [sys.executable, "-m", "claude_headspace", *command],
                env=environment(self.root),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=LIMIT_SECONDS,
                check=True,
            )
