"""What programs do to files, as a table: which of their arguments they write, delete or read."""

import itertools
from collections.abc import Callable, Iterator, Sequence

import msgspec

from claude_headspace.inputs.policy.shell.arguments import Arguments, read
from claude_headspace.inputs.policy.shell.markers import plain
from claude_headspace.kernel.policy.call import Use


class Touch(msgspec.Struct, frozen=True):
    """An argument that is a file, and what happens to it."""

    field: str
    use: Use
    recursive: bool = False
    into: tuple[str, ...] = ()
    """What is put into it, if it is a directory."""


class Habit(msgspec.Struct, frozen=True, kw_only=True):
    """How a program treats its arguments."""

    all: Use | None = None
    """Every operand."""
    last: Use | None = None
    """The last operand; then `all` is about the others."""
    skip: int = 0
    """Operands before the files: a mode, a pattern."""
    skip_unless: tuple[str, ...] = ()
    """Options that take the place of a skipped operand."""
    valued: tuple[str, ...] = ()
    attached: str = ""
    writes: tuple[str, ...] = ()
    """Options whose value is a file that is written."""
    recursive: tuple[str, ...] = ()
    """Flags that take everything below along; `*` means always."""
    only_with: tuple[str, ...] = ()
    """Flags without which it touches nothing."""
    deletes_with: tuple[str, ...] = ()
    """Flags with which what it writes is deleted."""


_R = ("r", "R", "recursive")
_TARGET = ("t", "target-directory")

HABITS: dict[str, Habit] = {
    "rm": Habit(all=Use.DELETE, recursive=_R),
    "rmdir": Habit(all=Use.DELETE),
    "unlink": Habit(all=Use.DELETE),
    "srm": Habit(all=Use.DELETE, recursive=_R),
    "rimraf": Habit(all=Use.DELETE, recursive=("*",)),
    "trash": Habit(all=Use.DELETE, recursive=("*",)),
    "shred": Habit(all=Use.WRITE, valued=("n", "s", "iterations", "size"), deletes_with=("u", "remove")),
    "mv": Habit(all=Use.DELETE, last=Use.WRITE, recursive=("*",), valued=("S", "suffix", *_TARGET), writes=_TARGET),
    "cp": Habit(all=Use.READ, last=Use.WRITE, recursive=("a", *_R), valued=("S", "suffix", *_TARGET), writes=_TARGET),
    "install": Habit(
        all=Use.READ,
        last=Use.WRITE,
        valued=("m", "mode", "o", "owner", "g", "group", "S", *_TARGET),
        writes=_TARGET,
    ),
    "ln": Habit(last=Use.WRITE, valued=("S", "suffix", *_TARGET), writes=_TARGET),
    "rsync": Habit(
        all=Use.READ,
        last=Use.WRITE,
        valued=("e", "rsh", "exclude", "include", "f", "filter", "T", "B"),
        recursive=("delete", "del"),
        deletes_with=("delete", "del"),
    ),
    "scp": Habit(all=Use.READ, last=Use.WRITE, valued=("P", "i", "F", "o", "l", "c", "J")),
    "tee": Habit(all=Use.WRITE),
    "sponge": Habit(all=Use.WRITE),
    "truncate": Habit(all=Use.WRITE, valued=("s", "r", "size", "reference")),
    "fallocate": Habit(all=Use.WRITE, valued=("l", "o", "length", "offset")),
    "touch": Habit(all=Use.WRITE, valued=("d", "r", "t", "date", "reference")),
    "mkdir": Habit(all=Use.WRITE, valued=("m", "mode")),
    "mkfifo": Habit(all=Use.WRITE, valued=("m", "mode")),
    "chmod": Habit(all=Use.WRITE, skip=1, skip_unless=("reference",), valued=("reference",), recursive=_R),
    "chown": Habit(all=Use.WRITE, skip=1, skip_unless=("reference",), valued=("reference", "from"), recursive=_R),
    "chgrp": Habit(all=Use.WRITE, skip=1, skip_unless=("reference",), valued=("reference",), recursive=_R),
    "chattr": Habit(all=Use.WRITE, skip=1, recursive=_R),
    "setfacl": Habit(all=Use.WRITE, valued=("m", "x", "M", "X", "modify", "remove"), recursive=_R),
    "sed": Habit(
        all=Use.WRITE,
        skip=1,
        skip_unless=("e", "f", "expression", "file"),
        valued=("e", "f", "l", "expression", "file"),
        attached="i",
        only_with=("i", "in-place"),
    ),
    "perl": Habit(
        all=Use.WRITE, skip=1, skip_unless=("e", "E"), valued=("e", "E", "I", "M"), attached="i", only_with=("i",)
    ),
    "ruby": Habit(all=Use.WRITE, skip=1, skip_unless=("e",), valued=("e", "I", "r"), attached="i", only_with=("i",)),
    **dict.fromkeys(("vi", "vim", "nvim", "nano", "emacs"), Habit(all=Use.WRITE, valued=("c", "S", "u", "eval"))),
    "ed": Habit(all=Use.WRITE, valued=("p", "prompt")),
    "ex": Habit(all=Use.WRITE, valued=("c",)),
    "patch": Habit(all=Use.WRITE, valued=("i", "p", "o", "d", "r", "input", "strip"), writes=("o", "d", "directory")),
    "sort": Habit(all=Use.READ, valued=("o", "k", "t", "T", "output"), writes=("o", "output")),
    "curl": Habit(
        valued=("o", "output", "X", "H", "d", "data", "u", "A", "T", "F", "output-dir", "b", "c", "e", "m", "x"),
        writes=("o", "output", "output-dir", "c", "cookie-jar"),
    ),
    "wget": Habit(
        valued=("O", "P", "o", "output-document", "directory-prefix"),
        writes=("O", "P", "o", "output-document", "directory-prefix"),
    ),
    "unzip": Habit(valued=("d",), writes=("d",)),
    "ssh-keygen": Habit(valued=("f", "t", "b", "C", "N", "P", "m"), writes=("f",)),
    "gpg": Habit(valued=("o", "output", "r", "u"), writes=("o", "output")),
    "mkfs": Habit(all=Use.WRITE, valued=("t", "L", "b")),
    "mkswap": Habit(all=Use.WRITE),
    "wipefs": Habit(all=Use.WRITE),
    "cat": Habit(all=Use.READ),
    "head": Habit(all=Use.READ, valued=("n", "c")),
    "tail": Habit(all=Use.READ, valued=("n", "c")),
    "less": Habit(all=Use.READ),
    "more": Habit(all=Use.READ),
    "bat": Habit(all=Use.READ),
    "nl": Habit(all=Use.READ),
    "strings": Habit(all=Use.READ),
    "xxd": Habit(all=Use.READ, valued=("l", "s", "c", "g")),
    "base64": Habit(all=Use.READ, valued=("w", "wrap", "i", "o")),
}


def touches(name: str, arguments: Sequence[str]) -> Iterator[Touch]:
    """The files that a program touches when it is run with these arguments."""
    special = SPECIAL.get(name)
    if special is not None:
        yield from special(arguments)
        return
    habit = HABITS.get(name) or (HABITS["mkfs"] if name.startswith("mkfs.") else None)
    if habit is not None:
        yield from _by_habit(habit, read(arguments, habit.valued, habit.attached))


def _by_habit(habit: Habit, given: Arguments) -> Iterator[Touch]:
    for value in given.given(*habit.writes):
        yield Touch(value, Use.WRITE, into=given.operands)
    if habit.only_with and not given.has(*habit.only_with):
        return
    skip = 0 if habit.skip_unless and given.has(*habit.skip_unless) else habit.skip
    operands = [operand for operand in given.operands[skip:] if operand]
    recursive = "*" in habit.recursive or given.has(*habit.recursive)
    if habit.last is not None and operands and not given.given(*habit.writes):
        yield from _last(habit, given, operands, recursive=recursive)
        operands = operands[:-1]
    if habit.all is not None:
        use = (
            Use.DELETE
            if habit.deletes_with and habit.all is Use.WRITE and given.has(*habit.deletes_with)
            else habit.all
        )
        yield from (Touch(operand, use, recursive) for operand in operands)


def _last(habit: Habit, given: Arguments, operands: list[str], *, recursive: bool) -> Iterator[Touch]:
    deletes = habit.deletes_with and given.has(*habit.deletes_with)
    yield Touch(operands[-1], Use.DELETE if deletes else Use.WRITE, recursive and bool(deletes), tuple(operands[:-1]))


def _dd(arguments: Sequence[str]) -> Iterator[Touch]:
    for word in arguments:
        if word.startswith("of="):
            yield Touch(word[3:], Use.WRITE)
        elif word.startswith("if="):
            yield Touch(word[3:], Use.READ)


def _tar(arguments: Sequence[str]) -> Iterator[Touch]:
    """What is unpacked goes into the directory of `-C`; what is packed into the file of `-f`."""
    words = [f"-{arguments[0]}", *arguments[1:]] if arguments and not arguments[0].startswith("-") else list(arguments)
    given = read(words, ("f", "C", "file", "directory", "T", "X"))
    if given.has("x", "extract", "get"):
        yield Touch((given.given("C", "directory") or ["."])[-1], Use.WRITE)
    elif given.has("c", "r", "u", "create", "append", "update"):
        yield from (Touch(value, Use.WRITE) for value in given.given("f", "file") if plain(value) != "-")
        if given.has("remove-files"):
            yield from (Touch(operand, Use.DELETE, True) for operand in given.operands)


def _awk(arguments: Sequence[str]) -> Iterator[Touch]:
    given = read(arguments, ("f", "F", "v", "i", "include"))
    if "inplace" in given.given("i", "include"):
        yield from (Touch(operand, Use.WRITE) for operand in given.operands[1:])


def _openssl(arguments: Sequence[str]) -> Iterator[Touch]:
    pairs = itertools.pairwise(arguments)
    yield from (Touch(value, Use.WRITE) for option, value in pairs if option in ("-out", "-keyout"))


def _git(arguments: Sequence[str]) -> Iterator[Touch]:
    """`git clean` and `git rm` delete, `git restore` and `git checkout --` write; `git -C DIR` names where."""
    given = read(arguments, ("C", "c", "e", "git-dir", "work-tree"))
    place = (given.given("C") or ["."])[-1]
    if given.operands[:1] == ("clean",) and given.has("f", "force"):
        yield from (Touch(path, Use.DELETE) for path in given.operands[1:] or (f"{place}/untracked",))
    elif given.operands[:1] == ("restore",) or (given.operands[:1] == ("checkout",) and "--" in arguments):
        yield from (Touch(path, Use.WRITE) for path in given.operands[1:])
    elif given.operands[:1] in (("rm",), ("mv",)):
        yield from (Touch(path, Use.DELETE, given.has("r")) for path in given.operands[1:])


SPECIAL: dict[str, Callable[[Sequence[str]], Iterator[Touch]]] = {
    "dd": _dd,
    "tar": _tar,
    "bsdtar": _tar,
    "awk": _awk,
    "gawk": _awk,
    "openssl": _openssl,
    "git": _git,
}
"""Programs whose arguments follow no common habit."""
