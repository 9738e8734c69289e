"""What some programs print, where that can be told beforehand: enough to see through `echo … | base64 -d | sh`."""

import base64
import binascii
import re
from collections.abc import Callable, Sequence

from claude_headspace.inputs.policy.shell.arguments import parse_arguments
from claude_headspace.inputs.policy.shell.markers import decode_escapes
from claude_headspace.kernel.policy.call import UNKNOWN


def _echo(arguments: Sequence[str], _given: str) -> str:
    words, escapes, newline = list(arguments), False, "\n"
    while words and re.fullmatch("-[neE]+", words[0]):
        escapes = escapes or "e" in words[0]
        newline = "" if "n" in words[0] else newline
        words.pop(0)
    text = " ".join(words)
    return (decode_escapes(text) if escapes else text) + newline


_FORMAT = re.compile(r"%(?:%|[-+ #0]*\d*(?:\.\d+)?([a-zA-Z]))")


def _printf(arguments: Sequence[str], _given: str) -> str:
    words = list(arguments)
    if words[:1] == ["--"]:
        words.pop(0)
    if not words or words[0] == "-v":
        return UNKNOWN if words else ""
    form, values = decode_escapes(words[0]), words[1:]
    out = _formatted(form, values)
    while values and _FORMAT.search(form):
        out += _formatted(form, values)
    return out


def _formatted(form: str, values: list[str]) -> str:
    def fill(found: re.Match[str]) -> str:
        if found[1] is None:
            return "%"
        value = values.pop(0) if values else ""
        return decode_escapes(value) if found[1] == "b" else value

    return _FORMAT.sub(fill, form)


def _base64(arguments: Sequence[str], given: str) -> str:
    options = parse_arguments(arguments, ("w", "wrap", "i", "o", "input"))
    if options.operands or UNKNOWN in given:
        return UNKNOWN
    try:
        if options.has_flag("d", "D", "decode"):
            return base64.b64decode(given.strip() + "===", validate=False).decode("utf-8", "replace")
        return base64.b64encode(given.encode()).decode() + "\n"
    except (binascii.Error, ValueError):
        return UNKNOWN


def _base32(arguments: Sequence[str], given: str) -> str:
    try:
        decoded = parse_arguments(arguments).has_flag("d", "decode") and UNKNOWN not in given
        return base64.b32decode(given.strip()).decode("utf-8", "replace") if decoded else UNKNOWN
    except (binascii.Error, ValueError):
        return UNKNOWN


def _xxd(arguments: Sequence[str], given: str) -> str:
    if not parse_arguments(arguments).has_flag("r") or UNKNOWN in given:
        return UNKNOWN
    try:
        return bytes.fromhex("".join(given.split())).decode("utf-8", "replace")
    except ValueError:
        return UNKNOWN


def _tr(arguments: Sequence[str], given: str) -> str:
    options = parse_arguments(arguments)
    if options.has_flag("d", "delete") and len(options.operands) == 1:
        return "".join(char for char in given if char not in _characters(options.operands[0]) or char == UNKNOWN)
    if options.flags or len(options.operands) != 2:
        return UNKNOWN
    old, new = (_characters(operand) for operand in options.operands)
    if not old or not new:
        return UNKNOWN
    return given.translate({ord(char): new[min(place, len(new) - 1)] for place, char in enumerate(old)})


def _characters(written: str) -> str:
    """`a-c` → abc."""

    def span(found: re.Match[str]) -> str:
        return "".join(map(chr, range(ord(found[1]), ord(found[2]) + 1)))

    return re.sub(r"(.)-(.)", span, decode_escapes(written), flags=re.DOTALL)


def _last_name(arguments: Sequence[str], _given: str) -> str:
    return (arguments[-1].rstrip("/").rpartition("/")[2] if arguments else "") + "\n"


def _directory(arguments: Sequence[str], _given: str) -> str:
    path = arguments[-1].rstrip("/") if arguments else ""
    before = path.rpartition("/")[0] if "/" in path else "."
    return (before or "/") + "\n"


def _same(arguments: Sequence[str], _given: str) -> str:
    return (arguments[-1] if arguments else "") + "\n"


def _yes(arguments: Sequence[str], _given: str) -> str:
    return (" ".join(arguments) or "y") + "\n"


KNOWN_OUTPUT: dict[str, Callable[[Sequence[str], str], str]] = {
    "echo": _echo,
    "printf": _printf,
    "base64": _base64,
    "base32": _base32,
    "xxd": _xxd,
    "tr": _tr,
    "rev": lambda _arguments, given: "\n".join(line[::-1] for line in given.split("\n")),
    "basename": _last_name,
    "dirname": _directory,
    "realpath": _same,
    "readlink": _same,
    "which": _same,
    "yes": _yes,
    "mktemp": lambda _arguments, _given: "/tmp/tmp.headspace\n",  # noqa: S108  # what it prints, never opened
    "tee": lambda _arguments, given: given,
    "true": lambda _arguments, _given: "",
    ":": lambda _arguments, _given: "",
    "ls": lambda _arguments, _given: f"./{UNKNOWN}\n",
    "grep": lambda _arguments, _given: f"./{UNKNOWN}\n",
    "rg": lambda _arguments, _given: f"./{UNKNOWN}\n",
    "fd": lambda _arguments, _given: f"./{UNKNOWN}\n",
    "git": lambda _arguments, _given: f"./{UNKNOWN}\n",
}
"""Programs and what they print. Lists of files are unknown names below the directory, which is all that matters."""
