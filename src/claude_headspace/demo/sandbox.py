"""A temporary home for the demo, with its own Headspace, Claude Code configuration and tmux directory.

    <root>/headspace    database, spool and log
    <root>/.claude      the configuration directory, with the hooks installed as by `headspace install`

Rules
- Every process gets `environment`: no setting of the user, and all directories below the root.
- The daemon ends with the demo, even if the demo is killed: it stops when its standard input ends.
"""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path

from claude_headspace.clients import settings_change
from claude_headspace.clients.claude_code.hooks import installation
from claude_headspace.clients.claude_code.hooks.events import events_for
from claude_headspace.clients.claude_code.hooks.installation import ConfigDir
from claude_headspace.clients.claude_code.hooks.version import find_version
from claude_headspace.config import Paths, find_paths
from claude_headspace.errors import HeadspaceError
from claude_headspace.surfaces.auth.tokens import Scope
from claude_headspace.surfaces.client.api_client import ApiClient, local_tokens
from claude_headspace.surfaces.launch.background_daemon import wait_until_running

INHERITED = "PATH LANG LC_ALL LC_CTYPE TZ TERM COLORTERM PYTHONPATH DISPLAY WAYLAND_DISPLAY".split()
"""The only variables of the user's environment that are passed on."""
START_SECONDS = 60.0
STOP_SECONDS = 15.0
END_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def environment(root: Path, env: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The environment of every process in the sandbox."""
    directories = {
        "HOME": root,
        "CLAUDE_CONFIG_DIR": root / ".claude",
        "HEADSPACE_HOME": root / "headspace",
        "TMUX_TMPDIR": root,
        **{f"XDG_{name.upper()}_HOME": root / name for name in ("cache", "config", "data", "state")},
        "XDG_RUNTIME_DIR": root / "run",
    }
    inherited = {name: env[name] for name in INHERITED if name in env}
    own = {name: str(path) for name, path in directories.items()}
    return {**inherited, **own, "HEADSPACE_PORT": "0", "HEADSPACE_MACHINE": "studio"}


class Sandbox:
    """A temporary home with installed hooks and a daemon."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.environment = environment(root)
        self.paths: Paths = find_paths(self.environment)
        self.config = ConfigDir(root / ".claude")
        self.transcripts = self.config.path / "projects"
        self._daemon_output = root / "daemon.txt"
        self._daemon: subprocess.Popen[bytes] | None = None

    @property
    def client(self) -> ApiClient:
        """A client of the daemon's API."""
        return ApiClient.local(self.paths)

    def install_hooks(self) -> None:
        """Install the hooks as `headspace install` does."""
        self.paths.create_directories()
        self.paths.demo_file.touch(mode=0o600)
        token = local_tokens(self.paths)[Scope.INGEST]
        plan = installation.plan_install(self.config, events_for(find_version()), status_line=True)
        settings_change.install(plan, self.paths.state, token)

    def start_daemon(self) -> None:
        """Start the daemon and wait until it responds."""
        with self._daemon_output.open("ab") as file:
            self._daemon = subprocess.Popen(
                [sys.executable, "-m", "claude_headspace", "serve", "--until-eof"],
                env=self.environment,
                cwd=self.root,
                stdin=subprocess.PIPE,
                stdout=file,
                stderr=file,
                start_new_session=True,  # Ctrl+C reaches only the demo, which then stops the daemon
            )
        daemon = self._daemon
        try:
            wait_until_running(self.paths, lambda: daemon.poll() is None, limit=START_SECONDS)
        except HeadspaceError as error:
            output = self._daemon_output.read_text(encoding="utf-8", errors="replace").split()[-40:]
            message = f"The daemon of the demo did not start: {' '.join(output) or 'it printed nothing.'}"
            raise HeadspaceError("demo_failed", message, "Try again.") from error

    def stop_daemon(self) -> None:
        """Stop the daemon and wait until it has ended."""
        if self._daemon is None:
            return
        assert self._daemon.stdin is not None
        self._daemon.stdin.close()
        self._daemon.terminate()
        try:
            self._daemon.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._daemon.kill()
            self._daemon.wait()


@contextlib.contextmanager
def create_sandbox(root: Path | None = None) -> Iterator[Sandbox]:
    """A sandbox that is always removed at the end. A given root must not exist."""
    if root is None:
        root = Path(tempfile.mkdtemp(prefix="headspace-demo-"))
    else:
        root.mkdir(mode=0o700)
    sandbox = Sandbox(root)
    try:
        sandbox.install_hooks()
        yield sandbox
    finally:
        with ignored_signals():
            sandbox.stop_daemon()
            shutil.rmtree(root, ignore_errors=True)


@contextlib.contextmanager
def ignored_signals() -> Iterator[None]:
    """Ignore a second Ctrl+C while cleaning up."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, signal.SIG_IGN) for number in END_SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
