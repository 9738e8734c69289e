"""What an agent changed, as lines: commits, files with their counts, and diffs.

Hidden characters are shown as marks.
"""

from collections.abc import Iterator, Sequence

from claude_headspace.kernel.hidden_characters import make_visible
from claude_headspace.surfaces.cli.output import EMPTY_LINE, Line, Span, dim, line
from claude_headspace.surfaces.text.formatting import Json

ROLES = {"@": "hunk", "+": "added", "-": "removed", "#": "dim", "\\": "dim"}
"""The role of a line of a diff by its first character."""
HEADERS = ("--- ", "+++ ")
TAB = "    "
COMMIT_LENGTH = 10


def change_lines(changes: Json) -> list[Line]:
    """Everything: the commits, and each file with its diff."""
    lines = _commits(changes["commits"])
    for file in changes["files"]:
        lines += [*([EMPTY_LINE] if lines else []), _heading(file), *_diff(file)]
    return [*lines, *([EMPTY_LINE] if lines else []), *_summary(changes)]


def stat_lines(changes: Json) -> list[Line]:
    """The commits, and each file with its counts."""
    return [*_commits(changes["commits"]), *map(_heading, changes["files"]), *_summary(changes)]


def _commits(commits: Sequence[Json]) -> list[Line]:
    return [line(Span(commit["id"][:COMMIT_LENGTH], "hunk"), f" {_one_line(commit['subject'])}") for commit in commits]


def _heading(file: Json) -> Line:
    """Such as `modified src/app.py  +3 −1  (git)`."""
    path = _one_line(file["path"])
    if file["old_path"]:
        path = f"{_one_line(file['old_path'])} → {path}"
    return line(
        Span(f"{file['status']} ", "dim"),
        Span(path, "strong"),
        "  ",
        Span(f"+{file['added']}", "added"),
        " ",
        Span(f"−{file['removed']}", "removed"),
        Span("  (git)" if file["source"] == "git" else "", "dim"),
        Span("" if file["complete"] else f"  {_left_out(file['left_out'])}", "error"),
    )


def _diff(file: Json) -> Iterator[Line]:
    """The lines of a diff, without the names of the file, which the heading has."""
    in_hunk = False
    for text in make_visible(file["diff"]).split("\n"):
        in_hunk = in_hunk or text.startswith("@@")
        if text and (in_hunk or not text.startswith(HEADERS)):
            yield line(Span(text.rstrip("\r").replace("\t", TAB), ROLES.get(text[0], "")))


def _summary(changes: Json) -> list[Line]:
    count, lines = len(changes["files"]), list[Line]()
    if count:
        files = "1 file" if count == 1 else f"{count} files"
        lines.append(line(f"{files} changed, {changes['added']} lines added, {changes['removed']} removed."))
    elif not changes["commits"]:
        lines.append(line("No changes."))
    if not changes["complete"]:
        lines.append(line(Span(f"Not complete: {_left_out(changes['left_out'])}.", "error")))
    if changes["git_problem"]:
        lines.append(dim(f"The repository could not be read: {_one_line(changes['git_problem'])}"))
    return lines


def _left_out(count: int) -> str:
    return f"{count:,} characters left out" if count else "a part is left out"


def _one_line(text: str) -> str:
    """A name or a title on one line."""
    return make_visible(text).replace("\n", "⟦U+000A⟧").replace("\t", TAB)
