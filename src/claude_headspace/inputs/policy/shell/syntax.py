"""Parses shell text into a syntax tree, with workarounds for errors of the tree-sitter-bash grammar (version 0.25).

- `a$X$HOME/b` loses its last expansion. `parse` puts braces around the names.
- `[ -d / ] && rm x` is parsed as one test. `text_after_test` returns the rest.
- A syntax error can hide other statements. `split_statements` returns the statements, to parse each one separately.
- The time to parse brackets that are never closed grows with the square of their number: 40,000 characters of `${` take
  seconds. `is_too_nested` tells such texts apart before they are parsed.
"""

import re
from collections.abc import Iterator

import tree_sitter_bash
from tree_sitter import Language, Node, Parser

LANGUAGE = Language(tree_sitter_bash.language())

_WORD = re.compile(r"\S+")
_NAME = re.compile(r"\$([A-Za-z_]\w*)")
_BRACKET = re.compile(r"[(){}]")
_TEST_END = re.compile(r"\s\]{1,2}(?=[\s;&|)]|$)")

MAX_NESTING = 200
"""Open brackets. Quotes and comments are not considered."""


def is_too_nested(text: str) -> bool:
    """Whether more than `MAX_NESTING` brackets are open at some point of the text."""
    depth = 0
    for bracket in _BRACKET.findall(text):
        depth = depth + 1 if bracket in "({" else max(depth - 1, 0)
        if depth > MAX_NESTING:
            return True
    return False


def parse(text: str) -> Node:
    """Parse a text and return the root of its tree."""
    return Parser(LANGUAGE).parse(_WORD.sub(_add_braces, text).encode("utf-8", "replace")).root_node


def _add_braces(word: re.Match[str]) -> str:
    """Put braces around the variables of a word, if it has several and a slash."""
    return _NAME.sub(r"${\1}", word[0]) if word[0].count("$") > 1 and "/" in word[0] else word[0]


def node_text(node: Node) -> str:
    """Return the source text of a node."""
    return (node.text or b"").decode("utf-8", "replace")


def text_after_test(text: str) -> str:
    """Return the text after the end of a test."""
    parts = _TEST_END.split(text, maxsplit=1)
    return parts[1].lstrip(" \t&|;") if len(parts) > 1 else ""


def split_statements(text: str) -> Iterator[str]:
    """Split a text at `;`, `&`, `|` and line ends outside quotes."""
    statement, quote, escaped = "", "", False
    for char in text:
        if not quote and not escaped and char in ";&|\n":
            yield statement
            statement = ""
            continue
        if not escaped and char in "'\"" and quote in ("", char):
            quote = "" if quote else char
        escaped = char == "\\" and not escaped and quote != "'"
        statement += char
    if not quote:
        yield statement


def is_fork_bomb(name: str, body: Node) -> bool:
    """Whether a function calls itself in the background, through a pipe or several times."""
    text = node_text(body)
    calls = [node for node in find_commands(body) if node_text(node).split() in ([name], [name, "$@"])]
    return bool(calls) and ("|" in text or len(calls) > 1) and "&" in text.replace("&&", "")


def find_commands(node: Node) -> list[Node]:
    """Return all commands within a node."""
    found = [node] if node.type == "command" else []
    for child in node.named_children:
        found += find_commands(child)
    return found
