"""Edits of the same file are assembled into one change."""

from claude_headspace.kernel.changes.assemble import assemble, combine, final_digests, limited, shortened, text_digest
from claude_headspace.kernel.changes.model import FileChange, FileEdit, Hunk
from claude_headspace.kernel.changes.unified import compare, format_diff
from claude_headspace.kernel.redaction.redactor import REDACTED


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
    """Someone else changed the file between two commands."""
    [change] = assemble([(edit("a\n", "b\n"), "one"), (edit("x\n", "y\n"), "two")], "/p")
    assert change.diff.count("@@ -1 +1 @@") == 2
    assert (change.added, change.removed, change.command_ids) == (2, 2, ("one", "two"))


def test_what_changed_between_two_edits_of_a_command_is_included() -> None:
    """A shell command changed another line."""
    [change] = assemble([(edit("1\n2\n3\n", "A\n2\n3\n"), "one"), (edit("A\nB\n3\n", "A\nB\nC\n"), "one")], "/p")
    assert change.diff.endswith("@@ -1,3 +1,3 @@\n-1\n-2\n-3\n+A\n+B\n+C\n")
    assert (change.added, change.removed, change.complete) == (3, 3, True)


def test_edits_without_texts_follow_as_hunks() -> None:
    """The client's hunks are enough."""
    patch = FileEdit(path="/p/a.txt", hunks=(Hunk(7, 7, ("-a", "+b")),))
    [change] = assemble([(patch, ""), (patch, "")], "/p")
    assert change.diff.count("@@ -7 +7 @@") == 2
    assert change.command_ids == ()


def test_the_text_after_the_last_edit_is_known_by_its_digest() -> None:
    """Line ends do not count. Without the text, and with redacted parts, there is none."""
    two = [(edit("a\n", "b\n"), "one"), (edit("b\n", "c\n"), "one")]
    assert final_digests(two, "/p") == {"a.txt": text_digest("\ufeffc\r\n")} != {"a.txt": text_digest("b\n")}
    assert final_digests([*two, (edit("c\n", f"{REDACTED}\n"), "one")], "/p") == {}
    assert final_digests([*two, (FileEdit(path="/p/a.txt"), "one")], "/p") == {}


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


def change(source: str, before: str, after: str, *, complete: bool = True) -> FileChange:
    """A change of `a.txt`."""
    diff, ids = format_diff("a.txt", compare(before, after)), ("one",) if source == "tool" else ()
    return FileChange(
        path="a.txt",
        status="modified",
        added=1,
        removed=1,
        diff=diff,
        source=source,
        command_ids=ids,
        complete=complete,
        left_out=0,
        old_path=None,
    )


def test_tool_calls_that_explain_a_file_are_shown() -> None:
    """The repository has the same lines."""
    tool = change("tool", "a\nb\n", "a\nc\n")
    assert combine([tool], [change("git", "a\nb\n", "a\nc\n")], is_command=False) == [tool]


def test_the_repository_shows_what_a_shell_command_changed_as_well() -> None:
    """For an agent; a command shows its tool calls, because the repository has those of other commands, too."""
    tool, git = change("tool", "a\nb\n", "a\nc\n"), change("git", "a\nb\n", "X\nc\n")
    [combined] = combine([tool], [git], is_command=False)
    assert (combined.diff, combined.source, combined.command_ids) == (git.diff, "git", ("one",))
    assert combine([tool], [git], is_command=True) == [tool]
    [outdated] = combine([tool], [git], is_command=True, changed_since={"a.txt"})
    assert (outdated.diff, outdated.source, outdated.command_ids) == (git.diff, "git", ("one",))


def test_tool_calls_that_were_undone_since_are_shown() -> None:
    """The repository does not have their lines any more."""
    tool = change("tool", "a\nb\n", "a\nc\n")
    assert combine([tool], [change("git", "a\nb\n", "a\nd\n")], is_command=False) == [tool]


def test_the_repository_replaces_an_incomplete_diff() -> None:
    """Long edits are not stored completely."""
    tool, git = change("tool", "a\n", "b\n", complete=False), change("git", "x\n", "y\n")
    [combined] = combine([tool], [git], is_command=True)
    assert (combined.diff, combined.command_ids) == (git.diff, ("one",))


def test_files_that_only_the_repository_knows_follow() -> None:
    """What a shell command changed."""
    git = change("git", "x\n", "y\n")
    assert combine([], [git], is_command=True) == [git]


def test_all_diffs_together_are_limited() -> None:
    """Later files are cut, and each file has a limit of its own."""
    one = change("git", "a\n", "b\n")
    size = len(one.diff)
    assert [file.complete for file in limited([one, one], size + 1)] == [True, False]
    assert [file.complete for file in limited([one, one], 2 * size, size - 1)] == [False, False]
    assert limited([one, one], None) == [one, one]
