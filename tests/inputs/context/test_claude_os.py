"""The files of a session: found as roles and modes say, and never more than they may say."""

import os
from pathlib import Path

import pytest

from claude_headspace.inputs.context import claude_os as briefing
from claude_headspace.inputs.context.claude_os import ContextRoots, context_roots, list_names, read_context_files


class Desk:
    """The directory of a Claude OS, and a project beside it."""

    def __init__(self, root: Path) -> None:
        self.root, self.project = root / "os", root / "shop"
        self.root.mkdir()
        self.project.mkdir()

    def write(self, path: str, text: str = "x", *, project: bool = False) -> Path:
        """A file below the root, or in the project."""
        file = (self.project if project else self.root) / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return file

    def role(self, name: str, *entries: str, folder: str = "roles", text: str | None = None) -> None:
        """A role that includes files."""
        listed = "".join(f"  - {entry}\n" for entry in entries)
        self.write(f".claude/{folder}/{name}.md", text or f"---\nauto_include:\n{listed}---\n\nYou are {name}.\n")

    def house(self, *core: str) -> ContextRoots:
        """Where a session in the project looks."""
        return context_roots(str(self.root), core, str(self.project))

    def found(self, role: str | None = None, mode: str | None = None, *core: str) -> dict[str, str | None]:
        """Every file with its text."""
        return {piece.name: piece.text for piece in read_context_files(self.house(*core), role, mode).files}

    def why(self, role: str | None = None, mode: str | None = None, *core: str) -> dict[str, str]:
        """What was left out, and why."""
        return {
            piece.name: piece.missing_reason
            for piece in read_context_files(self.house(*core), role, mode).files
            if piece.text is None
        }


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """An empty one."""
    return Desk(tmp_path)


def test_core_files_then_the_roles_then_the_modes(desk: Desk) -> None:
    """In this order, each file once."""
    desk.write("Desktop/MEMORY.md", "memory")
    desk.write("Desktop/TODAY.md", "today")
    desk.write("Desktop/identity.md", "me")
    desk.write("quiet.md", "hush")
    desk.role("chief", "Desktop/identity.md", "Desktop/TODAY.md")
    desk.role("background", "quiet.md", "Desktop/identity.md", folder="modes")
    assert list(desk.found("chief", "background").items()) == [
        ("Desktop/TODAY.md", "today"),
        ("Desktop/MEMORY.md", "memory"),
        ("Desktop/identity.md", "me"),
        ("quiet.md", "hush"),
    ]


def test_core_files_that_somebody_named_are_missed(desk: Desk) -> None:
    """The usual ones are there or not; those that the configuration names should be."""
    assert desk.why() == {}
    assert desk.why(None, None, "NOW.md") == {"NOW.md": "is not there"}


def test_a_role_may_be_a_directory(desk: Desk) -> None:
    """`roles/<role>/role.md` is as good; both kinds are listed."""
    desk.write("a.md", "A")
    desk.write(".claude/roles/writer/role.md", "---\nauto_include: a.md\n---\n")
    desk.role("chief", "a.md")
    assert desk.found("writer") == {"a.md": "A"}
    assert list_names(desk.house()) == ["chief", "writer"]
    assert list_names(desk.house(), "mode") == []


def test_the_project_path_is_filled_in_and_stars_are_looked_up(desk: Desk) -> None:
    """A role may bring in the project's own documents, from any depth, sorted; hidden directories are left alone."""
    for path in ("CLAUDE.md", "a/SYSTEM-SPEC.md", "a/b/c/SYSTEM-SPEC.md", ".git/SYSTEM-SPEC.md", "SYSTEM-SPEC.md"):
        desk.write(path, path, project=True)
    desk.role("project", "${PROJECT_PATH}/CLAUDE.md", "${PROJECT_PATH}/**/SYSTEM-SPEC.md", "${PROJECT_PATH}/*.txt")
    assert list(desk.found("project")) == [
        f"{desk.project}/CLAUDE.md",
        f"{desk.project}/SYSTEM-SPEC.md",
        f"{desk.project}/a/SYSTEM-SPEC.md",
        f"{desk.project}/a/b/c/SYSTEM-SPEC.md",
        "${PROJECT_PATH}/*.txt",
    ]
    assert desk.why("project") == {"${PROJECT_PATH}/*.txt": "nothing fits"}


def test_everything_below_a_directory(desk: Desk) -> None:
    """`**` alone means all files."""
    desk.write("docs/a/b.md", "B")
    desk.write("docs/c.txt", "C")
    desk.role("reader", "docs/**")
    assert desk.found("reader") == {"docs/a/b.md": "B", "docs/c.txt": "C"}


def test_links_are_not_followed(desk: Desk, tmp_path: Path) -> None:
    """Neither a file that is one, nor a directory on the way, nor what a pattern finds."""
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "key.md").write_text("KEY")
    (desk.root / "file.md").symlink_to(secret / "key.md")
    (desk.root / "folder").symlink_to(secret)
    (desk.root / "docs").mkdir()
    (desk.root / "docs" / "key.md").symlink_to(secret / "key.md")
    desk.role("thief", "file.md", "folder/key.md", "docs/*.md", "folder/*.md")
    assert "KEY" not in desk.found("thief").values()
    why = desk.why("thief")
    assert (why["file.md"], why["docs/key.md"]) == ("is a link", "is a link")
    assert "link" in why["folder/key.md"]


@pytest.mark.parametrize(
    "entry", ["/etc/hostname", "../secret.md", "${PROJECT_PATH}/../secret.md", "~/x.md", "../*.md"]
)
def test_nothing_outside_is_read(desk: Desk, tmp_path: Path, entry: str) -> None:
    """Only the root and the project are the session's."""
    (tmp_path / "secret.md").write_text("KEY")
    desk.role("thief", entry)
    assert set(desk.found("thief").values()) == {None}
    assert set(desk.why("thief").values()) <= {
        "lies outside of the root and the project",
        "is not there",
        "nothing fits",
    }


def test_the_root_itself_may_be_a_link(desk: Desk, tmp_path: Path) -> None:
    """Somebody's `~/os` often is."""
    desk.write("Desktop/TODAY.md", "today")
    (tmp_path / "link").symlink_to(desk.root)
    house = context_roots(str(tmp_path / "link"), (), str(desk.project))
    assert [piece.text for piece in read_context_files(house, None, None).files] == ["today"]


def test_the_whole_machine_is_no_project(desk: Desk) -> None:
    """A client that was started in `/` has none."""
    assert read_context_files(context_roots("", (), "/"), "chief", None).files == ()
    desk.role("thief", "/etc/hostname")
    [piece] = read_context_files(context_roots(str(desk.root), (), "/"), "thief", None).files
    assert (piece.text, piece.missing_reason) == (None, "lies outside of the root and the project")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("---\nauto_include:\n  - a.md\n", "nothing is included, its frontmatter has no end"),
        ("---\nauto_include: 7\n---\n", "nothing is included, auto_include is no list"),
    ],
)
def test_a_broken_role_loses_only_its_own(desk: Desk, text: str, why: str) -> None:
    """The core files are there, and what is wrong is said."""
    desk.write("Desktop/TODAY.md", "today")
    desk.role("chief", text=text)
    assert desk.found("chief")["Desktop/TODAY.md"] == "today"
    assert desk.why("chief") == {".claude/roles/chief.md": why}


@pytest.mark.parametrize("text", ["Just words.", "---\nname: chief\n---\n"])
def test_a_role_without_includes_is_fine(desk: Desk, text: str) -> None:
    """Just the core files."""
    desk.write("Desktop/TODAY.md", "today")
    desk.role("chief", text=text)
    assert desk.found("chief") == {"Desktop/TODAY.md": "today"}


def test_a_missing_role_is_named_and_a_missing_mode_is_not(desk: Desk) -> None:
    """Every session has a mode, and hardly any a file; a role is only a word where there are no roles."""
    assert desk.why("nobody", "interactive") == {}
    desk.role("somebody")
    assert desk.why("nobody", "interactive") == {".claude/roles/nobody.md": "is not there"}


@pytest.mark.parametrize("name", ["../x", "a/b", "", ".hidden", "a\0b", "x" * 200])
def test_a_role_is_a_plain_name(desk: Desk, name: str) -> None:
    """It becomes part of a path."""
    assert list(desk.why(name).values()) == ["no role can be called so"]


def test_a_role_may_include_itself(desk: Desk) -> None:
    """Then the model gets its words, without the frontmatter."""
    desk.role("chief", ".claude/roles/chief.md")
    assert desk.found("chief") == {".claude/roles/chief.md": "\nYou are chief.\n"}


def test_what_is_no_plain_file_is_named(desk: Desk) -> None:
    """A directory, a pipe that would never end, a file that is too large or may not be read, an unknown variable."""
    desk.write("folder/x")
    os.mkfifo(desk.root / "pipe")
    desk.write("huge.md", "x" * (briefing.MAX_FILE_BYTES + 1))
    desk.role("odd", "folder", "pipe", "huge.md", "${HOME}/x")
    assert desk.why("odd") == {
        "folder": "is no file",
        "pipe": "is no file",
        "huge.md": "is too large",
        "${HOME}/x": "names something that is not known",
    }


def test_a_pattern_looks_only_so_far(desk: Desk) -> None:
    """A huge tree costs a bounded time, and that not all was seen is said."""
    desk.write("docs/z/last.md")
    for number in range(briefing.MAX_DIRECTORY_ENTRIES + 1):
        (desk.root / "docs" / f"{number}.txt").touch()
    desk.role("reader", "docs/**/*.md")
    why = desk.why("reader")
    assert list(why) == ["docs/**/*.md"]
    assert "too much to look through" in why["docs/**/*.md"]


def test_so_many_files_and_no_more(desk: Desk) -> None:
    """What is beyond is counted."""
    entries = []
    for number in range(briefing.MAX_FILES + 5):
        desk.write(f"{number}.md")
        entries.append(f"{number}.md")
    desk.role("hoarder", *entries)
    assert desk.why("hoarder") == {"5 more files": f"more than {briefing.MAX_FILES}"}
