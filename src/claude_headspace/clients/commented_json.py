"""Changes a JSON text with comments so that it means something else, and keeps its comments. Pure.

Comments are `// …` and `/* … */`, as in the settings of some clients. They are replaced by spaces for reading, so that
every position stays the same. Only the members and items that differ are replaced, removed or appended.
"""

import difflib
import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

_TOKEN = re.compile(r'"(?:\\.|[^"\\])*"|//[^\n\r]*|/\*.*?\*/', re.DOTALL)
_SPACE = re.compile(r"[\s\ufeff]*")
_INDENT = re.compile(r"\n([ \t]+)\S")
_decoder = json.JSONDecoder()

Edit = tuple[int, int, str]
"""Replaces the text between two positions."""


class Unsupported(ValueError):
    """The change would move something that comments may belong to."""


def without_comments(text: str) -> str:
    """The text with spaces in place of comments."""
    return _TOKEN.sub(lambda found: found[0] if found[0][0] == '"' else re.sub(r"[^\n\r]", " ", found[0]), text)


def has_comments(text: str) -> bool:
    """Whether a text has comments."""
    return without_comments(text) != text


def changed_text(text: str, new: object) -> str:
    """The text, changed so that it means `new`. Without its comments it must be valid JSON. Raises `Unsupported`."""
    plain = without_comments(text)
    edits = list(_edits(_Source(text, plain), _read(plain, 0), json.loads(plain.lstrip("\ufeff")), new))
    for start, end, replacement in sorted(edits, key=lambda edit: edit[:2], reverse=True):
        text = text[:start] + replacement + text[end:]
    if json.loads(without_comments(text).lstrip("\ufeff")) != new:
        raise Unsupported
    return text


# --- positions --------------------------------------------------------------------------------------------------------


@dataclass
class _Node:
    """A value in the text. The children of an object begin with their keys."""

    start: int
    end: int
    key: str | None = None
    value: "_Node | None" = None
    children: list["_Node"] = field(default_factory=list)


def _read(text: str, position: int) -> _Node:
    """The value at a position, in a text that is valid JSON."""
    start = _skip(text, position)
    if text[start] not in "{[":
        return _Node(start, _decoder.raw_decode(text, start)[1])
    node, position = _Node(start, start), start + 1
    closing, read_child = ("}", _read_member) if text[start] == "{" else ("]", _read)
    while text[position := _skip(text, position)] != closing:
        node.children.append(read_child(text, position + 1 if text[position] == "," else position))
        position = node.children[-1].end
    node.end = position + 1
    return node


def _read_member(text: str, position: int) -> _Node:
    start = _skip(text, position)
    key, end = _decoder.raw_decode(text, start)
    value = _read(text, text.index(":", end) + 1)
    return _Node(start, value.end, key, value)


def _skip(text: str, position: int) -> int:
    found = _SPACE.match(text, position)
    return found.end() if found else position


# --- edits ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Source:
    """The text, and the same without its comments."""

    text: str
    plain: str

    @property
    def unit(self) -> str:
        """One level of indentation."""
        found = _INDENT.search(self.plain)
        return found[1] if found else "  "

    def indentation(self, position: int) -> str:
        """The white space at the beginning of a line."""
        line = self.plain[self.plain.rfind("\n", 0, position) + 1 : position]
        return line[: len(line) - len(line.lstrip(" \t"))]

    def comma(self, position: int) -> int | None:
        """The comma after a child; None if there is none."""
        found = _skip(self.plain, position)
        return found if self.plain[found] == "," else None


Render = Callable[[_Source, str], str]
"""The text of a new child, with this indentation."""


def _edits(source: _Source, node: _Node, old: Any, new: Any) -> Iterator[Edit]:
    if old == new and type(old) is type(new):
        return
    if isinstance(old, dict) and isinstance(new, dict):
        yield from _object_edits(source, node, old, new)
    elif isinstance(old, list) and isinstance(new, list):
        yield from _list_edits(source, node, old, new)
    else:
        yield node.start, node.end, _rendered(source, new, source.indentation(node.start))


def _object_edits(source: _Source, node: _Node, old: dict[str, Any], new: dict[str, Any]) -> Iterator[Edit]:
    for child in node.children:
        if child.key in new and child.value is not None:
            yield from _edits(source, child.value, old[child.key], new[child.key])
    removed = [child for child in node.children if child.key not in new]
    added = [name for name in new if name not in old]
    yield from _moves(source, node, removed, [_member(name, new[name]) for name in added])


def _member(name: str, value: object) -> Render:
    return lambda source, indent: f"{json.dumps(name, ensure_ascii=False)}: {_rendered(source, value, indent)}"


def _item(value: object) -> Render:
    return lambda source, indent: _rendered(source, value, indent)


def _list_edits(source: _Source, node: _Node, old: list[Any], new: list[Any]) -> Iterator[Edit]:
    before, after = ([json.dumps(each, sort_keys=True) for each in values] for values in (old, new))
    removed, added = list[_Node](), list[object]()
    for kind, start, end, first, last in difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if kind == "replace" and end - start == last - first:
            for place, other in zip(range(start, end), range(first, last), strict=True):
                yield from _edits(source, node.children[place], old[place], new[other])
        elif kind == "delete":
            removed += node.children[start:end]
        elif kind == "insert" and start == len(old):
            added += new[first:last]
        elif kind != "equal":
            raise Unsupported
    yield from _moves(source, node, removed, [_item(value) for value in added])


def _moves(source: _Source, node: _Node, removed: Sequence[_Node], added: Sequence[Render]) -> Iterator[Edit]:
    """Remove and append children. A removed one is replaced by a new one, as long as there are both."""
    for child, render in zip(removed, added, strict=False):
        yield child.start, child.end, render(source, source.indentation(child.start))
    yield from _removals(source, node, removed[len(added) :])
    if len(added) > len(removed):
        yield from _additions(source, node, added[len(removed) :])


def _removals(source: _Source, node: _Node, removed: Sequence[_Node]) -> Iterator[Edit]:
    for child in removed:
        comma = source.comma(child.end)
        yield _whole_lines(source, child.start, child.end if comma is None else comma + 1)
    kept = [child for child in node.children if child not in removed]
    if removed and kept and kept[-1] is not node.children[-1]:
        comma = source.comma(kept[-1].end)
        assert comma is not None
        yield comma, comma + 1, ""


def _additions(source: _Source, node: _Node, added: Sequence[Render]) -> Iterator[Edit]:
    """Append children before the closing bracket, each on a line of its own."""
    newline, outer = "\r\n" if "\r\n" in source.text else "\n", source.indentation(node.start)
    last = node.children[-1] if node.children else None
    indent = source.indentation(last.start) if last is not None else outer + source.unit
    end = node.start + 1 + len(source.text[node.start + 1 : node.end - 1].rstrip())
    closing = "" if "\n" in source.text[end : node.end - 1] else f"{newline}{outer}"
    text = newline + indent + f",{newline}{indent}".join(render(source, indent) for render in added) + closing
    if last is not None and last.end < end:  # a comment follows the last child
        yield last.end, last.end, ","
    yield end, end, f",{text}" if last is not None and last.end == end else text


def _whole_lines(source: _Source, start: int, end: int) -> Edit:
    """A range without text; with its line, if nothing else is on it."""
    line = source.text.rfind("\n", 0, start)
    rest = source.text[end:].partition("\n")[0]
    is_alone = line >= 0 and not source.text[line + 1 : start].strip() and not rest.strip()
    return (line, end + len(rest.rstrip("\r")), "") if is_alone else (start, end, "")


def _rendered(source: _Source, value: object, indent: str) -> str:
    text = json.dumps(value, indent=source.unit, ensure_ascii=False).replace("\n", f"\n{indent}")
    return text.replace("\n", "\r\n") if "\r\n" in source.text else text
