"""A table of what programs do to files: which of their arguments they read, write or delete."""

import itertools
from collections.abc import Callable, Iterator, Sequence

import msgspec

from claude_headspace.inputs.policy.shell.arguments import Arguments, parse_arguments
from claude_headspace.inputs.policy.shell.findings import FileUse
from claude_headspace.inputs.policy.shell.markers import unmark
from claude_headspace.kernel.policy.call import Use

READ, WRITE, DELETE = Use.READ, Use.WRITE, Use.DELETE
Names = tuple[str, ...]


class ArgumentRule(msgspec.Struct, frozen=True):
    """Which arguments of a program are files."""

    operands: Use | None = None
    """The use of the operands."""
    valued: Names = ()
    """Options that take a value."""
    outputs: Names = ()
    """Options whose value is a file that is written."""
    writes_last: bool = False
    """Whether the last operand is written, unless there is an output option. `operands` is the use of the others."""
    skip: int = 0
    """The number of operands before the files: a mode, a pattern."""
    no_skip_with: Names = ()
    """Options that replace the skipped operand."""
    attached: str = ""
    """Short options whose value is attached: `-i.bak`."""
    required: Names = ()
    """The program changes files only with one of these flags."""
    recursive: Names = ()
    """Flags that make it recursive; `*` means always."""
    deletes_with: Names = ()
    """Flags that turn its writes into deletions."""


_RECURSIVE = ("r", "R", "recursive")
_TARGET = ("t", "target-directory")
_REFERENCE = ("reference",)

ARGUMENT_RULES: dict[str, ArgumentRule] = {
    # delete
    **dict.fromkeys(("rm", "srm"), ArgumentRule(DELETE, recursive=_RECURSIVE)),
    **dict.fromkeys(("rmdir", "unlink"), ArgumentRule(DELETE)),
    **dict.fromkeys(("rimraf", "trash"), ArgumentRule(DELETE, recursive=("*",))),
    "shred": ArgumentRule(WRITE, ("n", "s", "iterations", "size"), deletes_with=("u", "remove")),
    # copy and move
    "mv": ArgumentRule(DELETE, ("S", "suffix", *_TARGET), _TARGET, writes_last=True, recursive=("*",)),
    "cp": ArgumentRule(READ, ("S", "suffix", *_TARGET), _TARGET, writes_last=True, recursive=("a", *_RECURSIVE)),
    "install": ArgumentRule(READ, ("m", "mode", "o", "owner", "g", "group", "S", *_TARGET), _TARGET, writes_last=True),
    "ln": ArgumentRule(None, ("S", "suffix", *_TARGET), _TARGET, writes_last=True),
    "rsync": ArgumentRule(
        READ,
        ("e", "rsh", "exclude", "include", "f", "filter", "T", "B"),
        writes_last=True,
        recursive=("delete", "del"),
        deletes_with=("delete", "del"),
    ),
    "scp": ArgumentRule(READ, ("P", "i", "F", "o", "l", "c", "J"), writes_last=True),
    # write
    **dict.fromkeys(("tee", "sponge", "mkswap", "wipefs"), ArgumentRule(WRITE)),
    **dict.fromkeys(("mkdir", "mkfifo"), ArgumentRule(WRITE, ("m", "mode"))),
    "truncate": ArgumentRule(WRITE, ("s", "r", "size", "reference")),
    "fallocate": ArgumentRule(WRITE, ("l", "o", "length", "offset")),
    "touch": ArgumentRule(WRITE, ("d", "r", "t", "date", "reference")),
    "mkfs": ArgumentRule(WRITE, ("t", "L", "b")),
    **dict.fromkeys(
        ("chmod", "chgrp"), ArgumentRule(WRITE, _REFERENCE, skip=1, no_skip_with=_REFERENCE, recursive=_RECURSIVE)
    ),
    "chown": ArgumentRule(WRITE, ("reference", "from"), skip=1, no_skip_with=_REFERENCE, recursive=_RECURSIVE),
    "chattr": ArgumentRule(WRITE, skip=1, recursive=_RECURSIVE),
    "setfacl": ArgumentRule(WRITE, ("m", "x", "M", "X", "modify", "remove"), recursive=_RECURSIVE),
    # edit
    "sed": ArgumentRule(
        WRITE,
        ("e", "f", "l", "expression", "file"),
        skip=1,
        no_skip_with=("e", "f", "expression", "file"),
        attached="i",
        required=("i", "in-place"),
    ),
    "perl": ArgumentRule(WRITE, ("e", "E", "I", "M"), skip=1, no_skip_with=("e", "E"), attached="i", required=("i",)),
    "ruby": ArgumentRule(WRITE, ("e", "I", "r"), skip=1, no_skip_with=("e",), attached="i", required=("i",)),
    **dict.fromkeys(("vi", "vim", "nvim", "nano", "emacs"), ArgumentRule(WRITE, ("c", "S", "u", "eval"))),
    "ed": ArgumentRule(WRITE, ("p", "prompt")),
    "ex": ArgumentRule(WRITE, ("c",)),
    "patch": ArgumentRule(WRITE, ("i", "p", "o", "d", "r", "input", "strip"), ("o", "d", "directory")),
    # write the value of an option
    "sort": ArgumentRule(READ, ("o", "k", "t", "T", "output"), ("o", "output")),
    "curl": ArgumentRule(
        None,
        ("o", "output", "X", "H", "d", "data", "u", "A", "T", "F", "output-dir", "b", "c", "e", "m", "x"),
        ("o", "output", "output-dir", "c", "cookie-jar"),
    ),
    "wget": ArgumentRule(
        None,
        ("O", "P", "o", "output-document", "directory-prefix"),
        ("O", "P", "o", "output-document", "directory-prefix"),
    ),
    "unzip": ArgumentRule(None, ("d",), ("d",)),
    "ssh-keygen": ArgumentRule(None, ("f", "t", "b", "C", "N", "P", "m"), ("f",)),
    "gpg": ArgumentRule(None, ("o", "output", "r", "u"), ("o", "output")),
    # read
    **dict.fromkeys(("cat", "less", "more", "bat", "nl", "strings"), ArgumentRule(READ)),
    **dict.fromkeys(("head", "tail"), ArgumentRule(READ, ("n", "c"))),
    "xxd": ArgumentRule(READ, ("l", "s", "c", "g")),
    "base64": ArgumentRule(READ, ("w", "wrap", "i", "o")),
}


def find_file_uses(name: str, arguments: Sequence[str]) -> list[FileUse]:
    """Return the files that a program would use with these arguments."""
    special = SPECIAL_PROGRAMS.get(name)
    if special is not None:
        return list(special(arguments))
    rule = ARGUMENT_RULES.get("mkfs" if name.startswith("mkfs.") else name)
    return list(_apply_rule(rule, parse_arguments(arguments, rule.valued, rule.attached))) if rule else []


def _apply_rule(rule: ArgumentRule, parsed: Arguments) -> Iterator[FileUse]:
    outputs = parsed.get_values(*rule.outputs)
    yield from (FileUse(value, WRITE, contents=parsed.operands) for value in outputs)
    if rule.required and not parsed.has_flag(*rule.required):
        return
    skip = 0 if parsed.has_flag(*rule.no_skip_with) else rule.skip
    operands = [operand for operand in parsed.operands[skip:] if operand]
    recursive = "*" in rule.recursive or parsed.has_flag(*rule.recursive)
    deletes = parsed.has_flag(*rule.deletes_with)
    if rule.writes_last and operands and not outputs:
        target = operands.pop()
        yield FileUse(target, DELETE if deletes else WRITE, recursive and deletes, tuple(operands))
    if rule.operands is not None:
        use = DELETE if deletes and rule.operands is WRITE else rule.operands
        yield from (FileUse(operand, use, recursive) for operand in operands)


def _dd(arguments: Sequence[str]) -> Iterator[FileUse]:
    for word in arguments:
        if word.startswith("of="):
            yield FileUse(word[3:], WRITE)
        elif word.startswith("if="):
            yield FileUse(word[3:], READ)


def _tar(arguments: Sequence[str]) -> Iterator[FileUse]:
    """`tar x` writes into the directory of `-C`, `tar c` writes the file of `-f`."""
    words = [f"-{arguments[0]}", *arguments[1:]] if arguments and not arguments[0].startswith("-") else list(arguments)
    parsed = parse_arguments(words, ("f", "C", "file", "directory", "T", "X"))
    if parsed.has_flag("x", "extract", "get"):
        yield FileUse((parsed.get_values("C", "directory") or ["."])[-1], WRITE)
    elif parsed.has_flag("c", "r", "u", "create", "append", "update"):
        yield from (FileUse(value, WRITE) for value in parsed.get_values("f", "file") if unmark(value) != "-")
        if parsed.has_flag("remove-files"):
            yield from (FileUse(operand, DELETE, True) for operand in parsed.operands)


def _awk(arguments: Sequence[str]) -> Iterator[FileUse]:
    parsed = parse_arguments(arguments, ("f", "F", "v", "i", "include"))
    if "inplace" in parsed.get_values("i", "include"):
        yield from (FileUse(operand, WRITE) for operand in parsed.operands[1:])


def _openssl(arguments: Sequence[str]) -> Iterator[FileUse]:
    pairs = itertools.pairwise(arguments)
    yield from (FileUse(value, WRITE) for option, value in pairs if option in ("-out", "-keyout"))


def _git(arguments: Sequence[str]) -> Iterator[FileUse]:
    """`git clean`, `git rm` and `git mv` delete, `git restore` and `git checkout --` write."""
    parsed = parse_arguments(arguments, ("C", "c", "e", "git-dir", "work-tree"))
    subcommand, *paths = parsed.operands or ("",)
    if subcommand == "clean" and parsed.has_flag("f", "force"):
        directory = (parsed.get_values("C") or ["."])[-1]
        yield from (FileUse(path, DELETE) for path in paths or [f"{directory}/untracked"])
    elif subcommand == "restore" or (subcommand == "checkout" and "--" in arguments):
        yield from (FileUse(path, WRITE) for path in paths)
    elif subcommand in ("rm", "mv"):
        yield from (FileUse(path, DELETE, parsed.has_flag("r")) for path in paths)


SPECIAL_PROGRAMS: dict[str, Callable[[Sequence[str]], Iterator[FileUse]]] = {
    "dd": _dd,
    "tar": _tar,
    "bsdtar": _tar,
    "awk": _awk,
    "gawk": _awk,
    "openssl": _openssl,
    "git": _git,
}
"""Programs whose arguments do not fit an `ArgumentRule`."""
