"""The size limits of a complete request."""

import msgspec

from claude_headspace.kernel.agent import Wait
from claude_headspace.kernel.policy.call import Use
from claude_headspace.kernel.tools import FileUse, ToolKind, ToolUse
from claude_headspace.kernel.wait.request import Option, Question
from claude_headspace.kernel.wait.request_text import MAX_DIFF, MAX_TEXT, describe_call, limited, short_path
from claude_headspace.kernel.wait.views import RequestView, wait_details_view

WAIT = Wait(id="w", agent_id="a", kind="permission", text="", tool="Tool", opened_at=1)


def test_no_value_looks_like_another_argument() -> None:
    """Further lines of a value start with a bar, and line breaks in names are marks."""
    use = ToolUse(name="mcp__x", kind=ToolKind.MCP, input={"x": "1\nforced: yes", "y\nz": ["a"]})
    request = describe_call(WAIT, use, None)
    assert request.text == 'x: 1\n  │ forced: yes\ny⟦U+000A⟧z: [\n  │   "a"\n  │ ]'
    [hidden] = wait_details_view(WAIT, request, ()).hidden_characters
    assert (hidden.at, hidden.code, hidden.name) == (-1, "U+000A", "LINE FEED")


def test_the_label_of_an_option_has_one_line() -> None:
    """A line break in it is reported."""
    wait = msgspec.structs.replace(WAIT, questions=(Question("Which?", "", (Option("A\n2. B"),)),))
    [hidden] = wait_details_view(wait, RequestView(text="Which?"), ()).hidden_characters
    assert (hidden.at, hidden.code) == (-1, "U+000A")


def test_a_path_has_one_line() -> None:
    """Its control characters are marks, and reported."""
    path = "/p/a\nforged: yes\n--- a/safe.py"
    use = ToolUse(name="Write", kind=ToolKind.WRITE, path=path, input={"file_path": path, "content": "x\ty\n"})
    request = describe_call(WAIT, use, "/p", diff="+x")
    assert request.text == "Write a⟦U+000A⟧forged: yes⟦U+000A⟧--- a/safe.py"
    assert request.path == path
    assert [each.code for each in wait_details_view(WAIT, request, ()).hidden_characters] == ["U+000A"]


def test_a_call_names_all_its_files() -> None:
    """In its text, and as it names them. Without a diff, the text has all arguments instead."""
    files = tuple(FileUse(path, Use.WRITE) for path in ("/p/a", "/q/b"))
    use = ToolUse(name="patch", kind=ToolKind.EDIT, path="/p/a", files=files, input={"command": "+1"})
    shown, plain = describe_call(WAIT, use, "/p", diff="+1"), describe_call(WAIT, use, "/p")
    assert (shown.text, shown.path, shown.paths) == ("patch a, /q/b", "/p/a, /q/b", ("/p/a", "/q/b"))
    assert (plain.text, plain.diff, plain.paths) == ("command: +1", "", shown.paths)


def test_a_short_request_stays() -> None:
    """Nothing is cut, nothing is counted."""
    request = RequestView(text="a", diff="b\n", arguments={"c": ["d", 1, None]})
    assert limited(request) is request


def test_a_long_diff_is_cut_at_the_end_of_a_line() -> None:
    """Its last line gives the number of characters that are left out."""
    diff = "+123456789\n" * 10_000
    found = limited(RequestView(text="Write a", diff=diff))
    *lines, mark = found.diff.splitlines()
    assert set(lines) == {"+123456789"}
    assert mark == f"# {found.left_out:,} characters left out"
    assert (found.complete, len(found.diff) - len(mark) - 1 + found.left_out) == (False, len(diff))
    assert len(found.diff) < MAX_DIFF + 100


def test_long_arguments_are_cut_wherever_they_are() -> None:
    """Beginning and end stay."""
    found = limited(RequestView(text="", arguments={"a": [{"b": "x" * MAX_TEXT + "yz"}]}))
    value = found.arguments["a"][0]["b"]
    assert (value[0], value[-2:], "[2 characters left out]" in value) == ("x", "yz", True)
    assert (found.complete, found.left_out) == (False, 2)


def test_what_was_cut_before_is_counted_too() -> None:
    """When the event was stored."""
    found = limited(RequestView(text="x" * (MAX_TEXT + 5), complete=False, left_out=7))
    assert found.left_out == 12


def test_paths_are_relative_to_the_working_directory() -> None:
    """Others stay."""
    assert [short_path("/a/b/c", cwd) for cwd in ("/a/b", "/a/", "/x", None)] == ["c", "b/c", "/a/b/c", "/a/b/c"]


def test_what_is_missing_in_text_and_arguments_counts_once() -> None:
    """The text of a command is one of its arguments."""
    command = "x" * (MAX_TEXT + 5)
    assert limited(RequestView(text=command, arguments={"command": command})).left_out == 5
