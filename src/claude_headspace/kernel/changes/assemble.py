"""Assembles the edits of tool calls into one change per file, and combines them with the changes in a repository.

Rules
- Edits that continue each other (the text after one is the text before the next) are shown as one diff from the first
  text to the last. So are edits of one command: what changed between them, usually by a shell command, is included.
  Other edits of the same file follow each other as hunks, in the order of the calls.
- A single edit keeps the hunks that the client reported.
- A file that ends up as it was is not a change.
- If a file of a command has another text than after its last edit, a shell command changed it, too. Then the
  diff of the repository is shown.
"""

import hashlib
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from itertools import pairwise

import msgspec

from claude_headspace.kernel.changes.git_output import changed_lines
from claude_headspace.kernel.changes.model import FileChange, FileEdit, Hunk
from claude_headspace.kernel.changes.unified import compare, format_diff
from claude_headspace.kernel.redaction.redactor import REDACTED

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
    chains = _chains(attributed)
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


def _chains(attributed: Sequence[Attributed]) -> list[list[FileEdit]]:
    """Edits that continue each other, grouped."""
    chains = [[attributed[0][0]]]
    for (previous, command_id), (edit, next_command_id) in pairwise(attributed):
        is_known = None not in (chains[-1][0].before, previous.after, edit.before)
        if is_known and (edit.before == previous.after or command_id == next_command_id):
            chains[-1].append(edit)
        else:
            chains.append([edit])
    return chains


def _hunks(chain: Sequence[FileEdit]) -> Sequence[Hunk]:
    first, last = chain[0], chain[-1]
    if len(chain) == 1 or first.before is None or last.after is None:
        return first.hunks
    return compare(first.before, last.after)


def final_digests(edits: Iterable[Attributed], root: str) -> dict[str, str]:
    """By path: the digest of the text after the last edit, where it is known. Redacted texts are not."""
    texts = {relative(edit.path, root): edit.after for edit, _ in edits}
    return {path: text_digest(text) for path, text in texts.items() if text is not None and REDACTED not in text}


def text_digest(text: str) -> str:
    """A digest of a text. Line ends and a byte order mark do not count, because clients remove them."""
    plain = text.removeprefix("\ufeff").replace("\r\n", "\n")
    return hashlib.blake2b(plain.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


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


def combine(
    tools: Sequence[FileChange],
    repository: Sequence[FileChange],
    *,
    is_command: bool,
    changed_since: Collection[str] = (),
) -> list[FileChange]:
    """The changes by tool calls, and those that only the repository knows.

    A file that both know is shown by its tool calls, which are exact. The diff of the repository replaces them if
    theirs is not complete, if the file was changed after its last edit (`changed_since`), or, for an agent as a whole,
    if it contains all of their lines and more.
    """
    found = {file.path: file for file in repository}
    combined = list[FileChange]()
    for tool in tools:
        git = found.pop(tool.path, None)
        explains_more = git is not None and not is_command and _explains_more(git, tool)
        is_outdated = not tool.complete or tool.path in changed_since or explains_more
        combined.append(_attributed_like(tool, git) if git is not None and is_outdated else tool)
    return [*combined, *found.values()]


def _attributed_like(tool: FileChange, repository: FileChange) -> FileChange:
    return msgspec.structs.replace(repository, command_ids=tool.command_ids)


def _explains_more(repository: FileChange, tool: FileChange) -> bool:
    """Whether the repository's diff has every changed line of the tool calls, and others."""
    lines, known = Counter(changed_lines(repository.diff)), Counter(changed_lines(tool.diff))
    return known < lines
