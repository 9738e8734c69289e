"""What programs do to files, as a table: which of their arguments they write, delete or read."""

import itertools
from collections.abc import Callable, Iterator, Sequence

import msgspec

from claude_headspace.inputs.policy.shell.arguments import Arguments, parse_arguments
from claude_headspace.inputs.policy.shell.markers import unmark
from claude_headspace.kernel.policy.call import Use


class FileUse(msgspec.Struct, frozen=True):
    """An argument that is a file, and what happens to it."""

    argument: str
    use: Use
    recursive: bool = False
    contents: tuple[str, ...] = ()
    """What is put into it, if it is a directory."""


class ArgumentRule(msgspec.Struct, frozen=True, kw_only=True):
    """How a program treats its arguments."""

    operands: Use | None = None
    """Every operand."""
    last_operand: Use | None = None
    """The last operand; then `all` is about the others."""
    skipped_operands: int = 0
    """Operands before the files: a mode, a pattern."""
    no_skip_with: tuple[str, ...] = ()
    """Options that take the place of a skipped operand."""
    value_options: tuple[str, ...] = ()
    attached_options: str = ""
    output_options: tuple[str, ...] = ()
    """Options whose value is a file that is written."""
    recursive_flags: tuple[str, ...] = ()
    """Flags that take everything below along; `*` means always."""
    required_flags: tuple[str, ...] = ()
    """Flags without which it touches nothing."""
    delete_flags: tuple[str, ...] = ()
    """Flags with which what it writes is deleted."""


_RECURSIVE = ("r", "R", "recursive")
_TARGET = ("t", "target-directory")

ARGUMENT_RULES: dict[str, ArgumentRule] = {
    "rm": ArgumentRule(operands=Use.DELETE, recursive_flags=_RECURSIVE),
    "rmdir": ArgumentRule(operands=Use.DELETE),
    "unlink": ArgumentRule(operands=Use.DELETE),
    "srm": ArgumentRule(operands=Use.DELETE, recursive_flags=_RECURSIVE),
    "rimraf": ArgumentRule(operands=Use.DELETE, recursive_flags=("*",)),
    "trash": ArgumentRule(operands=Use.DELETE, recursive_flags=("*",)),
    "shred": ArgumentRule(
        operands=Use.WRITE, value_options=("n", "s", "iterations", "size"), delete_flags=("u", "remove")
    ),
    "mv": ArgumentRule(
        operands=Use.DELETE,
        last_operand=Use.WRITE,
        recursive_flags=("*",),
        value_options=("S", "suffix", *_TARGET),
        output_options=_TARGET,
    ),
    "cp": ArgumentRule(
        operands=Use.READ,
        last_operand=Use.WRITE,
        recursive_flags=("a", *_RECURSIVE),
        value_options=("S", "suffix", *_TARGET),
        output_options=_TARGET,
    ),
    "install": ArgumentRule(
        operands=Use.READ,
        last_operand=Use.WRITE,
        value_options=("m", "mode", "o", "owner", "g", "group", "S", *_TARGET),
        output_options=_TARGET,
    ),
    "ln": ArgumentRule(last_operand=Use.WRITE, value_options=("S", "suffix", *_TARGET), output_options=_TARGET),
    "rsync": ArgumentRule(
        operands=Use.READ,
        last_operand=Use.WRITE,
        value_options=("e", "rsh", "exclude", "include", "f", "filter", "T", "B"),
        recursive_flags=("delete", "del"),
        delete_flags=("delete", "del"),
    ),
    "scp": ArgumentRule(operands=Use.READ, last_operand=Use.WRITE, value_options=("P", "i", "F", "o", "l", "c", "J")),
    "tee": ArgumentRule(operands=Use.WRITE),
    "sponge": ArgumentRule(operands=Use.WRITE),
    "truncate": ArgumentRule(operands=Use.WRITE, value_options=("s", "r", "size", "reference")),
    "fallocate": ArgumentRule(operands=Use.WRITE, value_options=("l", "o", "length", "offset")),
    "touch": ArgumentRule(operands=Use.WRITE, value_options=("d", "r", "t", "date", "reference")),
    "mkdir": ArgumentRule(operands=Use.WRITE, value_options=("m", "mode")),
    "mkfifo": ArgumentRule(operands=Use.WRITE, value_options=("m", "mode")),
    "chmod": ArgumentRule(
        operands=Use.WRITE,
        skipped_operands=1,
        no_skip_with=("reference",),
        value_options=("reference",),
        recursive_flags=_RECURSIVE,
    ),
    "chown": ArgumentRule(
        operands=Use.WRITE,
        skipped_operands=1,
        no_skip_with=("reference",),
        value_options=("reference", "from"),
        recursive_flags=_RECURSIVE,
    ),
    "chgrp": ArgumentRule(
        operands=Use.WRITE,
        skipped_operands=1,
        no_skip_with=("reference",),
        value_options=("reference",),
        recursive_flags=_RECURSIVE,
    ),
    "chattr": ArgumentRule(operands=Use.WRITE, skipped_operands=1, recursive_flags=_RECURSIVE),
    "setfacl": ArgumentRule(
        operands=Use.WRITE, value_options=("m", "x", "M", "X", "modify", "remove"), recursive_flags=_RECURSIVE
    ),
    "sed": ArgumentRule(
        operands=Use.WRITE,
        skipped_operands=1,
        no_skip_with=("e", "f", "expression", "file"),
        value_options=("e", "f", "l", "expression", "file"),
        attached_options="i",
        required_flags=("i", "in-place"),
    ),
    "perl": ArgumentRule(
        operands=Use.WRITE,
        skipped_operands=1,
        no_skip_with=("e", "E"),
        value_options=("e", "E", "I", "M"),
        attached_options="i",
        required_flags=("i",),
    ),
    "ruby": ArgumentRule(
        operands=Use.WRITE,
        skipped_operands=1,
        no_skip_with=("e",),
        value_options=("e", "I", "r"),
        attached_options="i",
        required_flags=("i",),
    ),
    **dict.fromkeys(
        ("vi", "vim", "nvim", "nano", "emacs"), ArgumentRule(operands=Use.WRITE, value_options=("c", "S", "u", "eval"))
    ),
    "ed": ArgumentRule(operands=Use.WRITE, value_options=("p", "prompt")),
    "ex": ArgumentRule(operands=Use.WRITE, value_options=("c",)),
    "patch": ArgumentRule(
        operands=Use.WRITE,
        value_options=("i", "p", "o", "d", "r", "input", "strip"),
        output_options=("o", "d", "directory"),
    ),
    "sort": ArgumentRule(
        operands=Use.READ, value_options=("o", "k", "t", "T", "output"), output_options=("o", "output")
    ),
    "curl": ArgumentRule(
        value_options=("o", "output", "X", "H", "d", "data", "u", "A", "T", "F", "output-dir", "b", "c", "e", "m", "x"),
        output_options=("o", "output", "output-dir", "c", "cookie-jar"),
    ),
    "wget": ArgumentRule(
        value_options=("O", "P", "o", "output-document", "directory-prefix"),
        output_options=("O", "P", "o", "output-document", "directory-prefix"),
    ),
    "unzip": ArgumentRule(value_options=("d",), output_options=("d",)),
    "ssh-keygen": ArgumentRule(value_options=("f", "t", "b", "C", "N", "P", "m"), output_options=("f",)),
    "gpg": ArgumentRule(value_options=("o", "output", "r", "u"), output_options=("o", "output")),
    "mkfs": ArgumentRule(operands=Use.WRITE, value_options=("t", "L", "b")),
    "mkswap": ArgumentRule(operands=Use.WRITE),
    "wipefs": ArgumentRule(operands=Use.WRITE),
    "cat": ArgumentRule(operands=Use.READ),
    "head": ArgumentRule(operands=Use.READ, value_options=("n", "c")),
    "tail": ArgumentRule(operands=Use.READ, value_options=("n", "c")),
    "less": ArgumentRule(operands=Use.READ),
    "more": ArgumentRule(operands=Use.READ),
    "bat": ArgumentRule(operands=Use.READ),
    "nl": ArgumentRule(operands=Use.READ),
    "strings": ArgumentRule(operands=Use.READ),
    "xxd": ArgumentRule(operands=Use.READ, value_options=("l", "s", "c", "g")),
    "base64": ArgumentRule(operands=Use.READ, value_options=("w", "wrap", "i", "o")),
}


def find_file_uses(name: str, arguments: Sequence[str]) -> Iterator[FileUse]:
    """The files that a program touches when it is run with these arguments."""
    special = SPECIAL_PROGRAMS.get(name)
    if special is not None:
        yield from special(arguments)
        return
    habit = ARGUMENT_RULES.get(name) or (ARGUMENT_RULES["mkfs"] if name.startswith("mkfs.") else None)
    if habit is not None:
        yield from _apply_rule(habit, parse_arguments(arguments, habit.value_options, habit.attached_options))


def _apply_rule(habit: ArgumentRule, given: Arguments) -> Iterator[FileUse]:
    for value in given.get_values(*habit.output_options):
        yield FileUse(value, Use.WRITE, contents=given.operands)
    if habit.required_flags and not given.has_flag(*habit.required_flags):
        return
    skip = 0 if habit.no_skip_with and given.has_flag(*habit.no_skip_with) else habit.skipped_operands
    operands = [operand for operand in given.operands[skip:] if operand]
    recursive = "*" in habit.recursive_flags or given.has_flag(*habit.recursive_flags)
    if habit.last_operand is not None and operands and not given.get_values(*habit.output_options):
        yield from _use_last_operand(habit, given, operands, recursive=recursive)
        operands = operands[:-1]
    if habit.operands is not None:
        use = (
            Use.DELETE
            if habit.delete_flags and habit.operands is Use.WRITE and given.has_flag(*habit.delete_flags)
            else habit.operands
        )
        yield from (FileUse(operand, use, recursive) for operand in operands)


def _use_last_operand(
    habit: ArgumentRule, given: Arguments, operands: list[str], *, recursive: bool
) -> Iterator[FileUse]:
    deletes = habit.delete_flags and given.has_flag(*habit.delete_flags)
    yield FileUse(operands[-1], Use.DELETE if deletes else Use.WRITE, recursive and bool(deletes), tuple(operands[:-1]))


def _dd(arguments: Sequence[str]) -> Iterator[FileUse]:
    for word in arguments:
        if word.startswith("of="):
            yield FileUse(word[3:], Use.WRITE)
        elif word.startswith("if="):
            yield FileUse(word[3:], Use.READ)


def _tar(arguments: Sequence[str]) -> Iterator[FileUse]:
    """What is unpacked goes into the directory of `-C`; what is packed into the file of `-f`."""
    words = [f"-{arguments[0]}", *arguments[1:]] if arguments and not arguments[0].startswith("-") else list(arguments)
    given = parse_arguments(words, ("f", "C", "file", "directory", "T", "X"))
    if given.has_flag("x", "extract", "get"):
        yield FileUse((given.get_values("C", "directory") or ["."])[-1], Use.WRITE)
    elif given.has_flag("c", "r", "u", "create", "append", "update"):
        yield from (FileUse(value, Use.WRITE) for value in given.get_values("f", "file") if unmark(value) != "-")
        if given.has_flag("remove-files"):
            yield from (FileUse(operand, Use.DELETE, True) for operand in given.operands)


def _awk(arguments: Sequence[str]) -> Iterator[FileUse]:
    given = parse_arguments(arguments, ("f", "F", "v", "i", "include"))
    if "inplace" in given.get_values("i", "include"):
        yield from (FileUse(operand, Use.WRITE) for operand in given.operands[1:])


def _openssl(arguments: Sequence[str]) -> Iterator[FileUse]:
    pairs = itertools.pairwise(arguments)
    yield from (FileUse(value, Use.WRITE) for option, value in pairs if option in ("-out", "-keyout"))


def _git(arguments: Sequence[str]) -> Iterator[FileUse]:
    """`git clean` and `git rm` delete, `git restore` and `git checkout --` write; `git -C DIR` names where."""
    given = parse_arguments(arguments, ("C", "c", "e", "git-dir", "work-tree"))
    place = (given.get_values("C") or ["."])[-1]
    if given.operands[:1] == ("clean",) and given.has_flag("f", "force"):
        yield from (FileUse(path, Use.DELETE) for path in given.operands[1:] or (f"{place}/untracked",))
    elif given.operands[:1] == ("restore",) or (given.operands[:1] == ("checkout",) and "--" in arguments):
        yield from (FileUse(path, Use.WRITE) for path in given.operands[1:])
    elif given.operands[:1] in (("rm",), ("mv",)):
        yield from (FileUse(path, Use.DELETE, given.has_flag("r")) for path in given.operands[1:])


SPECIAL_PROGRAMS: dict[str, Callable[[Sequence[str]], Iterator[FileUse]]] = {
    "dd": _dd,
    "tar": _tar,
    "bsdtar": _tar,
    "awk": _awk,
    "gawk": _awk,
    "openssl": _openssl,
    "git": _git,
}
"""Programs whose arguments follow no common habit."""
