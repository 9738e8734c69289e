"""An analysed tool call: the programs it runs, the files it uses, the message it sends.

Rules
- `UNKNOWN` in a text stands for a part that cannot be determined before the call runs.
- A path has two forms: as written, made absolute, and with links resolved.
- It contains no decision. Other rules can give the same call another verdict.
"""

from enum import StrEnum

import msgspec

UNKNOWN = "\ue000"
"""Stands for an unknown part of a text, such as an environment variable or the output of a program."""


class Use(StrEnum):
    """What a program does to a file."""

    READ = "read"
    WRITE = "write"
    DELETE = "delete"


class PathUse(msgspec.Struct, frozen=True):
    """A file or directory that the call uses."""

    path: str
    use: Use
    real: str = ""
    """The path with links resolved; empty if it is the same."""
    recursive: bool = False
    """Whether the use includes everything below."""
    names: tuple[str, ...] = ()
    """Globs in lower case: a recursive use includes only files with such names."""
    used_by: str = msgspec.field(default="", name="by")
    """The program or tool that uses it."""


class Program(msgspec.Struct, frozen=True):
    """A program that the call runs."""

    name: str
    """The file name without directory: `rm` for `/bin/rm`."""
    arguments: tuple[str, ...] = ()
    fed_by: tuple[str, ...] = ()
    """The programs whose output is its input or arguments: `lsof` in `lsof -t | xargs kill`."""


class Trait(StrEnum):
    """Properties of a call other than programs and files."""

    FORK_BOMB = "fork-bomb"
    UNREADABLE_SCRIPT = "unreadable-script"
    """A shell runs a text that cannot be read beforehand."""
    UNREADABLE_SYNTAX = "unreadable-syntax"
    """The shell text could not be parsed completely."""
    TOO_COMPLEX = "too-complex"
    """The analysis of the tool call exceeded its budget."""
    UNKNOWN_PROGRAM = "unknown-program"
    """The name of a program cannot be determined."""
    HIDDEN_CHARACTERS = "hidden-characters"
    """The input has characters that are not visible or change the direction of text."""


class Recipient(msgspec.Struct, frozen=True):
    """A recipient of a message, with the tags from the user's contacts."""

    address: str
    tags: tuple[str, ...] = ()


class Message(msgspec.Struct, frozen=True):
    """A message or mail that the call sends or drafts."""

    kind: str
    """`send`, `draft`, or `possible`: a script that may send one cannot be read beforehand."""
    recipients: tuple[Recipient, ...] = ()


class Call(msgspec.Struct, frozen=True, kw_only=True):
    """An analysed tool call."""

    tool: str
    programs: tuple[Program, ...] = ()
    paths: tuple[PathUse, ...] = ()
    traits: tuple[Trait, ...] = ()
    message: Message | None = None
    home: str = ""
    """The home directory of the user: `~` in a pattern."""
    project: str = ""
    """The project root: `{project}` in a pattern."""
    depends_on_files: bool = False
    """Whether another analysis could give another result, because a file changed."""


class Subject(msgspec.Struct, frozen=True):
    """The attributes of an agent that rules can depend on."""

    mode: str = "interactive"
    role: str | None = None
    projects: tuple[str, ...] = ()
    """The id, name and root of the project."""
