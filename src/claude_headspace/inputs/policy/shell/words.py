"""Word expansion: turns words of the shell text into the arguments that a program would receive.

Handles quotes, variables, substitutions, braces, tildes and field splitting. One word can become several arguments, or
none. Globs stay in the argument as markers (`markers`); `paths` expands them if the argument is used as a file.
"""

import re
from collections.abc import Callable, Iterator
from fnmatch import translate
from typing import Protocol

from tree_sitter import Node

from claude_headspace.inputs.policy.shell.budget import Budget
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

MAX_OPERAND_CHARS = 1_000
MAX_PATTERN_CHARS = 60
"""Longer values and patterns of an operator such as `${x#a*}` are not evaluated; the result is unknown."""
MAX_STARS = 3
"""In a pattern. The time to match grows with each of them."""

_PLAIN = re.compile(r"[A-Za-z0-9_@%+=:./-]+")
"""A text in which no character has a meaning for the shell."""


class Scope(Protocol):
    """The state of the shell that an expansion reads and changes."""

    home: str
    budget: Budget

    def get_variable(self, name: str) -> str:
        """Return the value of a variable, or `UNKNOWN`."""

    def assign(self, name: str, value: str) -> None:
        """Set a variable."""

    def run_substitution(self, node: Node) -> str:
        """Run the commands in `$( )` and return their output."""

    def run_process_substitution(self, node: Node) -> str:
        """Run the commands in `<( )` and return the file name that replaces it."""


def expand_word(node: Node, scope: Scope) -> list[str]:
    """Expand a word into arguments. Most words have nothing to expand."""
    if node.type == "command_name" and node.child_count == 1:
        node = node.children[0]
    if node.type in ("word", "number") and _PLAIN.fullmatch(text := node_text(node)):
        scope.budget.spend(1, len(text))
        return [text]
    texts = expand_braces(_expand(node, scope, quoted=False, first=True))
    scope.budget.spend(0, sum(map(len, texts)))
    return [field for text in texts for field in _split_fields(text)]


def expand_to_text(node: Node | None, scope: Scope) -> str:
    """Expand a word without splitting it, as in an assignment or after a redirect."""
    return unmark(_expand(node, scope, quoted=False, first=True)) if node is not None else ""


def _split_fields(text: str) -> Iterator[str]:
    for part in re.split(f"{SPLIT}+", text):
        if part:
            yield part.replace(EMPTY_WORD, "")


def _expand(node: Node, scope: Scope, *, quoted: bool, first: bool = False) -> str:
    scope.budget.spend()
    expander = EXPANDERS.get(node.type)
    if expander is not None:
        return expander(node, scope, quoted)
    return _expand_unquoted(node_text(node), scope, first=first)


def _expand_unquoted(text: str, scope: Scope, *, first: bool) -> str:
    """Expand text outside quotes: a backslash escapes the next character, globs and braces become markers."""
    if first and text.startswith("~"):
        name, slash, rest = text[1:].partition("/")
        text = (scope.home if not name or name == "+" else f"/home/{name}") + slash + rest
    out: list[str] = []
    chars = iter(text)
    for char in chars:
        if char == "\\":
            after = next(chars, "")
            out.append("" if after == "\n" else after)
        else:
            out.append(MARKER_FOR.get(char, char))
    return "".join(out)


def _expand_concatenation(node: Node, scope: Scope, quoted: bool) -> str:
    parts = node.children
    return "".join(_expand(part, scope, quoted=quoted, first=number == 0) for number, part in enumerate(parts))


def _expand_string(node: Node, scope: Scope, _quoted: bool) -> str:
    """Expand text in double quotes."""
    raw = node.text or b""
    opening = 2 if raw.startswith(b"$") else 1
    return _expand_between(node, scope, opening, len(raw) - 1) or EMPTY_WORD


def expand_heredoc(node: Node, scope: Scope) -> str:
    """Expand the text of a here-document."""
    return _expand_between(node, scope, 0, len(node.text or b""))


def _expand_between(node: Node, scope: Scope, position: int, end: int) -> str:
    """Expand the nodes of a quoted text. The tree omits blanks between nodes, so they are copied from the source."""
    raw, start, out = node.text or b"", node.start_byte, list[str]()
    for child in node.named_children:
        out.append(_unescape_quoted(raw[position : child.start_byte - start]))
        is_text = child.type in ("string_content", "heredoc_content")
        out.append(_unescape_quoted(child.text or b"") if is_text else _expand(child, scope, quoted=True))
        position = max(position, child.end_byte - start)
    out.append(_unescape_quoted(raw[position:end]))
    return "".join(out)


def _unescape_quoted(raw: bytes) -> str:
    return re.sub(r'\\([\\"$`])|\\\n', lambda found: found[1] or "", raw.decode("utf-8", "replace"))


def _expand_raw_string(node: Node, _scope: Scope, _quoted: bool) -> str:
    return node_text(node)[1:-1] or EMPTY_WORD


def _expand_ansi_string(node: Node, _scope: Scope, _quoted: bool) -> str:
    return decode_escapes(node_text(node)[2:-1]) or EMPTY_WORD


def _mark_expansion(value: str, quoted: bool, scope: Scope) -> str:
    """Mark the splits and globs in an expanded value, unless it is quoted. `IFS` defines where it is split."""
    scope.budget.spend(0, len(value))
    if quoted:
        return value
    separators = scope.get_variable("IFS")
    separators = " \t\n" if UNKNOWN in separators else separators
    markers = {ord(char): MARKER_FOR[char] for char in "*?["} | {ord(char): SPLIT for char in separators}
    return value.translate(markers)


def _expand_variable(node: Node, scope: Scope, quoted: bool) -> str:
    return _mark_expansion(scope.get_variable(node_text(node)[1:].strip("{}")), quoted, scope)


def _expand_substitution(node: Node, scope: Scope, quoted: bool) -> str:
    return _mark_expansion(scope.run_substitution(node).rstrip("\n"), quoted, scope)


def _expand_process_substitution(node: Node, scope: Scope, _quoted: bool) -> str:
    return scope.run_process_substitution(node)


def _expand_arithmetic(node: Node, scope: Scope, _quoted: bool) -> str:
    for child in node.named_children:
        _run_nested_substitutions(child, scope)
    inner = node_text(node)[3:-2].strip()
    return inner if inner.isdigit() else UNKNOWN


def _run_nested_substitutions(node: Node, scope: Scope) -> None:
    """Run the substitutions in an arithmetic expression: `a[$(…)]`."""
    scope.budget.spend()
    if node.type == "command_substitution":
        scope.run_substitution(node)
        return
    for child in node.named_children:
        _run_nested_substitutions(child, scope)


def _expand_brace_range(node: Node, _scope: Scope, _quoted: bool) -> str:
    return "".join(MARKER_FOR.get(char, char) for char in node_text(node))


# --- ${…} -------------------------------------------------------------------------------------------------------------

_PARAMETER = re.compile(r"\$\{(?P<mark>[!#])?(?P<name>\w+|[@*#?$!-])(?:\[(?P<index>[^]]*)\])?(?P<rest>.*)\}", re.DOTALL)
_OPERATOR = re.compile(r":?[-=+?]|##?|%%?|//?|\^\^?|,,?|:|@")


def _expand_parameter(node: Node, scope: Scope, quoted: bool) -> str:
    found = _PARAMETER.fullmatch(node_text(node))
    if found is None:
        return UNKNOWN
    name = found["name"] + (f"[{found['index']}]" if found["index"] else "")
    value = scope.get_variable(name)
    if found["mark"] == "!":
        value = scope.get_variable(value) if UNKNOWN not in value and value else UNKNOWN
    elif found["mark"] == "#":
        return str(len(value)) if UNKNOWN not in value else UNKNOWN
    operator = _OPERATOR.match(found["rest"])
    if operator is not None:
        value = _apply_operator(node, scope, name, value, operator[0], found["rest"][operator.end() :])
    return _mark_expansion(value, quoted, scope)


def _apply_operator(node: Node, scope: Scope, name: str, value: str, operator: str, rest: str) -> str:
    if operator.lstrip(":") in ("-", "=", "+", "?"):
        word = _expand_operand(node, scope, rest)
        if operator.endswith("+"):
            return word if value else ""
        chosen = value if value and value != UNKNOWN else word
        if operator.endswith("="):
            scope.assign(name, chosen)
        return value if operator.endswith("?") else chosen
    if UNKNOWN in value or len(value) > MAX_OPERAND_CHARS or len(rest) > MAX_PATTERN_CHARS:
        return UNKNOWN
    return OPERATORS[operator](value, rest) if operator in OPERATORS else UNKNOWN


def _expand_operand(node: Node, scope: Scope, rest: str) -> str:
    """Expand the word after an operator such as `:-`, if the tree has a node for it."""
    last = node.named_children[-1] if node.named_child_count > 1 else None
    return unmark(_expand(last, scope, quoted=True)) if last is not None else rest


def _remove_match(value: str, pattern: str, *, front: bool, longest: bool) -> str:
    """Remove a prefix or suffix that matches a pattern: `${x#a*}`, `${x%%b*}`."""
    if pattern.count("*") > MAX_STARS:
        return UNKNOWN
    matcher = re.compile(translate(pattern))
    sizes = range(len(value), -1, -1) if longest else range(len(value) + 1)
    for size in sizes:
        piece = value[:size] if front else value[len(value) - size :]
        if matcher.match(piece):
            return value[size:] if front else value[: len(value) - size]
    return value


def _replace_match(value: str, rest: str, count: int) -> str:
    pattern, _, replacement = rest.partition("/")
    if not pattern or pattern.count("*") > MAX_STARS:
        return UNKNOWN if pattern else value
    unanchored = translate(pattern).removesuffix(r"\Z").removesuffix(r"\z")
    return re.sub(unanchored, lambda _match: replacement, value, count=count)


def _substring(value: str, rest: str) -> str:
    bounds = [part.strip() for part in rest.split(":")]
    if not all(re.fullmatch(r"-?\d{1,9}", part) for part in bounds):
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
"""The function that expands each type of node. Other types are unquoted text."""
