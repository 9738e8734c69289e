"""Analyses tool calls for the daemon, so that no input can block or end it.

Rules
- A small call is analysed in this process, within the budget `IN_PROCESS`. One that needs more goes to the
  analysis process, with the budget `FULL`.
- A process that does not reply in time is killed. The next one starts at once.
- A failure raises `AnalysisFailed` with the reason. It is never an empty result.
"""

import contextlib
import socket
import subprocess
import sys

import msgspec

from claude_headspace.inputs.policy.analysis_process import receive_message, send_message
from claude_headspace.inputs.policy.effects import Effects, Invocation, analyse_effects
from claude_headspace.inputs.policy.shell.budget import IN_PROCESS, BudgetExceeded

REPLY_SECONDS = 0.4
"""The process's limit of processor time is much shorter. This is for a busy machine and a dead file system."""
START_SECONDS = 1.5
"""The limit for the first reply of a process, which has to start first."""

TOO_COMPLEX = "the tool call is too long or too nested to be analysed in time"
NOT_STARTED = "the process that analyses large commands could not be started"
MAX_STARTS = 3
"""After how many failed starts in a row the process counts as unavailable."""
TIMED_OUT = "the tool call was not analysed in time"


class AnalysisFailed(Exception):
    """A tool call could not be analysed."""


class Analyser:
    """Analyses tool calls, one at a time."""

    def __init__(self) -> None:
        self._decoder = msgspec.msgpack.Decoder(Effects)
        self._process: subprocess.Popen[bytes] | None = None
        self._connection: socket.socket | None = None
        self.restarts = 0
        """How many processes ended while they analysed a call."""
        self._failed_starts = 0
        """How many processes in a row could not be started, or ended with an error before their first reply."""
        self._has_replied = False

    @property
    def failure(self) -> str | None:
        """Why no process is available. Calls that need one are asked about."""
        return "the process that analyses large commands does not start" if self._failed_starts >= MAX_STARTS else None

    @property
    def process_id(self) -> int | None:
        """The id of the analysis process, if it was started."""
        return self._process.pid if self._process is not None else None

    def analyse(self, invocation: Invocation) -> Effects:
        """Analyse a tool call."""
        try:
            return analyse_effects(invocation, IN_PROCESS)
        except BudgetExceeded:
            return self._analyse_in_process(invocation)

    def _analyse_in_process(self, invocation: Invocation) -> Effects:
        connection = self._connection or self._start()
        try:
            send_message(connection, msgspec.msgpack.encode(invocation))
            reply = receive_message(connection)
            connection.settimeout(REPLY_SECONDS)
        except TimeoutError:
            self._restart()
            raise AnalysisFailed(TIMED_OUT) from None
        except OSError:
            reply = None
        if reply is None:
            self._restart()
            raise AnalysisFailed(TOO_COMPLEX)
        self._has_replied, self._failed_starts = True, 0
        return self._decoder.decode(reply)

    def _start(self) -> socket.socket:
        ours, theirs = socket.socketpair()
        ours.settimeout(START_SECONDS)
        with theirs:
            command = [sys.executable, "-P", "-m", "claude_headspace.inputs.policy.analysis_process"]
            null = subprocess.DEVNULL
            # Without `close_fds` the process is spawned, which is faster than a fork of the daemon. Only the standard
            # streams are inheritable.
            try:
                self._process = subprocess.Popen(
                    command, stdin=theirs.fileno(), stdout=null, stderr=null, close_fds=False
                )
            except OSError as error:
                ours.close()
                self._failed_starts += 1
                raise AnalysisFailed(NOT_STARTED) from error
        self._connection, self._has_replied = ours, False
        return ours

    def _restart(self) -> None:
        ended_with = self._process.poll() if self._process is not None else None
        if not self._has_replied and ended_with is not None and ended_with > 0:
            self._failed_starts += 1
        self.close()
        self.restarts += 1
        self._start()

    def close(self) -> None:
        """End the process."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None
        if self._process is not None:
            with contextlib.suppress(OSError):
                self._process.kill()
            self._process.wait()
            self._process = None
