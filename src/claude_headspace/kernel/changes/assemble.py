"""Assembles the edits of tool calls into one change per file, and combines them with the changes in a repository.

Rules
- Edits that continue each other (the text after one is the text before the next) are shown as one diff from the first
  text to the last. Other edits of the same file follow each other as hunks, in the order of the calls.
- A single edit keeps the hunks that the client reported.
- A file that ends up as it was is not a change.
"""

from collections import Counter
from collections.abc import Iterable, Sequence

import msgspec

from claude_headspace.kernel.changes.git_output import changed_lines
from claude_headspace.kernel.changes.model import FileChange, FileEdit, Hunk
from claude_headspace.kernel.changes.unified import compare, format_diff

Attributed = tuple[FileEdit, str]
"""An edit, and the id of its command; empty if it has none."""


def assemble(edits: Iterable[Attributed], root: str) -> list[FileChange]:
    """One change per file, in the order of the first edit."""
    by_path: dict[str, list[Attributed]] = {}
    for edit, command_id in edits:
        by_path.setdefault(relative(edit.path, root), []).append((edit, command_id))
    changes = (_file_change(path, attributed) for path, attributed in by_path.items())
    return [change for change in changes if change is not None]


def relative(path: str, root: str) -> str:
    """A path relative to the root of the project, or unchanged outside of it."""
    prefix = root.rstrip("/") + "/"
    return path.removeprefix(prefix) if root else path


def _file_change(path: str, attributed: Sequence[Attributed]) -> FileChange | None:
    chains = _chains([edit for edit, _ in attributed])
    hunks = [hunk for chain in chains for hunk in _hunks(chain)]
    created, left_out = chains[0][0].created, sum(edit.left_out for edit, _ in attributed)
    if not hunks and not created and not left_out:
        return None
    return FileChange(
        path=path,
        status="added" if created else "modified",
        added=sum(hunk.added for hunk in hunks),
        removed=sum(hunk.removed for hunk in hunks),
        diff=format_diff(path, hunks, created=created),
        source="tool",
        command_ids=tuple(dict.fromkeys(command_id for _, command_id in attributed if command_id)),
        complete=not left_out,
        left_out=left_out,
        old_path=None,
    )


def _chains(edits: Sequence[FileEdit]) -> list[list[FileEdit]]:
    """Edits that continue each other, grouped."""
    chains = [[edits[0]]]
    for edit in edits[1:]:
        previous = chains[-1][-1]
        if previous.after is not None and edit.before == previous.after and chains[-1][0].before is not None:
            chains[-1].append(edit)
        else:
            chains.append([edit])
    return chains


def _hunks(chain: Sequence[FileEdit]) -> Sequence[Hunk]:
    first, last = chain[0], chain[-1]
    if len(chain) == 1 or first.before is None or last.after is None:
        return first.hunks
    return compare(first.before, last.after)


def shortened(change: FileChange, limit: int) -> FileChange:
    """The change with a diff of at most `limit` characters, cut at the end of a line and marked."""
    if len(change.diff) <= limit:
        return change
    end = change.diff.rfind("\n", 0, max(limit, 0)) + 1
    missing = len(change.diff) - end
    return msgspec.structs.replace(change, diff=change.diff[:end], complete=False, left_out=change.left_out + missing)


def limited(changes: Iterable[FileChange], total: int | None, each: int | None = None) -> list[FileChange]:
    """The changes with diffs that fit into a total number of characters, and each into a limit of its own."""
    if total is None:
        return list(changes)
    result, room = list[FileChange](), total
    for change in changes:
        result.append(shortened(change, min(room, each or room)))
        room -= len(result[-1].diff)
    return result


def combine(tools: Sequence[FileChange], repository: Sequence[FileChange], *, is_command: bool) -> list[FileChange]:
    """The changes by tool calls, and those that only the repository knows.

    A file that both know is shown by its tool calls, which are exact. The diff of the repository replaces them if
    theirs is not complete, or, for an agent as a whole, if it contains all of their lines and more.
    """
    found = {file.path: file for file in repository}
    combined = [_better(file, found.pop(file.path, None), is_command=is_command) for file in tools]
    return [*combined, *found.values()]


def _better(tool: FileChange, repository: FileChange | None, *, is_command: bool) -> FileChange:
    if repository is None or (tool.complete and (is_command or not _explains_more(repository, tool))):
        return tool
    return msgspec.structs.replace(repository, command_ids=tool.command_ids)


def _explains_more(repository: FileChange, tool: FileChange) -> bool:
    """Whether the repository's diff has every changed line of the tool calls, and others."""
    lines, known = Counter(changed_lines(repository.diff)), Counter(changed_lines(tool.diff))
    return known < lines
