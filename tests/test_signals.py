"""The tests also run where SIGINT and SIGHUP are ignored."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
LIST_IGNORED = "import signal as s; print([n.name for n in (s.SIGHUP, s.SIGINT) if s.getsignal(n) is s.SIG_IGN])"
START_CHILD = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {LIST_IGNORED!r}])"
STOP_IGNORING = "from tests.signals import stop_ignoring_signals; stop_ignoring_signals(); "


def _ignored_by_a_child(statements: str) -> str:
    command = ["bash", "-c", 'trap \'\' INT HUP; exec "$0" -c "$1"', sys.executable, statements + START_CHILD]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()


def test_a_tested_program_receives_signals_that_were_ignored_at_the_start() -> None:
    """A child inherits what its parent ignores, so the tests stop ignoring before they start any."""
    assert _ignored_by_a_child("") == "['SIGHUP', 'SIGINT']"
    assert _ignored_by_a_child(STOP_IGNORING) == "[]"
