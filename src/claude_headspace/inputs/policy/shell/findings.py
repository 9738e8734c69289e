"""The result of analysing shell text, and the limits of the analysis."""

from claude_headspace.kernel.policy.call import UNKNOWN, PathUse, Program, Trait

MAX_COMMANDS = 1_000
"""Analysed commands per tool call. Loops and functions count each time they run."""
MAX_WORDS = 5_000
"""Analysed words per command."""
MAX_DEPTH = 12
"""Nesting of shells and functions."""


class Findings:
    """Programs, files and traits, in the order in which they were found."""

    def __init__(self) -> None:
        self.programs: list[Program] = []
        self.paths: list[PathUse] = []
        self.traits: dict[Trait, None] = {}
        self.depends_on_files = False
        """Whether the analysis used the file system. The result may differ when a file or link changes."""
        self._commands_left = MAX_COMMANDS

    def add_trait(self, trait: Trait) -> None:
        """Add a trait. No-op if present."""
        self.traits[trait] = None

    def try_count_command(self) -> bool:
        """Count one more command. False if the limit is reached."""
        self._commands_left -= 1
        if self._commands_left == 0:
            self.add_trait(Trait.UNREADABLE_SCRIPT)
        return self._commands_left > 0

    def merge_certain(self, other: "Findings") -> None:
        """Add the certain findings of an existing script. Its unknown paths and other traits are dropped."""
        self.programs += other.programs
        self.paths += [use for use in other.paths if UNKNOWN not in use.path]
        if Trait.FORK_BOMB in other.traits:
            self.add_trait(Trait.FORK_BOMB)
