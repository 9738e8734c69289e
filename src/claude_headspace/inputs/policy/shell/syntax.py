"""From text to a syntax tree, around the places where the grammar of tree-sitter-bash errs.

Found with version 0.25: `a$X$HOME/b` loses its last expansion (braces around the names help); `[ -d / ] && rm x` is
taken for one long test. Where a text cannot be parsed as a whole its statements are parsed one by one as well, so that
a mistake in one does not hide another.
"""

import re
from collections.abc import Iterator

import tree_sitter_bash
from tree_sitter import Language, Node, Parser

LANGUAGE = Language(tree_sitter_bash.language())

_WORD = re.compile(r"\S+")
_NAME = re.compile(r"\$([A-Za-z_]\w*)")
_TEST_END = re.compile(r"\s\]{1,2}(?=[\s;&|)]|$)")


def parse(text: str) -> Node:
    """The tree of a text."""
    return Parser(LANGUAGE).parse(_WORD.sub(_add_braces, text).encode("utf-8", "replace")).root_node


def _add_braces(word: re.Match[str]) -> str:
    """A word with braces around its names, if it has several and a slash."""
    return _NAME.sub(r"${\1}", word[0]) if word[0].count("$") > 1 and "/" in word[0] else word[0]


def node_text(node: Node) -> str:
    """The text that a node was read from."""
    return (node.text or b"").decode("utf-8", "replace")


def text_after_test(source: str) -> str:
    """What follows the end of a test that was taken for longer than it is."""
    parts = _TEST_END.split(source, maxsplit=1)
    return parts[1].lstrip(" \t&|;") if len(parts) > 1 else ""


def split_statements(text: str) -> Iterator[str]:
    """The statements of a text that cannot be parsed as a whole: cut at `;`, `&`, `|`, line ends outside of quotes."""
    piece, quote, escaped = "", "", False
    for char in text:
        if not quote and not escaped and char in ";&|\n":
            yield piece
            piece = ""
            continue
        if not escaped and char in "'\"" and quote in ("", char):
            quote = "" if quote else char
        escaped = char == "\\" and not escaped and quote != "'"
        piece += char
    if not quote:
        yield piece


def is_fork_bomb(name: str, body: Node) -> bool:
    """Whether a function does nothing but start itself several times over, or in the background."""
    text = node_text(body)
    calls = [node for node in find_commands(body) if node_text(node).split() in ([name], [name, "$@"])]
    return bool(calls) and ("|" in text or len(calls) > 1) and "&" in text.replace("&&", "")


def find_commands(node: Node) -> list[Node]:
    """All commands within a statement."""
    found = [node] if node.type == "command" else []
    for child in node.named_children:
        found += find_commands(child)
    return found
