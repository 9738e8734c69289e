"""The analysis process reads invocations from a socket and writes their effects, within limits of its own."""

import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator

import msgspec
import pytest

from claude_headspace.inputs.policy.analysis_process import LENGTH, receive_message, send_message, serve
from claude_headspace.inputs.policy.effects import Effects, Invocation, analyse_effects

INVOCATION = Invocation("Bash", ("rm -rf /etc",), directory="/tmp", home="/home/dev")


@pytest.fixture
def pair() -> Iterator[tuple[socket.socket, socket.socket]]:
    """Two connected sockets."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield ours, theirs


@pytest.fixture
def process(pair: tuple[socket.socket, socket.socket]) -> Iterator[subprocess.Popen[bytes]]:
    """The analysis process, at the other end of `pair`."""
    command = [sys.executable, "-m", "claude_headspace.inputs.policy.analysis_process"]
    with pair[1] as theirs:
        found = subprocess.Popen(command, stdin=theirs.fileno())
    pair[0].settimeout(20)
    yield found
    found.kill()
    found.wait()


def ask(connection: socket.socket, invocation: Invocation) -> Effects | None:
    """Send an invocation and return its effects, None if the process ended."""
    send_message(connection, msgspec.msgpack.encode(invocation))
    reply = receive_message(connection)
    return msgspec.msgpack.decode(reply, type=Effects) if reply is not None else None


def test_messages_keep_their_boundaries(pair: tuple[socket.socket, socket.socket]) -> None:
    """Also an empty one, and one that is larger than the buffer of a socket."""
    messages = [b"one", b"", b"x" * 1_000_000]

    def send() -> None:
        for message in messages:
            send_message(pair[0], message)

    sender = threading.Thread(target=send)
    sender.start()
    assert [receive_message(pair[1]) for _ in messages] == messages
    sender.join()


@pytest.mark.parametrize("sent", [b"", LENGTH.pack(10)[:2], LENGTH.pack(10) + b"half"])
def test_closed_connection_is_no_message(pair: tuple[socket.socket, socket.socket], sent: bytes) -> None:
    """A part of a message is dropped."""
    pair[0].sendall(sent)
    pair[0].close()
    assert receive_message(pair[1]) is None


def test_serve_ends_with_the_connection(pair: tuple[socket.socket, socket.socket]) -> None:
    """Every invocation gets its effects, in order."""
    invocations = [INVOCATION, Invocation("Bash", ("ls",), directory="/tmp")]
    for invocation in invocations:
        send_message(pair[0], msgspec.msgpack.encode(invocation))
    pair[0].shutdown(socket.SHUT_WR)
    serve(pair[1])
    replies = [receive_message(pair[0]) for _ in invocations]
    assert replies == [msgspec.msgpack.encode(analyse_effects(invocation)) for invocation in invocations]


def test_process_analyses_and_ends_with_the_daemon(
    pair: tuple[socket.socket, socket.socket], process: subprocess.Popen[bytes]
) -> None:
    """Its result is the one of this process. A closed socket ends it, an interrupt of the terminal does not."""
    assert ask(pair[0], INVOCATION) == analyse_effects(INVOCATION)
    process.send_signal(signal.SIGINT)
    assert ask(pair[0], INVOCATION) == analyse_effects(INVOCATION)
    pair[0].close()
    assert process.wait(timeout=20) == 0


def test_processor_time_is_limited(pair: tuple[socket.socket, socket.socket], process: subprocess.Popen[bytes]) -> None:
    """The kernel ends the process, even inside the parser."""
    assert ask(pair[0], Invocation("Bash", ("a[ " * 10_000,))) is None
    assert process.wait(timeout=20) == -signal.SIGPROF
