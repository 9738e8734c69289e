"""Signals as programs in a terminal receive them.

A program started by `nohup` and by some CI runners ignores SIGINT and SIGHUP, and so does every program that it starts.
The tests send these signals to the programs they test, so they stop ignoring them first.
"""

import signal


def stop_ignoring_signals() -> None:
    """Receive the signals that the program that started the tests ignores."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
        signal.signal(signal.SIGHUP, signal.SIG_DFL)
