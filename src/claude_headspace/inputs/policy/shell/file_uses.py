"""A table of what programs do to files: which of their arguments they read, write or delete."""

import itertools
import re
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
    reads: Names = ()
    """Options whose value is a file that is read, after `@` or `<` if there is one."""
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
    limit: int | None = None
    """The number of operands that are files; None means all."""


_RECURSIVE = ("r", "R", "recursive")
_TARGET = ("t", "target-directory")
_REFERENCE = ("reference",)
_READERS = "cat less more bat nl strings od hexdump tac wc cut uniq diff cmp comm file stat".split()
_CURL_VALUED = tuple(
    "o output X request H header d data u user A T upload-file F form output-dir b c e m x D dump-header data-binary "
    "data-raw K config stderr trace trace-ascii cookie-jar".split()
)
_COMPILERS = "gcc g++ cc c++ clang clang++ ld rustc tcc gfortran".split()

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
    "ln": ArgumentRule(READ, ("S", "suffix", *_TARGET), _TARGET, writes_last=True),
    "rsync": ArgumentRule(
        READ,
        ("e", "rsh", "exclude", "include", "f", "filter", "T", "B"),
        writes_last=True,
        recursive=("delete", "del", "a", "archive", *_RECURSIVE),
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
    "perl": ArgumentRule(WRITE, ("e", "E", "I", "M"), skip=1, no_skip_with=("e", "E"), attached="i", required=("i",)),
    "ruby": ArgumentRule(WRITE, ("e", "I", "r"), skip=1, no_skip_with=("e",), attached="i", required=("i",)),
    **dict.fromkeys(("nano", "emacs"), ArgumentRule(WRITE, ("c", "S", "u", "eval"))),
    "ed": ArgumentRule(WRITE, ("p", "prompt")),
    "patch": ArgumentRule(WRITE, ("i", "p", "o", "d", "r", "input", "strip"), ("o", "d", "directory")),
    # write the value of an option
    "sort": ArgumentRule(READ, ("o", "k", "t", "T", "output"), ("o", "output")),
    "curl": ArgumentRule(
        None,
        _CURL_VALUED,
        ("o", "output", "output-dir", "c", "cookie-jar", "D", "dump-header", "trace", "trace-ascii", "stderr"),
        reads=("T", "upload-file", "F", "form", "d", "data", "data-binary", "data-raw", "K", "config"),
    ),
    "wget": ArgumentRule(
        None,
        ("O", "P", "o", "output-document", "directory-prefix", "post-file", "body-file"),
        ("O", "P", "o", "output-document", "directory-prefix"),
        reads=("post-file", "body-file"),
    ),
    "unzip": ArgumentRule(None, ("d",), ("d",)),
    **dict.fromkeys(_COMPILERS, ArgumentRule(READ, ("o", "I", "L", "l", "D", "include"), ("o",))),
    "aria2c": ArgumentRule(None, ("o", "out", "d", "dir"), ("o", "out", "d", "dir")),
    **dict.fromkeys(("http", "https", "xh"), ArgumentRule(None, ("o", "output"), ("o", "output"))),
    "cpio": ArgumentRule(None, ("D", "directory", "F", "O"), ("D", "directory", "O")),
    "pandoc": ArgumentRule(READ, ("o", "output", "f", "t", "from", "to"), ("o", "output")),
    "objcopy": ArgumentRule(READ, ("O", "I"), writes_last=True),
    "sqlite3": ArgumentRule(WRITE, ("cmd", "init"), limit=1),
    "mktemp": ArgumentRule(WRITE, ("p", "tmpdir", "suffix")),
    "gpg": ArgumentRule(None, ("o", "output", "r", "u"), ("o", "output")),
    # read
    **dict.fromkeys(_READERS, ArgumentRule(READ)),
    **dict.fromkeys(("jq", "yq"), ArgumentRule(READ, ("f", "arg", "indent"), skip=1)),
    **dict.fromkeys(
        ("grep", "egrep", "fgrep"), ArgumentRule(READ, ("e", "f", "m", "A", "B", "C"), skip=1, recursive=_RECURSIVE)
    ),
    "rg": ArgumentRule(READ, ("e", "f", "m", "A", "B", "C", "g", "t"), skip=1, recursive=("*",)),
    **dict.fromkeys(("head", "tail"), ArgumentRule(READ, ("n", "c"))),
    "xxd": ArgumentRule(READ, ("l", "s", "c", "g")),
    "base64": ArgumentRule(READ, ("w", "wrap", "i", "o")),
}


_INCOMPLETE = ("awk", "gawk", "openssl")
"""Programs of which the tables do not contain the files that they read."""
_MODE = re.compile(r"-[rwxXst]+")


def is_known(name: str) -> bool:
    """Whether the files of a program are in the tables."""
    return name in ARGUMENT_RULES or (name in SPECIAL_PROGRAMS and name not in _INCOMPLETE)


def find_file_uses(name: str, arguments: Sequence[str]) -> list[FileUse]:
    """Return the files that a program would use with these arguments."""
    special = SPECIAL_PROGRAMS.get(name)
    if special is not None:
        return list(special(arguments))
    if name == "chmod":  # `-x` is a mode
        arguments = [f"a{word}" if _MODE.fullmatch(word) else word for word in arguments]
    rule = ARGUMENT_RULES.get("mkfs" if name.startswith("mkfs.") else name)
    return list(_apply_rule(rule, parse_arguments(arguments, rule.valued, rule.attached))) if rule else []


def _apply_rule(rule: ArgumentRule, parsed: Arguments) -> Iterator[FileUse]:
    outputs = parsed.get_values(*rule.outputs)
    yield from (FileUse(value, WRITE, contents=parsed.operands) for value in outputs)
    for value in parsed.get_values(*rule.reads):
        name = re.split(r"[@<]", value, maxsplit=1)[-1].partition(";")[0]
        yield FileUse(name, READ)
    if rule.required and not parsed.has_flag(*rule.required):
        return
    skip = 0 if parsed.has_flag(*rule.no_skip_with) else rule.skip
    operands = [operand for operand in parsed.operands[skip:] if operand][: rule.limit]
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
        yield from (FileUse(operand, READ, True) for operand in parsed.operands)
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


_GIT_OUTPUTS: dict[str, Names] = {
    "archive": ("o", "output"),
    "format-patch": ("o", "output-directory"),
    "config": ("f", "file"),
    "clone": (),
    "worktree": (),
    "bundle": (),
}
"""Subcommands of git that write files outside the work tree, with the options that name them."""


def _git(arguments: Sequence[str]) -> Iterator[FileUse]:
    """`git clean`, `git rm` and `git mv` delete, `git restore` and `git checkout --` write."""
    parsed = parse_arguments(arguments, ("C", "c", "e", "git-dir", "work-tree"))
    subcommand, *paths = parsed.operands or ("",)
    if subcommand == "clean" and parsed.has_flag("f", "force") and not parsed.has_flag("n", "dry-run"):
        directory = (parsed.get_values("C") or ["."])[-1]
        yield from (FileUse(path, DELETE) for path in paths or [f"{directory}/untracked"])
        if parsed.has_flag("d") and not paths:
            yield FileUse(directory, DELETE)
    elif subcommand == "restore" or (subcommand == "checkout" and "--" in arguments):
        yield from (FileUse(path, WRITE) for path in paths)
    elif subcommand in _GIT_OUTPUTS:
        options = parse_arguments(arguments, ("o", "output", "output-directory", "f", "file", "b", "B", "reason"))
        yield from (FileUse(path, WRITE) for path in options.get_values(*_GIT_OUTPUTS[subcommand]))
        if subcommand == "config" and options.has_flag("system") and len(paths) > 1:
            yield FileUse("/etc/gitconfig", WRITE)
        if subcommand in ("clone", "worktree", "bundle"):
            yield from (FileUse(path, WRITE) for path in paths[1:] if "://" not in path)
    elif subcommand in ("rm", "mv"):
        yield from (FileUse(path, DELETE, parsed.has_flag("r")) for path in paths)


_SED_RULE = ArgumentRule(
    WRITE,
    ("e", "f", "l", "expression", "file"),
    skip=1,
    no_skip_with=("e", "f", "expression", "file"),
    attached="i",
    required=("i", "in-place"),
)
_SED_WRITE = re.compile(r"(?:^|[;{}\n\d$/!]|/[gpIi0-9]*)\s*[wW]\s+([^\n;}]+)|^[\d,$]*w([^\s;].*)")


def _sed(arguments: Sequence[str]) -> Iterator[FileUse]:
    """`sed -i` writes its operands, the commands `w FILE` and `s/…/…/w FILE` write other files."""
    parsed = parse_arguments(arguments, _SED_RULE.valued, _SED_RULE.attached)
    yield from _apply_rule(_SED_RULE, parsed)
    scripts = parsed.get_values("e", "expression") or parsed.operands[:1]
    yield from (
        FileUse((match[1] or match[2]).strip(), WRITE)
        for script in scripts
        for match in _SED_WRITE.finditer(unmark(script))
    )
    if not parsed.has_flag("i", "in-place"):
        yield from (FileUse(operand, READ) for operand in parsed.operands[0 if parsed.get_values("e") else 1 :])


def _vim(arguments: Sequence[str]) -> Iterator[FileUse]:
    """Vim writes its operands, and the files of the command `w FILE`."""
    parsed = parse_arguments(arguments, ("c", "S", "u", "cmd"))
    yield from (FileUse(operand, WRITE) for operand in parsed.operands)
    commands = [*parsed.get_values("c", "cmd"), *(word for word in arguments if word.startswith("+"))]
    found = (re.match(r"\+?\s*(?:w|sav|saveas|write)!?\s+(\S+)", unmark(command)) for command in commands)
    yield from (FileUse(match[1], WRITE) for match in found if match)


def _split(arguments: Sequence[str]) -> Iterator[FileUse]:
    operands = parse_arguments(arguments, tuple("a b C l n t".split())).operands
    yield from (FileUse(f"{prefix}aa", WRITE) for prefix in operands[1:])


def _csplit(arguments: Sequence[str]) -> Iterator[FileUse]:
    parsed = parse_arguments(arguments, ("f", "prefix", "b", "n"))
    yield from (FileUse(f"{prefix}00", WRITE) for prefix in parsed.get_values("f", "prefix"))


def _rename(arguments: Sequence[str]) -> Iterator[FileUse]:
    """`rename s/OLD/NEW/ FILES`, or `rename OLD NEW FILES`."""
    operands = parse_arguments(arguments).operands
    found = re.match(r"s(.)(.*?)\1(.*?)\1", unmark(operands[0])) if operands else None
    new = found[3] if found else (operands[1] if len(operands) > 2 else "")
    yield from (FileUse(name, DELETE) for name in operands[1 if found else 2 :])
    if new:
        yield FileUse(new, WRITE)


def _7z(arguments: Sequence[str]) -> Iterator[FileUse]:
    if arguments and unmark(arguments[0]) in ("x", "e"):
        yield from (FileUse(word[2:], WRITE) for word in arguments if word.startswith("-o"))


def _ssh_keygen(arguments: Sequence[str]) -> Iterator[FileUse]:
    """Writes the file of `-f`, except with a flag that only prints."""
    parsed = parse_arguments(arguments, tuple("f t b C N P m".split()))
    use = READ if parsed.has_flag("l", "y", "F", "B", "L", "e") else WRITE
    yield from (FileUse(file, use) for file in parsed.get_values("f"))


SPECIAL_PROGRAMS: dict[str, Callable[[Sequence[str]], Iterator[FileUse]]] = {
    "dd": _dd,
    "tar": _tar,
    "bsdtar": _tar,
    "awk": _awk,
    "gawk": _awk,
    "openssl": _openssl,
    "git": _git,
    "sed": _sed,
    **dict.fromkeys(("vi", "vim", "nvim", "ex", "view"), _vim),
    "split": _split,
    "csplit": _csplit,
    "rename": _rename,
    **dict.fromkeys(("7z", "7za", "7zz"), _7z),
    "ssh-keygen": _ssh_keygen,
}
"""Programs whose arguments do not fit an `ArgumentRule`."""
