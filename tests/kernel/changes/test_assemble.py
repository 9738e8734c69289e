"""Edits of the same file are assembled into one change."""

from claude_headspace.kernel.changes.assemble import assemble, shortened
from claude_headspace.kernel.changes.model import FileEdit, Hunk
from claude_headspace.kernel.changes.unified import compare


def edit(before: str, after: str, *, created: bool = False) -> FileEdit:
    """An edit with complete texts."""
    return FileEdit(path="/p/a.txt", hunks=compare(before, after), before=before, after=after, created=created)


def test_edits_that_continue_each_other_are_one_diff() -> None:
    """From the first text to the last; what was changed back does not count."""
    [change] = assemble([(edit("a\n", "b\nx\n"), "one"), (edit("b\nx\n", "c\n"), "two")], "/p")
    assert (change.path, change.status, change.added, change.removed) == ("a.txt", "modified", 1, 1)
    assert change.diff.endswith("@@ -1 +1 @@\n-a\n+c\n")
    assert change.command_ids == ("one", "two")


def test_edits_that_do_not_continue_each_other_follow_as_hunks() -> None:
    """Someone else changed the file between them."""
    [change] = assemble([(edit("a\n", "b\n"), "one"), (edit("x\n", "y\n"), "one")], "/p")
    assert change.diff.count("@@ -1 +1 @@") == 2
    assert (change.added, change.removed, change.command_ids) == (2, 2, ("one",))


def test_edits_without_texts_follow_as_hunks() -> None:
    """The client's hunks are enough."""
    patch = FileEdit(path="/p/a.txt", hunks=(Hunk(7, 7, ("-a", "+b")),))
    [change] = assemble([(patch, ""), (patch, "")], "/p")
    assert change.diff.count("@@ -7 +7 @@") == 2
    assert change.command_ids == ()


def test_a_file_that_ends_as_it_was_is_no_change() -> None:
    """Undone edits are left out."""
    assert assemble([(edit("a\n", "b\n"), "one"), (edit("b\n", "a\n"), "one")], "/p") == []


def test_a_new_file_stays_new() -> None:
    """Later edits of a file that the agent created are part of its first version."""
    [change] = assemble([(edit("", "a\n", created=True), "one"), (edit("a\n", "a\nb\n"), "one")], "/p")
    assert (change.status, change.added, change.diff.splitlines()[0]) == ("added", 2, "--- /dev/null")


def test_paths_outside_of_the_project_are_absolute() -> None:
    """A directory with the same beginning is another directory."""
    [change] = assemble([(edit("a\n", "b\n"), "")], "/p/a")
    assert change.path == "/p/a.txt"


def test_a_cut_diff_says_how_much_is_missing() -> None:
    """It ends with a complete line."""
    [change] = assemble([(edit("", "one\ntwo\n", created=True), "")], "/p")
    short = shortened(change, len(change.diff) - 2)
    assert (short.complete, short.left_out) == (False, len("+two\n"))
    assert short.diff.endswith("+one\n")
