"""Parse the patches of `apply_patch`. Pure and total: what does not fit the format is left out.

*** Begin Patch
*** Add File: notes.txt
+a new line
*** Update File: app.py
*** Move to: main.py
@@ def main():
a line of context
-a removed line
+an added line
*** Delete File: old.py
*** End Patch
"""

from collections.abc import Iterator

import msgspec

ADD, UPDATE, DELETE = "Add File", "Update File", "Delete File"
MOVE = "*** Move to: "
END_OF_FILE = "*** End of File"
FRAME = ("*** Begin Patch", "*** End Patch", "")
"""Lines outside of sections."""
PREFIXES = {ADD: ("+",), UPDATE: ("+", "-", " "), DELETE: ()}
"""How the lines of a section begin. An empty line of an update is a line of context."""


class Section(msgspec.Struct):
    """What a patch does to one file."""

    action: str
    path: str
    moved_to: str | None = None
    chunks: list[list[str]] = []
    """Lines with their prefix (` `, `+`, `-`), in the order of the file. Each chunk stands somewhere below the last."""

    @property
    def content(self) -> str:
        """The text of a new file."""
        return "".join(f"{line[1:]}\n" for chunk in self.chunks for line in chunk if line.startswith("+"))

    def replacements(self) -> Iterator[tuple[str, str]]:
        """The old and the new text of each chunk."""
        for chunk in self.chunks:
            yield _side(chunk, " -"), _side(chunk, " +")


def _side(chunk: list[str], prefixes: str) -> str:
    return "".join(f"{line[1:]}\n" for line in chunk if (line[:1] or " ") in prefixes)


def parse_patch(text: str) -> list[Section]:
    """The sections of a patch, one for each file, in their order."""
    sections = list[Section]()
    for line in _lines(text):
        if (section := _header(line)) is not None:
            sections.append(section)
        elif sections:
            _add_line(sections[-1], line)
    return sections


def is_understood(text: str) -> bool:
    """Whether the sections of a patch contain everything that is in its text."""
    action = ""
    for line in _lines(text):
        if (section := _header(line)) is not None:
            action = section.action
        elif not _is_known(action, line):
            return False
    return bool(action)


def _is_known(action: str, line: str) -> bool:
    """Whether a line belongs to the frame of a patch or to a section with this action."""
    if line.strip() in FRAME and (line.strip() or action in ("", UPDATE)):
        return True
    if action == UPDATE and (line.startswith((MOVE, "@@")) or line.strip() == END_OF_FILE):
        return True
    return line.startswith(PREFIXES.get(action, ()))


def _lines(text: str) -> list[str]:
    """The lines of a patch. Only a line feed ends a line, perhaps after a carriage return."""
    return [line.removesuffix("\r") for line in text.rstrip("\n").split("\n")]


def _header(line: str) -> Section | None:
    stripped = line.strip()
    for action in (ADD, UPDATE, DELETE):
        prefix = f"*** {action}: "
        if stripped.startswith(prefix):
            return Section(action, stripped.removeprefix(prefix).strip(), chunks=[[]])
    return None


def _add_line(section: Section, line: str) -> None:
    if line.startswith(MOVE):
        section.moved_to = line.removeprefix(MOVE).strip()
    elif line.startswith("@@"):
        section.chunks = [*(chunk for chunk in section.chunks if chunk), []]
    elif not line.startswith("***"):
        section.chunks[-1].append(line)
