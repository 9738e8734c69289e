"""What an agent changed, as lines: commits, files with their counts, and diffs.

Hidden characters are shown as marks.
"""

from collections.abc import Sequence

from claude_headspace.kernel.hidden_characters import make_visible, mark_controls
from claude_headspace.kernel.text import count
from claude_headspace.surfaces.cli.output import EMPTY_LINE, UNLIMITED_WIDTH, Line, Span, dim, line
from claude_headspace.surfaces.cli.presentation.diffs import diff_lines, parse_diff
from claude_headspace.surfaces.text.formatting import Json

TAB = "    "
COMMIT_LENGTH = 10


def change_lines(changes: Json, width: int = UNLIMITED_WIDTH) -> list[Line]:
    """Everything: the commits, and each file with its diff. A terminal shows line numbers if it is wide enough."""
    lines = _commits(changes["commits"])
    for file in changes["files"]:
        lines += [*([EMPTY_LINE] if lines else []), _heading(file), *_diff(file, width)]
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


def _diff(file: Json, width: int) -> list[Line]:
    """The lines of a diff, without the names of the file, which the heading has."""
    diff = make_visible(file["diff"].replace("\r\n", "\n").replace("\t", TAB))
    return diff_lines([each for each in parse_diff(diff) if each.text and not each.is_file_name], width)


def _summary(changes: Json) -> list[Line]:
    lines = list[Line]()
    if changes["files"]:
        files, added = count(len(changes["files"]), "file"), count(changes["added"], "line")
        lines.append(line(f"{files} changed, {added} added, {changes['removed']} removed."))
    elif not changes["commits"]:
        lines.append(line("No changes."))
    if not changes["complete"]:
        lines.append(line(Span(f"Not complete: {_left_out(changes['left_out'])}.", "error")))
    if changes["git_problem"]:
        lines.append(dim(f"The repository could not be read: {_one_line(changes['git_problem'])}"))
    return lines


def _left_out(characters: int) -> str:
    return f"{characters:,} characters left out" if characters else "a part is left out"


def _one_line(text: str) -> str:
    """A name or a title on one line."""
    return make_visible(mark_controls(text))
