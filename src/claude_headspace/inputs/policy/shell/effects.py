"""What a program does, as data: the results of analysing arguments (`file_uses`) and code (`languages`)."""

import msgspec

from claude_headspace.kernel.policy.call import Trait, Use


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
