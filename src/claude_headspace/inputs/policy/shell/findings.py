"""What reading a text of the shell brought to light, and how much may still be read."""

from claude_headspace.kernel.policy.call import UNKNOWN, PathUse, Program, Trait

MAX_COMMANDS = 1_000
"""Commands of one call that are looked at; loops and functions count each time."""
MAX_WORDS = 5_000
"""Words of one command that are looked at."""
MAX_DEPTH = 12
"""Shells within shells, functions within functions."""


class Findings:
    """Programs, files and traits, in the order in which they were met."""

    def __init__(self) -> None:
        self.programs: list[Program] = []
        self.paths: list[PathUse] = []
        self.traits: dict[Trait, None] = {}
        self._commands_left = MAX_COMMANDS

    def try_count_command(self) -> bool:
        """Whether one more command may be looked at."""
        self._commands_left -= 1
        if self._commands_left == 0:
            self.traits[Trait.UNREADABLE_SCRIPT] = None
        return self._commands_left > 0

    def merge_certain(self, other: "Findings") -> None:
        """Add what is certain of a file's text: what its author left open is no doubt about this call."""
        self.programs += other.programs
        self.paths += [use for use in other.paths if UNKNOWN not in use.path]
        if Trait.FORK_BOMB in other.traits:
            self.traits[Trait.FORK_BOMB] = None
