"""The output of some programs, where their arguments and input determine it: `echo … | base64 -d | sh`."""

import base64
import binascii
import re
from collections.abc import Callable, Sequence

from claude_headspace.inputs.policy.shell.arguments import parse_arguments
from claude_headspace.inputs.policy.shell.markers import decode_escapes
from claude_headspace.kernel.policy.call import UNKNOWN

MAX_OUTPUT_CHARS = 200_000


def _echo(arguments: Sequence[str], _stdin: str) -> str:
    words, escapes, newline = list(arguments), False, "\n"
    while words and re.fullmatch("-[neE]+", words[0]):
        escapes = escapes or "e" in words[0]
        newline = "" if "n" in words[0] else newline
        words.pop(0)
    text = " ".join(words)
    return (decode_escapes(text) if escapes else text) + newline


_FORMAT = re.compile(r"%(?:%|[-+ #0]*\d*(?:\.\d+)?([a-zA-Z]))")


def _printf(arguments: Sequence[str], _stdin: str) -> str:
    words = list(arguments)
    if words[:1] == ["--"]:
        words.pop(0)
    if not words or words[0] == "-v":
        return UNKNOWN if words else ""
    form, values = decode_escapes(words[0]), words[1:]
    if len(form) * (len(values) + 1) > MAX_OUTPUT_CHARS:
        return UNKNOWN
    output = _fill_format(form, values)
    while values and _FORMAT.search(form):
        output += _fill_format(form, values)
    return output


def _fill_format(form: str, values: list[str]) -> str:
    """Fill a format once. Removes the used values from the list."""

    def replace(match: re.Match[str]) -> str:
        if match[1] is None:
            return "%"
        value = values.pop(0) if values else ""
        return decode_escapes(value) if match[1] == "b" else value

    return _FORMAT.sub(replace, form)


def _base64(arguments: Sequence[str], stdin: str) -> str:
    parsed = parse_arguments(arguments, ("w", "wrap", "i", "o", "input"))
    if parsed.operands or UNKNOWN in stdin:
        return UNKNOWN
    try:
        if parsed.has_flag("d", "D", "decode"):
            return base64.b64decode(stdin.strip() + "===", validate=False).decode("utf-8", "replace")
        return base64.b64encode(stdin.encode()).decode() + "\n"
    except (binascii.Error, ValueError):
        return UNKNOWN


def _xxd(arguments: Sequence[str], stdin: str) -> str:
    if not parse_arguments(arguments).has_flag("r") or UNKNOWN in stdin:
        return UNKNOWN
    try:
        return bytes.fromhex("".join(stdin.split())).decode("utf-8", "replace")
    except ValueError:
        return UNKNOWN


def _tr(arguments: Sequence[str], stdin: str) -> str:
    parsed = parse_arguments(arguments)
    sets = [_expand_character_set(operand) for operand in parsed.operands]
    if parsed.has_flag("d", "delete") and len(sets) == 1:
        return "".join(char for char in stdin if char not in sets[0] or char == UNKNOWN)
    if parsed.flags or len(sets) != 2 or not all(sets):
        return UNKNOWN
    old, new = sets
    return stdin.translate({ord(char): new[min(index, len(new) - 1)] for index, char in enumerate(old)})


def _expand_character_set(text: str) -> str:
    """Expand the ranges of a character set: `a-c` → `abc`."""

    def expand(match: re.Match[str]) -> str:
        return "".join(map(chr, range(ord(match[1]), ord(match[2]) + 1)))

    return re.sub(r"([\0-\x7f])-([\0-\x7f])", expand, decode_escapes(text))


def _basename(arguments: Sequence[str], _stdin: str) -> str:
    return (arguments[-1].rstrip("/").rpartition("/")[2] if arguments else "") + "\n"


def _dirname(arguments: Sequence[str], _stdin: str) -> str:
    path = arguments[-1].rstrip("/") if arguments else ""
    directory = path.rpartition("/")[0] if "/" in path else "."
    return (directory or "/") + "\n"


def _last_argument(arguments: Sequence[str], _stdin: str) -> str:
    return (arguments[-1] if arguments else "") + "\n"


def _yes(arguments: Sequence[str], _stdin: str) -> str:
    return (" ".join(arguments) or "y") + "\n"


def _filter(arguments: Sequence[str], stdin: str) -> str:
    """A program that prints a part of its input. All of it is a safe estimate."""
    has_file = any(not word.startswith("-") and not word.isdigit() for word in arguments)
    return UNKNOWN if has_file or not stdin else stdin


def _ls(arguments: Sequence[str], _stdin: str) -> str:
    """`ls -d NAMES` prints the names."""
    parsed = parse_arguments(arguments)
    return "".join(f"{name}\n" for name in parsed.operands) if parsed.has_flag("d") else f"./{UNKNOWN}\n"


def _jq(arguments: Sequence[str], _stdin: str) -> str:
    """`jq -n '"TEXT"'` prints the text."""
    literals = [word[1:-1] for word in arguments if len(word) > 1 and word[0] == word[-1] == '"']
    return f"{literals[0]}\n" if literals and parse_arguments(arguments).has_flag("n", "null-input") else UNKNOWN


KNOWN_OUTPUT: dict[str, str | Callable[[Sequence[str], str], str]] = {
    "echo": _echo,
    "printf": _printf,
    "base64": _base64,
    "xxd": _xxd,
    "tr": _tr,
    "rev": lambda _arguments, stdin: "\n".join(line[::-1] for line in stdin.split("\n")),
    "basename": _basename,
    "dirname": _dirname,
    **dict.fromkeys(("realpath", "readlink", "which"), _last_argument),
    "yes": _yes,
    "mktemp": "/tmp/tmp.headspace\n",  # noqa: S108  # printed, never opened
    "tee": lambda _arguments, stdin: stdin,
    **dict.fromkeys(("true", ":"), ""),
    **dict.fromkeys(("grep", "rg", "fd", "git"), f"./{UNKNOWN}\n"),
    **dict.fromkeys(("head", "tail", "sort", "uniq", "tac", "envsubst", "sponge", "pv"), _filter),
    "ls": _ls,
    "jq": _jq,
}
"""The output of a program, or a function of its arguments and input. File lists are unknown names below `.`."""
