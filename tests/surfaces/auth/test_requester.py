"""Who sends a request."""

import asyncio
import os
import socket
import subprocess
import sys

from starlette.requests import Request

from claude_headspace.surfaces.auth.peer_process import holders_of
from claude_headspace.surfaces.auth.requester import RequesterLookup

TRIES = 50
SENDER = """
import os, socket, subprocess, sys, threading
theirs = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
def start_processes():
    while True:
        subprocess.run(["true"], pass_fds=[theirs.fileno()])
for _ in range(3):
    threading.Thread(target=start_processes, daemon=True).start()
sys.stdin.read()
os._exit(0)
"""
"""Sends from one thread while the others start processes, which have the socket for a moment."""


def request_from(their_port: int, our_port: int) -> Request:
    """A request on a connection."""
    ends = {"client": ("127.0.0.1", their_port), "server": ("127.0.0.1", our_port)}
    return Request({"type": "http", "headers": [], **ends})


def test_a_person_whose_program_starts_processes_is_not_refused() -> None:
    """The newest process that has the socket may exit before it is inspected. It is not the sender."""
    lookup = RequesterLookup(lambda: (), lambda _session: False, lambda _pid: None)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        with subprocess.Popen([sys.executable, "-c", SENDER, str(port)], stdin=subprocess.PIPE) as sender:
            ours, (_, their_port) = listener.accept()
            with ours:
                for _ in range(TRIES):
                    asyncio.run(lookup.refuse_agents(request_from(their_port, port)))
                assert sender.pid in holders_of(their_port, port)
            sender.kill()


def test_every_process_that_has_a_socket_is_found() -> None:
    """The newest first: the process that made it, and one that inherited it."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        with socket.create_connection(("127.0.0.1", port)) as theirs, listener.accept()[0]:
            command, pipe = ["sleep", "60"], subprocess.DEVNULL
            with subprocess.Popen(command, pass_fds=[theirs.fileno()], stdout=pipe) as heir:
                found = holders_of(theirs.getsockname()[1], port)
                heir.kill()
    assert sorted(found) == sorted([os.getpid(), heir.pid])
