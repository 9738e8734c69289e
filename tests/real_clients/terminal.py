"""One of the other clients in its terminal. What it shows is recognised by patterns of its screen."""

import contextlib
import re
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from claude_headspace.inputs.watch.processes import has_lost_terminal
from tests.real_client.client import KEY_PAUSE, QUIET_SECONDS, RETRY_SECONDS, TRIES, Client, Terminals
from tests.support import wait_until

if TYPE_CHECKING:
    from tests.real_clients.homes import OtherHome


@dataclass(frozen=True)
class ScreenPatterns:
    """How to recognise what a client shows."""

    ready: str
    """Its input box."""
    busy: str
    """A running turn."""
    dialog: str
    """An option of a dialog: its key and its text."""
    cursor: str
    """The text that shows that a dialog is open."""


class TerminalClient(Client):
    """A client in its terminal."""

    def __init__(self, terminals: Terminals, home: "OtherHome", model_url: str, *options: str) -> None:
        super().__init__(terminals, home, model_url, *options)
        self._patterns = home.patterns
        self._quiet_since: float | None = None

    @property
    def input(self) -> str:
        """What the screen shows; there is no mark of the input line that all clients have."""
        return self.screen

    def options(self) -> dict[str, str]:
        """The options of the open dialog by their keys; empty without a dialog."""
        screen = self.screen
        if self._patterns.cursor not in screen:
            return {}
        found = re.findall(self._patterns.dialog, screen, re.MULTILINE)
        return dict(each if isinstance(each, tuple) else (each, each) for each in found)

    @property
    def entry(self) -> dict[str, Any]:
        """These clients have no registry entry."""
        return {}

    def wait_until_ready(self) -> None:
        """Wait for the input box."""
        wait_until(lambda: re.search(self._patterns.ready, self.screen, re.MULTILINE), "the client's prompt")
        time.sleep(2 * KEY_PAUSE)

    def write(self, words: str) -> None:
        """Type a prompt and wait until the screen shows it."""
        shown = self.screen.count(words)
        self._terminals("send-keys", "-t", self.pane, "-l", "--", words)
        wait_until(lambda: self.screen.count(words) > shown, f"{words!r} to be written")
        time.sleep(KEY_PAUSE)

    def send(self) -> None:
        """Press Enter; try again if the client dropped the key."""
        written, self._quiet_since = self.screen, None
        for _ in range(TRIES):
            self.press("Enter")
            with contextlib.suppress(AssertionError):
                wait_until(lambda: self.screen != written, "the prompt to be accepted", limit=RETRY_SECONDS)
                return

    def shows(self, state: str, since: float) -> bool:
        """Whether the screen shows a state. A turn can be too short to be seen."""
        del since
        screen = self.screen
        is_busy = re.search(self._patterns.busy, screen) is not None
        if state == "ended":
            return not self.alive
        if state == "waiting":
            return bool(self.options()) or not is_busy
        return True if state == "working" else self._is_settled(is_busy=is_busy)

    def _is_settled(self, *, is_busy: bool) -> bool:
        """Whether no turn and no dialog has been seen for a while: the screen is drawn later than it happens."""
        if is_busy or self.options():
            self._quiet_since = None
            return False
        self._quiet_since = self._quiet_since or time.monotonic()
        return time.monotonic() - self._quiet_since >= QUIET_SECONDS

    def is_quiet(self) -> bool:
        """Whether no turn runs."""
        return re.search(self._patterns.busy, self.screen) is None


class OutlivingClient(TerminalClient):
    """A client whose process goes on without its terminal. Nobody can use it then."""

    @property
    def alive(self) -> bool:
        """Whether the process runs in its terminal."""
        return super().alive and not has_lost_terminal(self.pid)
