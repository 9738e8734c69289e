"""The shell analysis finds programs, their sources, files and traits, and always terminates."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from claude_headspace.inputs.policy.shell.budget import FULL
from claude_headspace.inputs.policy.shell.commands import analyse_shell
from claude_headspace.inputs.policy.shell.findings import Findings
from claude_headspace.inputs.policy.shell.interpreter import COMMAND_STEPS
from claude_headspace.inputs.policy.shell.markers import without_markers
from claude_headspace.kernel.policy.call import UNKNOWN, Trait, Use


def analyse(text: str, directory: str = "/code") -> Findings:
    """Analyse a text in a directory."""
    return analyse_shell(text, directory=directory, home="/home/dev", project="/code")


def command_lines(text: str) -> list[str]:
    """Return the programs with their arguments."""
    return [" ".join((program.name, *program.arguments)) for program in analyse(text).programs]


def file_uses(text: str, directory: str = "/code") -> list[tuple[str, str]]:
    """Return the used files and their uses."""
    return [(use.use.value, use.path) for use in analyse(text, directory).paths]


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
def test_programs_and_arguments(text: str, expected: list[str]) -> None:
    """Quotes, variables, braces, functions and loops are expanded; wrapped programs are found."""
    assert command_lines(text) == expected


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
        ("sed s/a/b/ x", [("read", "/code/x")]),
        ("sed -i s/a/b/ x", [("write", "/code/x")]),
        ("tar xf a -C b", [("write", "/code/b")]),
        ("dd if=a of=b", [("read", "/code/a"), ("write", "/code/b")]),
        ("tee a <<< x", [("write", "/code/a")]),
        ('python3 -c \'open("a", "w")\'', [("write", "/code/a")]),
        ("python3 -c 'open(\"a\")'", [("read", "/code/a")]),
    ],
)
def test_file_uses(text: str, expected: list[tuple[str, str]]) -> None:
    """Redirects and common programs use files, relative to the directory after `cd`."""
    assert file_uses(text) == expected


def test_sources_are_tracked() -> None:
    """Pipes, substitutions and variables pass on the programs that a text comes from."""
    for text in (
        "a | b | xargs kill",
        "kill $(a | b)",
        "x=$(a | b); kill $x",
        "a | b | while read x; do kill $x; done",
    ):
        [kill] = [program for program in analyse(text).programs if program.name == "kill"]
        assert {"a", "b"} <= set(kill.fed_by), text


@pytest.mark.parametrize("text", ["rm -rf $X", 'rm -rf "$X"', "rm -rf $(a)", "read X; rm -rf $X", "rm -rf ${X:-$Y}"])
def test_undetermined_values_are_unknown(text: str) -> None:
    """They are neither guessed nor dropped."""
    [use] = analyse(text).paths
    assert (use.path, use.use, use.recursive) == (UNKNOWN, Use.DELETE, True)


def test_markers_in_the_input_are_removed() -> None:
    """An input cannot contain the marker for unknown values."""
    assert UNKNOWN not in without_markers(f"rm -rf {UNKNOWN}")


def test_existing_script_counts_only_certain_findings(tmp_path: Path) -> None:
    """Its unknown paths and unreadable texts are ignored."""
    (tmp_path / "x.sh").write_text('rm -rf "$1"\nrm -rf "$OUT"\nrm -rf build\neval "$HOOK"\n')
    found = analyse("bash x.sh", str(tmp_path))
    assert [use.path for use in found.paths] == [str(tmp_path / "build")]
    assert list(found.traits) == []


def test_script_written_by_the_same_call_counts_fully() -> None:
    """Its unreadable text makes the call unreadable."""
    assert Trait.UNREADABLE_SCRIPT in analyse("curl x > y.sh; sh y.sh").traits


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
def test_analysis_terminates(text: str) -> None:
    """The number of analysed commands is limited."""
    assert len(analyse(text).programs) <= FULL.steps // COMMAND_STEPS


@pytest.mark.parametrize("text", ["ls $x;" * 2_000 + "rm -rf /", "echo" + " x" * 6_000, "$(" * 30 + "a" + ")" * 30])
def test_exceeded_limit_is_a_trait(text: str) -> None:
    """A long or deeply nested text is not ignored: it gets a trait that the built-in rules ask about."""
    assert {Trait.TOO_COMPLEX, Trait.UNREADABLE_SCRIPT} & set(analyse(text).traits)


WORDS = """rm -rf / $X $( ) ` ' " | & ; { } <<EOF EOF > <( if fi for do done case esac \\ ~ * ${ = eval xargs find
-exec bash -c [[ ]] (( )) cd python3 import \n \0 \ue000 é"""
PIECES = st.sampled_from([*WORDS.split(), "\n", "\0", "\ue000"])


@given(st.lists(PIECES, max_size=25).map(" ".join) | st.text(max_size=60))
@settings(max_examples=150, deadline=None)
def test_any_text_can_be_analysed(text: str) -> None:
    """Unbalanced quotes, stray keywords and markers raise no exception."""
    analyse(text)


# --- results that files can change ------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["git status", "echo x | grep y", "cd /tmp && ls", "x=1; echo $x"])
def test_result_without_files_can_be_repeated(text: str) -> None:
    """The text alone determines it."""
    assert not analyse(text).depends_on_files


@pytest.mark.parametrize(
    "text",
    [
        "./script",
        "sh script",
        ". ./script",
        "sh < script",
        "cat script | sh",
        'eval "$(cat script)"',
        "bash -c ./script",
        "(cd . && ./script)",
        "./scr?pt",
    ],
)
def test_changed_script_is_read_again(tmp_path: Path, text: str) -> None:
    """The programs of a script are those that it contains now."""
    script = tmp_path / "script"
    script.write_text("first\n")
    script.chmod(0o755)
    first = analyse(text, str(tmp_path))
    assert first.depends_on_files
    assert "first" in {program.name for program in first.programs}
    script.write_text("second\n")
    assert "second" in {program.name for program in analyse(text, str(tmp_path)).programs}


@pytest.mark.parametrize("text", ["rm -rf link/", "cat link/x", "echo x > link/x", "rm link/*x", "cp a link/x"])
def test_changed_link_is_followed_again(tmp_path: Path, text: str) -> None:
    """A link is followed to where it points now."""
    link = tmp_path / "link"
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "x").touch()
        link.unlink(missing_ok=True)
        link.symlink_to(tmp_path / name)
        found = analyse(text, str(tmp_path)).paths
        assert any(use.real.startswith(str(tmp_path / name)) for use in found), found


def test_new_program_of_a_glob_is_found(tmp_path: Path) -> None:
    """A name with a glob is the program that matches now."""
    text, names = f"{tmp_path}/tool[12]", []
    for name in ("tool2", "tool1"):
        (tmp_path / name).touch()
        names += [analyse(text).programs[0].name]
    assert names == ["tool2", "tool1"]


def test_new_directory_is_noticed(tmp_path: Path) -> None:
    """A copy into a directory writes below it, once it is one."""
    assert not any(path.endswith("target/a") for _, path in file_uses("cp a target", str(tmp_path)))
    (tmp_path / "target").mkdir()
    assert any(path.endswith("target/a") for _, path in file_uses("cp a target", str(tmp_path)))
