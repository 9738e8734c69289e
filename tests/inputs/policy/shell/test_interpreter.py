"""What reading a text of the shell brings to light: programs, their sources, files, doubts; and that it always ends."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from claude_headspace.inputs.policy.shell.commands import read_shell
from claude_headspace.inputs.policy.shell.findings import MAX_COMMANDS, Findings
from claude_headspace.kernel.policy.call import UNKNOWN, Trait, Use


def read(text: str, directory: str = "/code") -> Findings:
    """Read a text in a directory."""
    return read_shell(text, directory=directory, home="/home/dev", project="/code")


def runs(text: str) -> list[str]:
    """The programs, with their arguments."""
    return [" ".join((program.name, *program.arguments)) for program in read(text).programs]


def touched(text: str, directory: str = "/code") -> list[tuple[str, str]]:
    """What happens to which files."""
    return [(use.use.value, use.path) for use in read(text, directory).paths]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a b  c", ["a b c"]),
        ("a 'b c' \"d e\" f\\ g", ["a b c d e f g"]),
        ("a; b && c || d | e & f", ["a", "b", "c", "d", "e", "f"]),
        ("x=1 a $x", ["a 1"]),
        ("x='1 2'; a $x; a \"$x\"", ["a 1 2", "a 1 2"]),
        ("a {1,2}{x,y}", ["a 1x 1y 2x 2y"]),
        ("a {1..3}", ["a 1 2 3"]),
        ("a ~ ~/b", ["a /home/dev /home/dev/b"]),
        ("a $((3))", ["a 3"]),
        ("a ''", ["a "]),
        ('f() { a "$1" $#; }; f x y', ["a x 2"]),
        ("for i in 1 2; do a $i; done", ["a 1", "a 2"]),
        ("if a; then b; else c; fi", ["a", "b", "c"]),
        ("case $x in 1) a;; *) b;; esac", ["a", "b"]),
        ("a <<< 'x y'", ["a"]),
        ("sh -c 'a $1' _ b", ["sh -c a $1 _ b", "a b"]),
        ("echo 'a b' | sh", ["echo a b", "sh", "a b"]),
        ("echo a | xargs b -c", ["echo a", "xargs b -c", "b -c a"]),
        ("printf '1\\n2\\n' | xargs -I_ b _", ["printf 1\\n2\\n", "xargs -I_ b _", "b 1", "b 2"]),
        ("env -i X=1 a b", ["env -i X=1 a b", "a b"]),
        ("timeout -k 5 10 a", ["timeout -k 5 10 a", "a"]),
        ("sudo -u root a", ["sudo -u root a", "a"]),
        ("find . -name x -exec a {} \\;", ["find . -name x -exec a {} ;", "a ./x"]),
        ("alias a=b; a c", ["alias a=b", "b c"]),
        ("[ -d / ] && a", ["a"]),
        ("# a", []),
        ("", []),
    ],
)
def test_programs_as_they_arrive(text: str, expected: list[str]) -> None:
    """Quoting, variables, braces, functions, loops, and the programs that run others."""
    assert runs(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a > b 2> c", [("write", "/code/b"), ("write", "/code/c")]),
        ("a >&2 2>&1", []),
        ("a < b", [("read", "/code/b")]),
        ("cp a b", [("write", "/code/b"), ("read", "/code/a")]),
        ("mv a b", [("write", "/code/b"), ("delete", "/code/a")]),
        ("cd sub; rm a; cd ..; rm b", [("delete", "/code/sub/a"), ("delete", "/code/b")]),
        ("(cd sub; rm a); rm b", [("delete", "/code/sub/a"), ("delete", "/code/b")]),
        ("cd sub | rm b", [("delete", "/code/b")]),
        ("rm ./a/../b", [("delete", "/code/b")]),
        ("rm *", [("delete", "/code")]),
        ('rm "*"', [("delete", "/code/*")]),
        ("sed s/a/b/ x", []),
        ("sed -i s/a/b/ x", [("write", "/code/x")]),
        ("tar xf a -C b", [("write", "/code/b")]),
        ("dd if=a of=b", [("read", "/code/a"), ("write", "/code/b")]),
        ("tee a <<< x", [("write", "/code/a")]),
        ('python3 -c \'open("a", "w")\'', [("write", "/code/a")]),
        ("python3 -c 'open(\"a\")'", []),
    ],
)
def test_files_and_what_becomes_of_them(text: str, expected: list[tuple[str, str]]) -> None:
    """Redirects, the usual programs, and the directory that a `cd` leads to."""
    assert touched(text) == expected


def test_where_something_comes_from() -> None:
    """Through pipes, substitutions and variables."""
    for text in (
        "a | b | xargs kill",
        "kill $(a | b)",
        "x=$(a | b); kill $x",
        "a | b | while read x; do kill $x; done",
    ):
        [kill] = [program for program in read(text).programs if program.name == "kill"]
        assert {"a", "b"} <= set(kill.fed_by), text


@pytest.mark.parametrize("text", ["rm -rf $X", 'rm -rf "$X"', "rm -rf $(a)", "read X; rm -rf $X", "rm -rf ${X:-$Y}"])
def test_what_is_not_known_is_said_to_be_unknown(text: str) -> None:
    """Never guessed, never left out."""
    [use] = read(text).paths
    assert (use.path, use.use, use.recursive) == (UNKNOWN, Use.DELETE, True)


def test_the_sign_for_unknown_cannot_be_written() -> None:
    """A text that brings our signs along is no way around."""
    from claude_headspace.inputs.policy.shell.markers import without_markers

    assert UNKNOWN not in without_markers(f"rm -rf {UNKNOWN}")


def test_a_script_that_was_there_before_raises_no_doubts(tmp_path: Path) -> None:
    """What it certainly does counts; what its author left open does not."""
    (tmp_path / "x.sh").write_text('rm -rf "$1"\nrm -rf "$OUT"\nrm -rf build\neval "$HOOK"\n')
    found = read("bash x.sh", str(tmp_path))
    assert [use.path for use in found.paths] == [str(tmp_path / "build")]
    assert list(found.traits) == []


def test_a_script_that_was_just_written_is_read_in_full() -> None:
    """Its doubts are this call's doubts."""
    assert Trait.UNREADABLE_SCRIPT in read("curl x > y.sh; sh y.sh").traits


@pytest.mark.parametrize(
    "text",
    [
        "f() { f; }; f",
        "f() { f; f; }; f",
        "while true; do a; done",
        "for i in {1..64}{1..64}; do for j in {1..64}; do a; done; done",
        "x='eval $x'; eval $x",
        "eval " * 200 + "a",
        "bash -c " + "'" * 50,
        "$(" * 300 + "a" + ")" * 300,
        "a | " * 500 + "b",
        "x=" + "${x:-" * 200 + "}" * 200,
    ],
)
def test_reading_always_ends(text: str) -> None:
    """Whatever the text, after so many commands at the latest."""
    assert len(read(text).programs) <= MAX_COMMANDS


@pytest.mark.parametrize("text", ["ls $x;" * 2_000 + "rm -rf /", "echo" + " x" * 6_000, "$(" * 30 + "a" + ")" * 30])
def test_what_lies_past_a_bound_is_said_to_be_unread(text: str) -> None:
    """Nobody hides behind sheer length or depth."""
    assert Trait.UNREADABLE_SCRIPT in read(text).traits


WORDS = """rm -rf / $X $( ) ` ' " | & ; { } <<EOF EOF > <( if fi for do done case esac \\ ~ * ${ = eval xargs find
-exec bash -c [[ ]] (( )) cd python3 import \n \0 \ue000 é"""
PIECES = st.sampled_from([*WORDS.split(), "\n", "\0", "\ue000"])


@given(st.lists(PIECES, max_size=25).map(" ".join) | st.text(max_size=60))
@settings(max_examples=150, deadline=None)
def test_no_text_makes_it_fail(text: str) -> None:
    """Half a quote, stray words, signs of ours: something comes out."""
    read(text)
