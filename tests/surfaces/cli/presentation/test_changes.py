"""What an agent changed, as lines."""

from typing import Any

from claude_headspace.surfaces.cli.output import Line
from claude_headspace.surfaces.cli.presentation.changes import change_lines, stat_lines
from claude_headspace.surfaces.text.formatting import Json


def changes(*files: Json, **more: Any) -> Json:
    """Changes as the API returns them."""
    counts = {name: sum(file[name] for file in files) for name in ("added", "removed", "left_out")}
    complete = all(file["complete"] for file in files)
    return {"commits": [], "files": files, **counts, "complete": complete, "git_problem": None, **more}


def file(path: str = "a.txt", diff: str = "", **more: Any) -> Json:
    """A changed file."""
    known = {"status": "modified", "added": 1, "removed": 0, "source": "tool", "complete": True, "left_out": 0}
    return {"path": path, "old_path": None, "diff": diff, **known, **more}


def texts(lines: list[Line]) -> list[str]:
    """The lines without roles."""
    return ["".join(span.text for span in line) for line in lines]


def test_a_file_with_its_diff() -> None:
    """Each kind of line has a role of its own; a removed line that looks like a header is a line."""
    diff = "--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n--- old\n+\tnew\r\n kept\n\\ No newline at end of file\n"
    lines = change_lines(changes(file(diff=diff)))
    assert texts(lines) == [
        "modified a.txt  +1 −0",
        "@@ -1,2 +1,2 @@",
        "--- old",
        "+    new",
        " kept",
        "\\ No newline at end of file",
        "",
        "1 file changed, 1 line added, 0 removed.",
    ]
    assert [line[0].role for line in lines[1:6]] == ["hunk", "removed", "added", "said", "dim"]


def test_counts_only() -> None:
    """Commits, renames, what git knows and what is missing."""
    commit = {"id": "f" * 40, "subject": "Say hello"}
    moved = file("b.txt", old_path="a.txt", status="renamed", source="git")
    cut = file("c.txt", complete=False, left_out=1200)
    assert texts(stat_lines(changes(moved, cut, commits=[commit], git_problem="git took too long."))) == [
        "ffffffffff Say hello",
        "renamed a.txt → b.txt  +1 −0  (git)",
        "modified c.txt  +1 −0  1,200 characters left out",
        "2 files changed, 2 lines added, 0 removed.",
        "Not complete: 1,200 characters left out.",
        "The repository could not be read: git took too long.",
    ]


def test_no_changes() -> None:
    """One line says so."""
    assert texts(change_lines(changes())) == texts(stat_lines(changes())) == ["No changes."]


def test_hidden_characters_are_marks() -> None:
    """In paths, subjects and lines."""
    commit = {"id": "f" * 40, "subject": "a\u202eb"}
    hostile = file("a\n\x1b[2J.txt", "@@ -0,0 +1 @@\n+x\u200b\x9b2J\n")
    shown = "\n".join(texts(change_lines(changes(hostile, commits=[commit]))))
    assert "a⟦U+202E⟧b" in shown
    assert "a⟦U+000A⟧⟦U+001B⟧[2J.txt" in shown
    assert "+x⟦U+200B⟧⟦U+009B⟧2J" in shown
