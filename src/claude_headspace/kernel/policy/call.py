"""A tool call as it was understood: which programs it runs, which files it touches, whom it writes to.

Rules
- What is not known is said so: `UNKNOWN` stands in a text for a part that nobody can tell before it runs.
- A path is given twice: as it was written (made absolute), and as it really is once links are followed.
- Nothing here was decided. The same call gets another verdict from other rules.
"""

from enum import StrEnum

import msgspec

UNKNOWN = "\ue000"
"""Stands for a part of a text that cannot be told: a variable from elsewhere, the output of a program."""


class Use(StrEnum):
    """What happens to a file."""

    READ = "read"
    WRITE = "write"
    DELETE = "delete"


class PathUse(msgspec.Struct, frozen=True):
    """A file or directory that the call reads, writes or deletes."""

    path: str
    use: Use
    real: str = ""
    """Where it is once links are followed; empty when that is the same."""
    recursive: bool = False
    """Whether everything below goes with it."""
    used_by: str = msgspec.field(default="", name="by")
    """The program or tool that does it."""


class Program(msgspec.Struct, frozen=True):
    """A program that the call runs, however it was written."""

    name: str
    """Without its directory: `rm` for `/bin/rm`."""
    arguments: tuple[str, ...] = ()
    fed_by: tuple[str, ...] = ()
    """The programs whose output it works on: `lsof` in `lsof -t | xargs kill`."""


class Trait(StrEnum):
    """What a call is, beyond programs and files."""

    FORK_BOMB = "fork-bomb"
    UNREADABLE_SCRIPT = "unreadable-script"
    """A shell runs a text that nobody can see beforehand."""
    UNREADABLE_SYNTAX = "unreadable-syntax"
    """The shell's text has parts that could not be parsed."""
    UNKNOWN_PROGRAM = "unknown-program"
    """Which program runs cannot be told."""


class Recipient(msgspec.Struct, frozen=True):
    """Somebody a message goes to, and what the user's contacts say of them."""

    address: str
    tags: tuple[str, ...] = ()


class Message(msgspec.Struct, frozen=True):
    """A message or mail that the call sends, or only drafts."""

    kind: str
    """`send` or `draft`."""
    recipients: tuple[Recipient, ...] = ()


class Call(msgspec.Struct, frozen=True, kw_only=True):
    """One tool call."""

    tool: str
    programs: tuple[Program, ...] = ()
    paths: tuple[PathUse, ...] = ()
    traits: tuple[Trait, ...] = ()
    message: Message | None = None
    home: str = ""
    """The home directory of whoever runs it: what `~` in a rule stands for."""
    project: str = ""
    """The root of the project that it happens in: `{project}` in a rule."""


class Subject(msgspec.Struct, frozen=True):
    """Who calls: what of an agent rules may depend on."""

    mode: str = "interactive"
    role: str | None = None
    projects: tuple[str, ...] = ()
    """The project's names: id, name, root."""
