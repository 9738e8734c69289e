"""The analysis process: analyses tool calls that are too large for the process of the daemon.

It reads invocations from its standard input, a socket, and writes their effects to it. Each message is msgpack, after
its length in four bytes.

Rules
- Its memory is limited. The kernel ends it when one invocation takes too much processor time, even inside the parser.
- It ends when the daemon closes the socket. It writes no files.
"""

import resource
import signal
import socket
import struct
import sys

import msgspec

from claude_headspace.inputs.policy.effects import Invocation, analyse_effects

LENGTH = struct.Struct(">I")
CPU_SECONDS = 0.03
"""For one invocation, mostly in the parser. Processor time, so that a busy machine makes no difference."""
MEMORY_BYTES = 512 * 1024 * 1024


def send_message(connection: socket.socket, message: bytes) -> None:
    """Send one message."""
    connection.sendall(LENGTH.pack(len(message)) + message)


def receive_message(connection: socket.socket) -> bytes | None:
    """Receive one message; None if the other side has closed the connection."""
    header = _receive(connection, LENGTH.size)
    return _receive(connection, LENGTH.unpack(header)[0]) if header else None


def _receive(connection: socket.socket, size: int) -> bytes | None:
    received = bytearray()
    while len(received) < size:
        chunk = connection.recv(min(size - len(received), 1 << 16))
        if not chunk:
            return None
        received += chunk
    return bytes(received)


def serve(connection: socket.socket) -> None:
    """Analyse invocations until the connection is closed."""
    decoder = msgspec.msgpack.Decoder(Invocation)
    while (message := receive_message(connection)) is not None:
        signal.setitimer(signal.ITIMER_PROF, CPU_SECONDS)
        reply = msgspec.msgpack.encode(analyse_effects(decoder.decode(message)))
        signal.setitimer(signal.ITIMER_PROF, 0)
        send_message(connection, reply)


def main() -> None:
    """Run the process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C is for the daemon, which then closes the socket
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    if sys.platform != "darwin":  # macOS does not support the limit
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with socket.socket(fileno=0) as connection:
        serve(connection)


if __name__ == "__main__":
    main()
