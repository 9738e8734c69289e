"""What is written becomes what arrives: quotes, variables, substitutions, braces, tildes, splitting.

One word of the text may become several arguments, or none. Globs stay as signs (`markers`): only who uses the argument
as a file needs to look for files.
"""

import re
from collections.abc import Callable, Iterator
from fnmatch import translate
from typing import Protocol

from tree_sitter import Node

from claude_headspace.inputs.policy.shell.markers import MEANT, NOTHING, SPLIT, ansi, braces, plain
from claude_headspace.inputs.policy.shell.syntax import source
from claude_headspace.kernel.policy.call import UNKNOWN


class World(Protocol):
    """What is known where the words stand."""

    home: str

    def variable(self, name: str) -> str:
        """A variable's value; unknown if it comes from elsewhere."""

    def assign(self, name: str, value: str) -> None:
        """A variable has this value from here on."""

    def substituted(self, node: Node) -> str:
        """What the commands in `$( )` print."""

    def substituted_file(self, node: Node) -> str:
        """The file that `<( )` stands for."""


def fields(node: Node, world: World) -> list[str]:
    """The arguments that a word becomes."""
    return [field for text in braces(_value(node, world, quoted=False, first=True)) for field in _split(text)]


def text_of(node: Node | None, world: World) -> str:
    """A word as one text: in an assignment, after a redirect."""
    return plain(_value(node, world, quoted=False, first=True)) if node is not None else ""


def _split(text: str) -> Iterator[str]:
    for part in re.split(f"{SPLIT}+", text):
        if part:
            yield part.replace(NOTHING, "")


def _value(node: Node, world: World, *, quoted: bool, first: bool = False) -> str:
    reader = READERS.get(node.type)
    if reader is not None:
        return reader(node, world, quoted)
    return _unquoted(source(node), world, first=first)


def _unquoted(text: str, world: World, *, first: bool) -> str:
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
            out.append(MEANT.get(char, char))
    return "".join(out)


def _concatenation(node: Node, world: World, quoted: bool) -> str:
    parts = node.children
    return "".join(_value(part, world, quoted=quoted, first=number == 0) for number, part in enumerate(parts))


def _string(node: Node, world: World, _quoted: bool) -> str:
    """Between double quotes; the tree leaves blanks out, so they are taken from the text itself."""
    raw = node.text or b""
    opening = 2 if raw.startswith(b"$") else 1
    return _filled(node, world, opening, len(raw) - 1) or NOTHING


def filled(node: Node, world: World) -> str:
    """The text of a here-document, with its expansions."""
    return _filled(node, world, 0, len(node.text or b""))


def _filled(node: Node, world: World, position: int, end: int) -> str:
    raw, start, out = node.text or b"", node.start_byte, list[str]()
    for child in node.named_children:
        out.append(_quoted_text(raw[position : child.start_byte - start]))
        is_text = child.type in ("string_content", "heredoc_content")
        out.append(_quoted_text(child.text or b"") if is_text else _value(child, world, quoted=True))
        position = max(position, child.end_byte - start)
    out.append(_quoted_text(raw[position:end]))
    return "".join(out)


def _quoted_text(raw: bytes) -> str:
    return re.sub(r'\\([\\"$`])|\\\n', lambda found: found[1] or "", raw.decode("utf-8", "replace"))


def _raw_string(node: Node, _world: World, _quoted: bool) -> str:
    return source(node)[1:-1] or NOTHING


def _ansi_string(node: Node, _world: World, _quoted: bool) -> str:
    return ansi(source(node)[2:-1]) or NOTHING


def _expanded(value: str, quoted: bool, world: World) -> str:
    """An expansion's value: outside of quotes it is split, at blanks or as `IFS` says, and its globs are meant."""
    if quoted:
        return value
    gaps = world.variable("IFS")
    gaps = " \t\n" if UNKNOWN in gaps else gaps
    marks = {ord(char): MEANT[char] for char in "*?["} | {ord(char): SPLIT for char in gaps}
    return value.translate(marks)


def _simple_expansion(node: Node, world: World, quoted: bool) -> str:
    return _expanded(world.variable(source(node)[1:].strip("{}")), quoted, world)


def _substitution(node: Node, world: World, quoted: bool) -> str:
    return _expanded(world.substituted(node).rstrip("\n"), quoted, world)


def _process_substitution(node: Node, world: World, _quoted: bool) -> str:
    return world.substituted_file(node)


def _arithmetic(node: Node, _world: World, _quoted: bool) -> str:
    inner = source(node)[3:-2].strip()
    return inner if inner.isdigit() else UNKNOWN


def _brace_range(node: Node, _world: World, _quoted: bool) -> str:
    return "".join(MEANT.get(char, char) for char in source(node))


# --- ${…} -------------------------------------------------------------------------------------------------------------

_PARAMETER = re.compile(r"\$\{(?P<mark>[!#])?(?P<name>\w+|[@*#?$!-])(?:\[(?P<index>[^]]*)\])?(?P<rest>.*)\}", re.DOTALL)
_OPERATOR = re.compile(r":?[-=+?]|##?|%%?|//?|\^\^?|,,?|:|@")


def _parameter(node: Node, world: World, quoted: bool) -> str:
    found = _PARAMETER.fullmatch(source(node))
    if found is None:
        return UNKNOWN
    name = found["name"] + (f"[{found['index']}]" if found["index"] else "")
    value = world.variable(name)
    if found["mark"] == "!":
        value = world.variable(value) if UNKNOWN not in value and value else UNKNOWN
    elif found["mark"] == "#":
        return str(len(value)) if UNKNOWN not in value else UNKNOWN
    operator = _OPERATOR.match(found["rest"])
    if operator is not None:
        value = _operated(node, world, name, value, operator[0], found["rest"][operator.end() :])
    return _expanded(value, quoted, world)


def _operated(node: Node, world: World, name: str, value: str, operator: str, rest: str) -> str:
    if operator.lstrip(":") in ("-", "=", "+", "?"):
        word = _word_within(node, world, rest)
        if operator.endswith("+"):
            return word if value else ""
        chosen = value if value and value != UNKNOWN else word
        if operator.endswith("="):
            world.assign(name, chosen)
        return value if operator.endswith("?") else chosen
    if UNKNOWN in value:
        return UNKNOWN
    return OPERATIONS[operator](value, rest) if operator in OPERATIONS else UNKNOWN


def _word_within(node: Node, world: World, rest: str) -> str:
    """The word after `:-`, expanded where the tree knows it."""
    last = node.named_children[-1] if node.named_child_count > 1 else None
    return plain(_value(last, world, quoted=True)) if last is not None else rest


def _cut(value: str, pattern: str, *, front: bool, longest: bool) -> str:
    """`${x#a*}`, `${x%%b*}`: without the piece that fits."""
    fits = re.compile(translate(pattern))
    sizes = range(len(value), -1, -1) if longest else range(len(value) + 1)
    for size in sizes:
        piece = value[:size] if front else value[len(value) - size :]
        if fits.match(piece):
            return value[size:] if front else value[: len(value) - size]
    return value


def _replaced(value: str, rest: str, count: int) -> str:
    pattern, _, by = rest.partition("/")
    if not pattern:
        return value
    return re.sub(translate(pattern).removesuffix(r"\Z").removesuffix(r"\z"), lambda _found: by, value, count=count)


def _slice(value: str, rest: str) -> str:
    bounds = [part.strip() for part in rest.split(":")]
    if not all(re.fullmatch(r"-?\d+", part) for part in bounds):
        return UNKNOWN
    start = int(bounds[0])
    value = value[start:]
    return value[: int(bounds[1])] if len(bounds) > 1 else value


OPERATIONS: dict[str, Callable[[str, str], str]] = {
    "#": lambda value, rest: _cut(value, rest, front=True, longest=False),
    "##": lambda value, rest: _cut(value, rest, front=True, longest=True),
    "%": lambda value, rest: _cut(value, rest, front=False, longest=False),
    "%%": lambda value, rest: _cut(value, rest, front=False, longest=True),
    "/": lambda value, rest: _replaced(value, rest, 1),
    "//": lambda value, rest: _replaced(value, rest, 0),
    "^": lambda value, _rest: value[:1].upper() + value[1:],
    "^^": lambda value, _rest: value.upper(),
    ",": lambda value, _rest: value[:1].lower() + value[1:],
    ",,": lambda value, _rest: value.lower(),
    ":": _slice,
}

READERS: dict[str, Callable[[Node, World, bool], str]] = {
    "concatenation": _concatenation,
    "command_name": _concatenation,
    "string": _string,
    "translated_string": _string,
    "raw_string": _raw_string,
    "ansi_c_string": _ansi_string,
    "simple_expansion": _simple_expansion,
    "expansion": _parameter,
    "command_substitution": _substitution,
    "process_substitution": _process_substitution,
    "arithmetic_expansion": _arithmetic,
    "brace_expression": _brace_range,
}
"""How each kind of word is read; what is not listed is plain text."""
