"""What is written becomes what arrives: quotes, variables, substitutions, braces, tildes, splitting.

One word of the text may become several arguments, or none. Globs stay as signs (`markers`): only who uses the argument
as a file needs to look for files.
"""

import re
from collections.abc import Callable, Iterator
from fnmatch import translate
from typing import Protocol

from tree_sitter import Node

from claude_headspace.inputs.policy.shell.markers import (
    EMPTY_WORD,
    MARKER_FOR,
    SPLIT,
    decode_escapes,
    expand_braces,
    unmark,
)
from claude_headspace.inputs.policy.shell.syntax import node_text
from claude_headspace.kernel.policy.call import UNKNOWN


class Scope(Protocol):
    """What is known where the words stand."""

    home: str

    def get_variable(self, name: str) -> str:
        """A variable's value; unknown if it comes from elsewhere."""

    def assign(self, name: str, value: str) -> None:
        """A variable has this value from here on."""

    def run_substitution(self, node: Node) -> str:
        """What the commands in `$( )` print."""

    def run_process_substitution(self, node: Node) -> str:
        """The file that `<( )` stands for."""


def expand_word(node: Node, world: Scope) -> list[str]:
    """The arguments that a word becomes."""
    return [
        field for text in expand_braces(_expand(node, world, quoted=False, first=True)) for field in _split_fields(text)
    ]


def expand_to_text(node: Node | None, world: Scope) -> str:
    """A word as one text: in an assignment, after a redirect."""
    return unmark(_expand(node, world, quoted=False, first=True)) if node is not None else ""


def _split_fields(text: str) -> Iterator[str]:
    for part in re.split(f"{SPLIT}+", text):
        if part:
            yield part.replace(EMPTY_WORD, "")


def _expand(node: Node, world: Scope, *, quoted: bool, first: bool = False) -> str:
    reader = EXPANDERS.get(node.type)
    if reader is not None:
        return reader(node, world, quoted)
    return _expand_unquoted(node_text(node), world, first=first)


def _expand_unquoted(text: str, world: Scope, *, first: bool) -> str:
    """Plain text outside of quotes: a backslash protects, a glob or brace is meant."""
    if first and text.startswith("~"):
        name, slash, rest = text[1:].partition("/")
        text = (world.home if not name or name == "+" else f"/home/{name}") + slash + rest
    out: list[str] = []
    chars = iter(text)
    for char in chars:
        if char == "\\":
            after = next(chars, "")
            out.append("" if after == "\n" else after)
        else:
            out.append(MARKER_FOR.get(char, char))
    return "".join(out)


def _expand_concatenation(node: Node, world: Scope, quoted: bool) -> str:
    parts = node.children
    return "".join(_expand(part, world, quoted=quoted, first=number == 0) for number, part in enumerate(parts))


def _expand_string(node: Node, world: Scope, _quoted: bool) -> str:
    """Between double quotes; the tree leaves blanks out, so they are taken from the text itself."""
    raw = node.text or b""
    opening = 2 if raw.startswith(b"$") else 1
    return _expand_between(node, world, opening, len(raw) - 1) or EMPTY_WORD


def expand_heredoc(node: Node, world: Scope) -> str:
    """The text of a here-document, with its expansions."""
    return _expand_between(node, world, 0, len(node.text or b""))


def _expand_between(node: Node, world: Scope, position: int, end: int) -> str:
    raw, start, out = node.text or b"", node.start_byte, list[str]()
    for child in node.named_children:
        out.append(_unescape_quoted(raw[position : child.start_byte - start]))
        is_text = child.type in ("string_content", "heredoc_content")
        out.append(_unescape_quoted(child.text or b"") if is_text else _expand(child, world, quoted=True))
        position = max(position, child.end_byte - start)
    out.append(_unescape_quoted(raw[position:end]))
    return "".join(out)


def _unescape_quoted(raw: bytes) -> str:
    return re.sub(r'\\([\\"$`])|\\\n', lambda found: found[1] or "", raw.decode("utf-8", "replace"))


def _expand_raw_string(node: Node, _world: Scope, _quoted: bool) -> str:
    return node_text(node)[1:-1] or EMPTY_WORD


def _expand_ansi_string(node: Node, _world: Scope, _quoted: bool) -> str:
    return decode_escapes(node_text(node)[2:-1]) or EMPTY_WORD


def _mark_expansion(value: str, quoted: bool, world: Scope) -> str:
    """An expansion's value: outside of quotes it is split, at blanks or as `IFS` says, and its globs are meant."""
    if quoted:
        return value
    gaps = world.get_variable("IFS")
    gaps = " \t\n" if UNKNOWN in gaps else gaps
    marks = {ord(char): MARKER_FOR[char] for char in "*?["} | {ord(char): SPLIT for char in gaps}
    return value.translate(marks)


def _expand_variable(node: Node, world: Scope, quoted: bool) -> str:
    return _mark_expansion(world.get_variable(node_text(node)[1:].strip("{}")), quoted, world)


def _expand_substitution(node: Node, world: Scope, quoted: bool) -> str:
    return _mark_expansion(world.run_substitution(node).rstrip("\n"), quoted, world)


def _expand_process_substitution(node: Node, world: Scope, _quoted: bool) -> str:
    return world.run_process_substitution(node)


def _expand_arithmetic(node: Node, _world: Scope, _quoted: bool) -> str:
    inner = node_text(node)[3:-2].strip()
    return inner if inner.isdigit() else UNKNOWN


def _expand_brace_range(node: Node, _world: Scope, _quoted: bool) -> str:
    return "".join(MARKER_FOR.get(char, char) for char in node_text(node))


# --- ${…} -------------------------------------------------------------------------------------------------------------

_PARAMETER = re.compile(r"\$\{(?P<mark>[!#])?(?P<name>\w+|[@*#?$!-])(?:\[(?P<index>[^]]*)\])?(?P<rest>.*)\}", re.DOTALL)
_OPERATOR = re.compile(r":?[-=+?]|##?|%%?|//?|\^\^?|,,?|:|@")


def _expand_parameter(node: Node, world: Scope, quoted: bool) -> str:
    found = _PARAMETER.fullmatch(node_text(node))
    if found is None:
        return UNKNOWN
    name = found["name"] + (f"[{found['index']}]" if found["index"] else "")
    value = world.get_variable(name)
    if found["mark"] == "!":
        value = world.get_variable(value) if UNKNOWN not in value and value else UNKNOWN
    elif found["mark"] == "#":
        return str(len(value)) if UNKNOWN not in value else UNKNOWN
    operator = _OPERATOR.match(found["rest"])
    if operator is not None:
        value = _apply_operator(node, world, name, value, operator[0], found["rest"][operator.end() :])
    return _mark_expansion(value, quoted, world)


def _apply_operator(node: Node, world: Scope, name: str, value: str, operator: str, rest: str) -> str:
    if operator.lstrip(":") in ("-", "=", "+", "?"):
        word = _expand_operand(node, world, rest)
        if operator.endswith("+"):
            return word if value else ""
        chosen = value if value and value != UNKNOWN else word
        if operator.endswith("="):
            world.assign(name, chosen)
        return value if operator.endswith("?") else chosen
    if UNKNOWN in value:
        return UNKNOWN
    return OPERATORS[operator](value, rest) if operator in OPERATORS else UNKNOWN


def _expand_operand(node: Node, world: Scope, rest: str) -> str:
    """The word after `:-`, expanded where the tree knows it."""
    last = node.named_children[-1] if node.named_child_count > 1 else None
    return unmark(_expand(last, world, quoted=True)) if last is not None else rest


def _remove_match(value: str, pattern: str, *, front: bool, longest: bool) -> str:
    """`${x#a*}`, `${x%%b*}`: without the piece that fits."""
    fits = re.compile(translate(pattern))
    sizes = range(len(value), -1, -1) if longest else range(len(value) + 1)
    for size in sizes:
        piece = value[:size] if front else value[len(value) - size :]
        if fits.match(piece):
            return value[size:] if front else value[: len(value) - size]
    return value


def _replace_match(value: str, rest: str, count: int) -> str:
    pattern, _, by = rest.partition("/")
    if not pattern:
        return value
    return re.sub(translate(pattern).removesuffix(r"\Z").removesuffix(r"\z"), lambda _found: by, value, count=count)


def _substring(value: str, rest: str) -> str:
    bounds = [part.strip() for part in rest.split(":")]
    if not all(re.fullmatch(r"-?\d+", part) for part in bounds):
        return UNKNOWN
    start = int(bounds[0])
    value = value[start:]
    return value[: int(bounds[1])] if len(bounds) > 1 else value


OPERATORS: dict[str, Callable[[str, str], str]] = {
    "#": lambda value, rest: _remove_match(value, rest, front=True, longest=False),
    "##": lambda value, rest: _remove_match(value, rest, front=True, longest=True),
    "%": lambda value, rest: _remove_match(value, rest, front=False, longest=False),
    "%%": lambda value, rest: _remove_match(value, rest, front=False, longest=True),
    "/": lambda value, rest: _replace_match(value, rest, 1),
    "//": lambda value, rest: _replace_match(value, rest, 0),
    "^": lambda value, _rest: value[:1].upper() + value[1:],
    "^^": lambda value, _rest: value.upper(),
    ",": lambda value, _rest: value[:1].lower() + value[1:],
    ",,": lambda value, _rest: value.lower(),
    ":": _substring,
}

EXPANDERS: dict[str, Callable[[Node, Scope, bool], str]] = {
    "concatenation": _expand_concatenation,
    "command_name": _expand_concatenation,
    "string": _expand_string,
    "translated_string": _expand_string,
    "raw_string": _expand_raw_string,
    "ansi_c_string": _expand_ansi_string,
    "simple_expansion": _expand_variable,
    "expansion": _expand_parameter,
    "command_substitution": _expand_substitution,
    "process_substitution": _expand_process_substitution,
    "arithmetic_expansion": _expand_arithmetic,
    "brace_expression": _expand_brace_range,
}
"""How each kind of word is read; what is not listed is plain text."""
