"""Desktop notifications: D-Bus on Linux, `terminal-notifier` or `osascript` on macOS.

`find_desktop` returns a desktop only if it can show notifications: the D-Bus session replies and has a notification
service. Otherwise it returns the reason. Notifications can be removed, except with `osascript`.
"""

import html
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

import msgspec

TIMEOUT_SECONDS = 5.0
NOTIFICATIONS_NAME, NOTIFICATIONS_PATH = "org.freedesktop.Notifications", "/org/freedesktop/Notifications"
BUS = ("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus")
SENDER_FIELD = 7
"""The D-Bus header field with the sender's name."""
APP_NAME = "Headspace"


class DeliveryFailed(Exception):
    """A message was not sent; the text is the reason."""


class Desktop(Protocol):
    """Shows notifications."""

    kind: str

    def show(self, title: str, text: str, link: str, *, urgent: bool, tag: str) -> str:
        """Show a notification. Returns its receipt, for `close`. Raises `DeliveryFailed`."""

    def close(self, receipt: str) -> None:
        """Remove a notification. No-op if it no longer exists."""


class NoDesktop(msgspec.Struct, frozen=True):
    """Why there is no desktop."""

    reason: str


def find_desktop(env: Mapping[str, str] = os.environ, platform: str = sys.platform) -> Desktop | NoDesktop:
    """Return the desktop of this machine, or why there is none."""
    if platform == "darwin":
        return _find_mac(env)
    address = env.get("DBUS_SESSION_BUS_ADDRESS") or _default_address(env)
    if not address:
        return NoDesktop("no D-Bus session: DBUS_SESSION_BUS_ADDRESS is not set")
    try:
        desktop = DBusDesktop(address)
        return desktop if desktop.is_available() else NoDesktop("no notification service in the D-Bus session")
    except DeliveryFailed as error:
        return NoDesktop(str(error))


def _default_address(env: Mapping[str, str]) -> str:
    """The address of the user's bus under systemd; empty if there is none."""
    path = Path(env.get("XDG_RUNTIME_DIR", "")) / "bus"
    return f"unix:path={path}" if path.is_absolute() and path.is_socket() else ""


# --- Linux ------------------------------------------------------------------------------------------------------------


class DBusDesktop:
    """Notifications over D-Bus, by the freedesktop.org specification."""

    kind = "D-Bus"

    def __init__(self, address: str) -> None:
        self._address = address

    def is_available(self) -> bool:
        """Whether a notification service runs, or can be started by D-Bus."""
        if self._request(*BUS, "NameHasOwner", "s", (NOTIFICATIONS_NAME,)).body[0]:
            return True
        return NOTIFICATIONS_NAME in self._request(*BUS, "ListActivatableNames").body[0]

    def show(self, title: str, text: str, link: str, *, urgent: bool, tag: str) -> str:
        """Show a notification. An urgent one stays until the user closes it."""
        del tag  # the notification service assigns an id
        capabilities = self._request(
            NOTIFICATIONS_NAME, NOTIFICATIONS_PATH, NOTIFICATIONS_NAME, "GetCapabilities"
        ).body[0]
        body = html.escape(text, quote=False) if "body-markup" in capabilities else text
        if link:
            label = html.escape(link)
            body += f'\n<a href="{label}">{label}</a>' if "body-hyperlinks" in capabilities else f"\n{link}"
        hints = {
            "urgency": ("y", 2 if urgent else 1),
            "category": ("s", "im.received"),
            "desktop-entry": ("s", APP_NAME),
        }
        arguments: tuple[Any, ...] = (APP_NAME, 0, "", title, body, [], hints, 0 if urgent else -1)
        reply = self._request(
            NOTIFICATIONS_NAME, NOTIFICATIONS_PATH, NOTIFICATIONS_NAME, "Notify", "susssasa{sv}i", arguments
        )
        return f"{reply.header.fields.get(SENDER_FIELD, '')} {reply.body[0]}"

    def close(self, receipt: str) -> None:
        """Remove a notification. No-op if the notification service was restarted: its ids start again."""
        owner, _, number = receipt.partition(" ")
        if self._request(*BUS, "GetNameOwner", "s", (NOTIFICATIONS_NAME,)).body[0] == owner:
            self._request(
                NOTIFICATIONS_NAME, NOTIFICATIONS_PATH, NOTIFICATIONS_NAME, "CloseNotification", "u", (int(number),)
            )

    def _request(
        self,
        name: str,
        path: str,
        interface: str,
        method: str,
        signature: str | None = None,
        arguments: tuple[Any, ...] = (),
    ) -> Any:
        from jeepney import DBusAddress, MessageType, new_method_call  # type: ignore[import-untyped]
        from jeepney.io.blocking import open_dbus_connection  # type: ignore[import-untyped]
        from jeepney.wrappers import DBusErrorResponse  # type: ignore[import-untyped]

        message = new_method_call(DBusAddress(path, bus_name=name, interface=interface), method, signature, arguments)
        try:
            with open_dbus_connection(self._address) as bus:
                reply = bus.send_and_get_reply(message, timeout=TIMEOUT_SECONDS)
        except (OSError, ValueError, RuntimeError, EOFError) as error:
            raise DeliveryFailed(f"the D-Bus session does not reply ({type(error).__name__}: {error})") from error
        if reply.header.message_type is MessageType.error:
            raise DeliveryFailed(f"the desktop refused: {DBusErrorResponse(reply)}")
        return reply


# --- macOS ------------------------------------------------------------------------------------------------------------

APPLE_SCRIPT = (
    "on run argv",
    "display notification (item 3 of argv) with title (item 1 of argv) subtitle (item 2 of argv)",
    "end run",
)


def _find_mac(env: Mapping[str, str]) -> Desktop | NoDesktop:
    if program := shutil.which("terminal-notifier", path=env.get("PATH")):
        return TerminalNotifier(program)
    if program := shutil.which("osascript", path=env.get("PATH")):
        return AppleScript(program)
    return NoDesktop("neither terminal-notifier nor osascript is in PATH")


class TerminalNotifier:
    """Notifications with a link to click, which can be removed."""

    kind = "terminal-notifier"

    def __init__(self, program: str) -> None:
        self._program = program

    def show(self, title: str, text: str, link: str, *, urgent: bool, tag: str) -> str:
        """Show a notification. Its tag is its receipt."""
        link_options = ("-open", link) if link else ()
        sound_options = ("-sound", "default") if urgent else ()
        text_options = ("-title", APP_NAME, "-subtitle", _escape_argument(title), "-message", _escape_argument(text))
        _run(self._program, *text_options, "-group", tag, *link_options, *sound_options)
        return tag

    def close(self, receipt: str) -> None:
        """Remove a notification."""
        _run(self._program, "-remove", receipt)


class AppleScript:
    """Notifications through `osascript`, which every Mac has. They cannot be removed."""

    kind = "osascript"

    def __init__(self, program: str) -> None:
        self._program = program

    def show(self, title: str, text: str, link: str, *, urgent: bool, tag: str) -> str:
        """Show a notification. The text is passed as arguments, never as part of the script."""
        del urgent, tag
        lines = [part for line in APPLE_SCRIPT for part in ("-e", line)]
        _run(self._program, *lines, "--", APP_NAME, title, f"{text}\n{link}".strip())
        return ""

    def close(self, receipt: str) -> None:
        """No-op: it cannot be removed."""


def _escape_argument(text: str) -> str:
    """Add a zero-width space before a first character that terminal-notifier would interpret."""
    return f"\u200b{text}" if text[:1] in ("[", "(", "-", "<") else text


def _run(*command: str) -> None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_SECONDS, check=False)
    except (OSError, subprocess.SubprocessError) as error:
        raise DeliveryFailed(f"{Path(command[0]).name} could not be run: {error}") from error
    if done.returncode:
        reason = done.stderr.strip() or f"exit code {done.returncode}"
        raise DeliveryFailed(f"{Path(command[0]).name} failed: {reason}")
