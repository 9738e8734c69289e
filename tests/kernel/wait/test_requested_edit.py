"""The diff of an edit: against its file, or of its own texts if the file does not fit."""

import json

import pytest

from claude_headspace.kernel.wait.requested_edit import (
    DELETED_COMMENT,
    HIDDEN_COMMENT,
    LINE_ENDS_COMMENT,
    SAME_COMMENT,
    UNKNOWN_COMMENT,
    NotApplicable,
    Replacement,
    RequestedCell,
    RequestedEdit,
    edit_diff,
    join_diffs,
    own_diff,
)

TEXT = "".join(f"line {number}\n" for number in range(1, 31))
NOTEBOOK = json.dumps({"cells": [{"id": "first", "source": ["import os\n", "os.getcwd()\n"]}, {"source": "1 + 1"}]})


def edit(*parts: Replacement) -> RequestedEdit:
    """An edit of one file."""
    return RequestedEdit(path="/p/f.py", replacements=parts)


def test_replacements_are_shown_with_the_line_numbers_of_the_file() -> None:
    """Each replacement is applied to the result of the one before."""
    found = edit_diff(edit(Replacement("line 20", "twenty"), Replacement("twenty\n", "20\n20b\n")), "f.py", TEXT)
    assert "@@ -17,7 +17,8 @@\n line 17\n" in found
    assert "-line 20\n+20\n+20b\n" in found


def test_every_occurrence_is_replaced_on_request() -> None:
    """Otherwise only the first one is."""
    both = edit_diff(edit(Replacement("a", "b", everywhere=True)), "f", "a\nx\na\n")
    first = edit_diff(edit(Replacement("a", "b")), "f", "a\nx\na\n")
    assert (both.count("+b"), first.count("+b")) == (2, 1)


def test_an_edit_without_old_text_creates_the_file() -> None:
    """The client creates files this way, too."""
    assert edit_diff(edit(Replacement("", "x\n")), "f", None).startswith("--- /dev/null\n+++ b/f\n")


@pytest.mark.parametrize(("text", "why"), [(None, "does not exist"), ("other\n", "does not contain the old text")])
def test_an_edit_that_does_not_fit_its_file_is_refused(text: str | None, why: str) -> None:
    """The reason is for the person who reads the diff."""
    with pytest.raises(NotApplicable, match=why):
        edit_diff(edit(Replacement("a", "b")), "f", text)


def test_a_file_with_carriage_returns_is_compared_without_them() -> None:
    """The client edits such a file with plain line feeds."""
    assert "-a\n+b\n" in edit_diff(edit(Replacement("a\nc", "b\nc")), "f", "a\r\nc\r\n")


def test_a_written_file_is_compared_with_the_present_one() -> None:
    """A new file has no old side."""
    write = RequestedEdit(path="f", content=TEXT.replace("line 9\n", ""))
    assert edit_diff(write, "f", TEXT).count("\n-") == 1
    assert edit_diff(write, "f", None).startswith("--- /dev/null")


@pytest.mark.parametrize(
    ("exists", "comment"),
    [
        (True, "# overwrites an existing file; its old text is not known"),
        (False, "# writes the whole file; if it exists"),
    ],
)
def test_a_written_file_whose_old_text_is_not_known_never_looks_like_a_new_one(exists: bool, comment: str) -> None:
    """The diff says that old text is lost, also if the new text is empty."""
    for content in ("x\n", ""):
        found = own_diff(
            RequestedEdit(path="f", content=content), "f", NotApplicable("it is a binary file", exists=exists)
        )
        assert found.splitlines()[1].startswith(comment)
        assert found.splitlines()[2:4] == ["--- a/f", "+++ b/f"]


def test_an_edit_that_changes_no_line_says_so() -> None:
    """A change inside a secret is not visible, and the diff says that, too."""
    assert edit_diff(RequestedEdit(path="f", content="x\n"), "f", "x\n") == f"{SAME_COMMENT}\n"
    assert edit_diff(RequestedEdit(path="f", content="x\n"), "f", "x\r\n") == f"{LINE_ENDS_COMMENT}\n"
    secret = edit_diff(RequestedEdit(path="f", content="[redacted]\n"), "f", "[redacted]\n").splitlines()
    assert (secret[0], secret[1][:12]) == (HIDDEN_COMMENT, "# [redacted]")


def test_a_request_that_only_names_its_file_says_so() -> None:
    """Nothing looks like an edit without an effect."""
    assert edit_diff(RequestedEdit(path="f"), "f", "x\n") == f"{UNKNOWN_COMMENT}\n"
    assert UNKNOWN_COMMENT in own_diff(RequestedEdit(path="f"), "f", NotApplicable("gone"))


def test_own_texts_are_shown_if_the_file_is_not_readable() -> None:
    """The first line gives the reason; the replacements follow under one header."""
    found = own_diff(
        edit(Replacement("a\n", "b\n"), Replacement("c\n", "d\n")), "f", NotApplicable("permission denied")
    )
    assert found.startswith("# file not readable: permission denied; line numbers are relative\n--- a/f\n+++ b/f\n")
    assert (found.count("--- a/f"), found.count("@@ -1 +1 @@")) == (1, 2)


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        (RequestedCell(id="first", source="import os\n"), "--- a/n.ipynb (first)"),
        (RequestedCell(id="first", source="import os\n"), "-os.getcwd()\n"),
        (RequestedCell(id="cell-1", source="1 + 2"), "-1 + 1\n\\ No newline at end of file\n+1 + 2\n"),
        (RequestedCell(id="first", source=None), "+++ /dev/null"),
        (RequestedCell(id="first", source="x", is_new=True), "+++ b/n.ipynb (new cell after first)"),
    ],
)
def test_a_notebook_is_compared_by_cell(cell: RequestedCell, expected: str) -> None:
    """A cell is found by its id or its number."""
    assert expected in edit_diff(RequestedEdit(path="n.ipynb", cell=cell), "n.ipynb", NOTEBOOK)


@pytest.mark.parametrize("text", [None, "no json", NOTEBOOK])
def test_a_cell_that_is_not_there_is_refused(text: str | None) -> None:
    """Its own source is shown then."""
    request = RequestedEdit(path="n", cell=RequestedCell(id="cell-7", source="x"))
    with pytest.raises(NotApplicable):
        edit_diff(request, "n", text)
    assert "+x\n" in own_diff(request, "n", NotApplicable("gone"))


def test_redacted_secrets_are_pointed_out() -> None:
    """A change inside a secret is not visible."""
    found = edit_diff(edit(Replacement("key = [redacted]", "key = [redacted] # new")), "f", "key = [redacted]\n")
    assert found.startswith("# [redacted]: secrets are not shown")
    own = own_diff(edit(Replacement("[redacted]\n", "b\n")), "f", NotApplicable("gone"))
    assert [line[:12] for line in own.splitlines()[:2]] == ["# file not r", "# [redacted]"]


def test_a_deleted_file_is_shown_with_its_text() -> None:
    """If it can be read. Otherwise the diff says that all of it is deleted."""
    deletion = RequestedEdit(path="old.py", deleted=True)
    assert edit_diff(deletion, "old.py", "x\n") == "--- a/old.py\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n"
    own = own_diff(deletion, "old.py", NotApplicable("too long")).splitlines()
    assert own[1:] == ["--- a/old.py", "+++ /dev/null", DELETED_COMMENT]
    with pytest.raises(NotApplicable):
        edit_diff(deletion, "old.py", None)


def test_a_moved_file_is_shown_with_both_names() -> None:
    """In both kinds of diffs, also if its text stays."""
    moved = RequestedEdit(path="a", moved_to="b\n", replacements=(Replacement("1", "2"),))
    assert edit_diff(moved, "a", "1\n").startswith("rename from a\nrename to b⟦U+000A⟧\n--- a/a\n")
    assert "\nrename to c\n" in own_diff(RequestedEdit(path="a", moved_to="c"), "a", NotApplicable("too long"))


def test_the_diffs_of_several_files_name_each_file() -> None:
    """The diff of one file stays as it is."""
    assert join_diffs([("a", "one\n")]) == "one\n"
    assert join_diffs([("a", "one\n"), ("b", "two\n")]) == "diff --git a/a b/a\none\ndiff --git a/b b/b\ntwo\n"
