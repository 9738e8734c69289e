"""Inspects tool calls for the daemon, so that no input can block or end it.

Rules
- A small call is inspected in this process, within the budget `IN_PROCESS`. One that needs more goes to the worker
  process, with the budget `FULL`.
- A worker that does not reply in time is killed. The next one starts at once.
- A failure raises `InspectionFailed` with the reason. It is never an empty result.
"""

import contextlib
import socket
import subprocess
import sys

import msgspec

from claude_headspace.inputs.policy.inspection import Effects, Request, inspect
from claude_headspace.inputs.policy.shell.budget import IN_PROCESS, BudgetExceeded
from claude_headspace.inputs.policy.worker import receive_message, send_message

REPLY_SECONDS = 0.4
"""The worker's limit of processor time is much shorter. This is for a busy machine and a dead file system."""
START_SECONDS = 1.5
"""The limit for the first reply of a worker, which has to start first."""

TOO_COMPLEX = "the tool call is too long or too nested to be analysed in time"
TIMED_OUT = "the tool call was not analysed in time"


class InspectionFailed(Exception):
    """A tool call could not be inspected."""


class Inspector:
    """Inspects tool calls, one at a time."""

    def __init__(self) -> None:
        self._decoder = msgspec.msgpack.Decoder(Effects)
        self._worker: subprocess.Popen[bytes] | None = None
        self._connection: socket.socket | None = None
        self.restarts = 0
        """How many workers ended while they inspected a call."""

    @property
    def worker_pid(self) -> int | None:
        """The process id of the worker, if it was started."""
        return self._worker.pid if self._worker is not None else None

    def inspect(self, request: Request) -> Effects:
        """Inspect a tool call."""
        try:
            return inspect(request, IN_PROCESS)
        except BudgetExceeded:
            return self._inspect_in_worker(request)

    def _inspect_in_worker(self, request: Request) -> Effects:
        connection = self._connection or self._start()
        try:
            send_message(connection, msgspec.msgpack.encode(request))
            reply = receive_message(connection)
            connection.settimeout(REPLY_SECONDS)
        except TimeoutError:
            self._restart()
            raise InspectionFailed(TIMED_OUT) from None
        except OSError:
            reply = None
        if reply is None:
            self._restart()
            raise InspectionFailed(TOO_COMPLEX)
        return self._decoder.decode(reply)

    def _start(self) -> socket.socket:
        ours, theirs = socket.socketpair()
        ours.settimeout(START_SECONDS)
        with theirs:
            command = [sys.executable, "-P", "-m", "claude_headspace.inputs.policy.worker"]
            null = subprocess.DEVNULL
            # Without `close_fds` the process is spawned, which is faster than a fork of the daemon. Only the standard
            # streams are inheritable.
            self._worker = subprocess.Popen(command, stdin=theirs.fileno(), stdout=null, stderr=null, close_fds=False)
        self._connection = ours
        return ours

    def _restart(self) -> None:
        self.close()
        self.restarts += 1
        self._start()

    def close(self) -> None:
        """End the worker."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None
        if self._worker is not None:
            with contextlib.suppress(OSError):
                self._worker.kill()
            self._worker.wait()
            self._worker = None
