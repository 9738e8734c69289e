"""The scratch home of a demo: its own Headspace, its own Claude Code, its own tmux; nothing of the user's.

    <root>/headspace    what would be in ~/.local/…/headspace: database, spool, log
    <root>/.claude      the configuration directory, with the hooks that `headspace install` puts there

Rules
- Whatever is started here gets `environment`: no setting of the user's reaches it, every place leads below the root.
- The daemon ends with us, also when we are killed: it stops when its standard input ends.
"""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from claude_headspace.clients.claude_code.hooks import installation as installed
from claude_headspace.clients.claude_code.hooks.events import REGISTERED
from claude_headspace.clients.claude_code.hooks.installation import ConfigDir
from claude_headspace.config import Paths, find_paths
from claude_headspace.errors import HeadspaceError
from claude_headspace.surfaces.auth.tokens import Scope
from claude_headspace.surfaces.client.api_client import ApiClient, local_tokens

PASSED_ON = (
    "PATH",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "TZ",
    "TERM",
    "COLORTERM",
    "PYTHONPATH",
    "DISPLAY",
    "WAYLAND_DISPLAY",
)
"""All that is taken over of the user's environment."""
START_SECONDS = 60.0
STOP_SECONDS = 15.0
_POLL_SECONDS = 0.05


def environment(root: Path, env: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The environment of everything on a stage."""
    kept = {name: env[name] for name in PASSED_ON if name in env}
    places = {
        "HOME": root,
        "CLAUDE_CONFIG_DIR": root / ".claude",
        "HEADSPACE_HOME": root / "headspace",
        "TMUX_TMPDIR": root,
        "XDG_CACHE_HOME": root / "cache",
        "XDG_CONFIG_HOME": root / "config",
        "XDG_DATA_HOME": root / "data",
        "XDG_RUNTIME_DIR": root / "run",
        "XDG_STATE_HOME": root / "state",
    }
    ours = {name: str(place) for name, place in places.items()}
    return {**kept, **ours, "HEADSPACE_PORT": "0", "HEADSPACE_MACHINE": "studio"}


class Stage:
    """A scratch home, with the hooks in place and a daemon that can be started."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.environment = environment(root)
        self.places: Paths = find_paths(self.environment)
        self.config = ConfigDir(root / ".claude")
        self._daemon: subprocess.Popen[bytes] | None = None

    @property
    def projects(self) -> Path:
        """Where clients write their transcripts."""
        return self.config.path / "projects"

    @property
    def output(self) -> Path:
        """What the daemon prints."""
        return self.root / "daemon.txt"

    @property
    def client(self) -> ApiClient:
        """Speaks to the daemon."""
        return ApiClient.local(self.places)

    def build(self) -> None:
        """Put the hooks in place, the way `headspace install` does."""
        self.places.create_directories()
        token = local_tokens(self.places)[Scope.INGEST]
        plan = installed.plan_install(self.config, REGISTERED, status_line=True)
        installed.install(plan, self.places.state, token)

    def start(self) -> None:
        """Start the daemon, and wait until it answers."""
        with self.output.open("ab") as file:
            self._daemon = subprocess.Popen(
                [sys.executable, "-m", "claude_headspace", "serve", "--until-eof"],
                env=self.environment,
                cwd=self.root,
                stdin=subprocess.PIPE,
                stdout=file,
                stderr=file,
                start_new_session=True,  # Ctrl+C is ours: it stops when we are done
            )
        deadline = time.monotonic() + START_SECONDS
        while not self._answers():
            if self._daemon.poll() is not None or time.monotonic() > deadline:
                raise HeadspaceError(
                    "demo_failed", f"The demo's daemon did not start: {self._last_words()}", "Try again."
                )
            time.sleep(_POLL_SECONDS)

    def _answers(self) -> bool:
        try:
            return bool(self.client.health())
        except HeadspaceError:
            return False

    def _last_words(self) -> str:
        return " ".join(self.output.read_text(encoding="utf-8", errors="replace").split()[-40:]) or "it said nothing."

    def stop(self) -> None:
        """Stop the daemon, and wait until it is gone."""
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
def set_up(root: Path | None = None) -> Iterator[Stage]:
    """A stage that is taken down again whatever happens; a root that is named must be free."""
    if root is None:
        root = Path(tempfile.mkdtemp(prefix="headspace-demo-"))
    else:
        root.mkdir(mode=0o700)
    stage = Stage(root)
    try:
        stage.build()
        yield stage
    finally:
        with uninterrupted():
            stage.stop()
            shutil.rmtree(root, ignore_errors=True)


@contextlib.contextmanager
def uninterrupted() -> Iterator[None]:
    """A second Ctrl+C does not keep us from cleaning up."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {
        number: signal.signal(number, signal.SIG_IGN) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
