"""The process at the other end of a connection."""

import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator

import pytest

from claude_headspace.surfaces.auth import peer_process as peers
from claude_headspace.surfaces.auth.peer_process import Peer, peer_of

WAYS = [peer_of, peers._by_psutil]


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    """A listening socket."""
    with socket.create_server(("127.0.0.1", 0)) as made:
        yield made


@pytest.mark.parametrize("look", WAYS)
def test_another_process_is_found(look: Callable[[int, int], Peer], listener: socket.socket) -> None:
    """By the ports of both ends, while the process holds its end."""
    port = listener.getsockname()[1]
    code = f"import socket, sys; s = socket.create_connection(('127.0.0.1', {port})); sys.stdin.read()"
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE) as process:
        ours, (_, their_port) = listener.accept()
        with ours:
            assert look(their_port, port) == Peer(process.pid)
        assert process.stdin is not None
        process.stdin.close()


@pytest.mark.parametrize("look", WAYS)
def test_our_own_end_is_distinguished(look: Callable[[int, int], Peer], listener: socket.socket) -> None:
    """Both ends may belong to one process."""
    port = listener.getsockname()[1]
    with socket.create_connection(("127.0.0.1", port)) as theirs, listener.accept()[0]:
        assert look(theirs.getsockname()[1], port) == Peer(os.getpid())


@pytest.mark.parametrize("look", WAYS)
def test_closed_connections_are_gone(look: Callable[[int, int], Peer], listener: socket.socket) -> None:
    """The other end is closed, or closed for reading."""
    port = listener.getsockname()[1]
    with socket.create_connection(("127.0.0.1", port)) as theirs:
        their_port = theirs.getsockname()[1]
        ours = listener.accept()[0]
    with ours:
        assert look(their_port, port) == Peer(None, is_gone=True)


NOT_DUMPABLE = """
import ctypes, encodings.ascii, encodings.idna, os, socket
from claude_headspace.surfaces.auth.peer_process import peer_of
if os.getuid() == 0:  # root can inspect every process
    os.setgroups([]), os.setgid(65534), os.setuid(65534)
with socket.create_server(("127.0.0.1", 0)) as listener:
    port = listener.getsockname()[1]
    if os.fork() == 0:
        ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)  # PR_SET_DUMPABLE
        with socket.create_connection(("127.0.0.1", port)) as theirs:
            theirs.recv(1)
        os._exit(0)
    ours, (_, their_port) = listener.accept()
    with ours:
        print(peer_of(their_port, port))
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the system does not name the user of a socket")
def test_a_process_that_cannot_be_inspected_is_hidden() -> None:
    """The socket belongs to our user, and the process that has it is not dumpable."""
    command = [sys.executable, "-c", NOT_DUMPABLE]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout.strip() == str(Peer(None, is_hidden=True)), done.stderr
