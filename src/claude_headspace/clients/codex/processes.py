"""Which processes of Codex run the sessions of several terminals."""

from collections.abc import Sequence

SERVER = "app-server"
"""The command of Codex that runs threads for other programs: its shared daemon, and the one that an editor starts."""


def is_shared(command: Sequence[str]) -> bool:
    """Whether a command line is that of a process which runs threads of several terminals.

    Its hooks have the environment of the terminal that started it first, whichever terminal shows the thread.
    """
    return SERVER in command[1:]
