"""The data of the shell analysis: what programs pass to each other, what they do, and the result with its limits."""

import msgspec

from claude_headspace.inputs.policy.shell.budget import Budget
from claude_headspace.kernel.policy.call import UNKNOWN, PathUse, Program, Trait, Use

MAX_WORDS = 5_000
"""Analysed words per command."""
MAX_DEPTH = 12
"""Nesting of shells and functions."""


class Flow(msgspec.Struct, frozen=True):
    """A text that a program reads or prints, as far as it is known, and the programs that it comes from."""

    text: str = ""
    sources: tuple[str, ...] = ()


EMPTY = Flow()


class FileUse(msgspec.Struct, frozen=True):
    """The use of a file. Its path is not resolved yet."""

    argument: str
    """The path as written, relative or absolute; can contain glob markers."""
    use: Use
    recursive: bool = False
    contents: tuple[str, ...] = ()
    """The files that are put into it if it is a directory."""


class ShellText(msgspec.Struct, frozen=True):
    """Text that is run by a shell."""

    text: str


class Argv(msgspec.Struct, frozen=True):
    """A program that is run without a shell."""

    arguments: tuple[str, ...]


Effect = FileUse | ShellText | Argv | Trait
"""What a program does: the result of analysing its arguments (`file_uses`) or its code (`languages`)."""


class Findings:
    """Programs, files and traits, in the order in which they were found."""

    def __init__(self, budget: Budget | None = None) -> None:
        self.budget = budget or Budget()
        self.programs: list[Program] = []
        self.paths: list[PathUse] = []
        self.traits: dict[Trait, None] = {}
        self.depends_on_files = False
        """Whether the analysis used the file system. The result may differ when a file or link changes."""

    def add_trait(self, trait: Trait) -> None:
        """Add a trait. No-op if present."""
        self.traits[trait] = None

    def merge_certain(self, other: "Findings") -> None:
        """Add the certain findings of an existing script. Its unknown paths and other traits are dropped."""
        self.programs += other.programs
        self.paths += [use for use in other.paths if UNKNOWN not in use.path]
        if Trait.FORK_BOMB in other.traits:
            self.add_trait(Trait.FORK_BOMB)
