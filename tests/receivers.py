r"""Real receivers of notifications: a webhook on loopback, and a D-Bus session with a notification service.

with receiver() as phone:
(home / "notify.toml").write_text(f'[channels.phone]\nurl = "{phone.url}"')
...
assert phone.wait(1)[0]["title"] == "calm-otter asks"
"""

import contextlib
import json
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.support import LIMIT_SECONDS, wait_until

SECRET = "s3cr3t-t0ken"

Record = dict[str, Any]


class Receiver:
    """A webhook that records what Apprise posts."""

    def __init__(self) -> None:
        self.messages: list[Record] = []
        self.status = 200
        self.open = threading.Event()
        self.open.set()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                outer.messages.append(body)
                outer.open.wait(LIMIT_SECONDS)
                self.send_response(outer.status)
                self.end_headers()

            def log_message(self, *_arguments: object) -> None:
                """Log nothing."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)

    @property
    def url(self) -> str:
        """The address for Apprise, with a secret in it."""
        return f"json://user:{SECRET}@127.0.0.1:{self.server.server_address[1]}/{SECRET}"

    def wait(self, number: int) -> list[Record]:
        """Wait for a number of messages. Returns all of them."""
        wait_until(lambda: len(self.messages) >= number, f"{number} messages")
        return self.messages

    @property
    def titles(self) -> list[str]:
        """The titles of the messages."""
        return [call["title"] for call in self.messages]


@contextlib.contextmanager
def receiver() -> Iterator[Receiver]:
    """Run a webhook."""
    made = Receiver()
    thread = threading.Thread(target=made.server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield made
    finally:
        made.open.set()
        made.server.shutdown()
        made.server.server_close()
        thread.join(LIMIT_SECONDS)


SHOWS = r'''
"""A notification service that records what it shows and closes."""
import itertools, json, sys
from jeepney import MessageType, new_method_return
from jeepney.bus_messages import message_bus
from jeepney.io.blocking import open_dbus_connection

bus = open_dbus_connection(sys.argv[1])
bus.send_and_get_reply(message_bus.RequestName("org.freedesktop.Notifications"))
journal, numbers = open(sys.argv[2], "a", buffering=1), itertools.count(1)
journal.write(json.dumps({"ready": True}) + "\n")
while True:
    message = bus.receive()
    if message.header.message_type is not MessageType.method_call:
        continue
    member = message.header.fields.get(3)
    if member == "GetCapabilities":
        reply = new_method_return(message, "as", (["body", "body-markup"],))
    elif member == "Notify":
        number = next(numbers)
        app, _replaces, _icon, title, body, _actions, hints, _timeout = message.body
        shown = {"show": number, "app": app, "title": title, "body": body, "urgency": hints["urgency"][1]}
        journal.write(json.dumps(shown) + "\n")
        reply = new_method_return(message, "u", (number,))
    else:
        journal.write(json.dumps({"close": message.body[0]}) + "\n")
        reply = new_method_return(message)
    bus.send(reply)
'''


class DesktopSession:
    """A separate D-Bus session, with or without a notification service."""

    def __init__(self, address: str, journal: Path) -> None:
        self.address = address
        self._journal = journal

    @property
    def env(self) -> dict[str, str]:
        """The environment of programs on this desktop."""
        return {"DBUS_SESSION_BUS_ADDRESS": self.address}

    def recorded(self, kind: str) -> list[Record]:
        """The notifications that were shown (`show`) or closed (`close`)."""
        lines = self._journal.read_text().splitlines() if self._journal.exists() else []
        return [record for record in map(json.loads, lines) if kind in record]


@contextlib.contextmanager
def desktop_session(folder: Path, *, shows: bool = True) -> Iterator[DesktopSession]:
    """Run a desktop session. Skips the test if dbus-daemon is not installed."""
    program = shutil.which("dbus-daemon")
    if program is None:
        pytest.skip("dbus-daemon is not installed (Debian: apt install dbus)")
    command = [program, "--session", "--nofork", "--print-address=1"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as bus:
        assert bus.stdout is not None
        address = bus.stdout.readline().strip()
        session = DesktopSession(address, folder / "desktop.jsonl")
        try:
            with _run_notification_service(session, folder) if shows else contextlib.nullcontext():
                yield session
        finally:
            bus.terminate()
            bus.wait(LIMIT_SECONDS)


@contextlib.contextmanager
def _run_notification_service(session: DesktopSession, folder: Path) -> Iterator[None]:
    source = folder / "shows.py"
    source.write_text(SHOWS)
    command = [sys.executable, str(source), session.address, str(folder / "desktop.jsonl")]
    with subprocess.Popen(command) as process:
        try:
            wait_until(lambda: session.recorded("ready"), "the notification service")
            yield
        finally:
            process.terminate()
            process.wait(LIMIT_SECONDS)
