"""The files of a Claude OS session: what roles and modes include, and what they may not include."""

import os
from pathlib import Path

import pytest

from claude_headspace.inputs.context import claude_os
from claude_headspace.inputs.context.claude_os import ContextRoots, context_roots, list_names, read_context_files


class Files:
    """A Claude OS directory and a project."""

    def __init__(self, root: Path) -> None:
        self.root, self.project = root / "os", root / "shop"
        self.root.mkdir()
        self.project.mkdir()

    def write(self, path: str, text: str = "x", *, project: bool = False) -> Path:
        """Write a file below the root, or in the project."""
        file = (self.project if project else self.root) / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return file

    def role(self, name: str, *entries: str, folder: str = "roles", text: str | None = None) -> None:
        """Write a role that includes files."""
        included = "".join(f"  - {entry}\n" for entry in entries)
        self.write(f".claude/{folder}/{name}.md", text or f"---\nauto_include:\n{included}---\n\nYou are {name}.\n")

    def roots(self, *core: str) -> ContextRoots:
        """The directories of a session in the project."""
        return context_roots(str(self.root), core, str(self.project))

    def texts(self, role: str | None = None, mode: str | None = None, *core: str) -> dict[str, str | None]:
        """The text of every file, by name."""
        return {file.name: file.text for file in read_context_files(self.roots(*core), role, mode).files}

    def why(self, role: str | None = None, mode: str | None = None, *core: str) -> dict[str, str]:
        """Why files were left out, by name."""
        return {
            file.name: file.missing_reason
            for file in read_context_files(self.roots(*core), role, mode).files
            if file.text is None
        }


@pytest.fixture
def files(tmp_path: Path) -> Files:
    """Empty directories."""
    return Files(tmp_path)


def test_core_files_come_first_then_those_of_the_role_then_of_the_mode(files: Files) -> None:
    """Each file is read once."""
    files.write("Desktop/MEMORY.md", "memory")
    files.write("Desktop/TODAY.md", "today")
    files.write("Desktop/identity.md", "me")
    files.write("quiet.md", "hush")
    files.role("chief", "Desktop/identity.md", "Desktop/TODAY.md")
    files.role("background", "quiet.md", "Desktop/identity.md", folder="modes")
    assert list(files.texts("chief", "background").items()) == [
        ("Desktop/TODAY.md", "today"),
        ("Desktop/MEMORY.md", "memory"),
        ("Desktop/identity.md", "me"),
        ("quiet.md", "hush"),
    ]


def test_a_missing_configured_core_file_is_reported(files: Files) -> None:
    """A missing default core file is not."""
    assert files.why() == {}
    assert files.why(None, None, "NOW.md") == {"NOW.md": "not found"}


def test_a_role_may_be_a_directory(files: Files) -> None:
    """`roles/<role>/role.md` works too; both forms are listed."""
    files.write("a.md", "A")
    files.write(".claude/roles/writer/role.md", "---\nauto_include: a.md\n---\n")
    files.role("chief", "a.md")
    assert files.texts("writer") == {"a.md": "A"}
    assert list_names(files.roots()) == ["chief", "writer"]
    assert list_names(files.roots(), "mode") == []


def test_entries_may_contain_the_project_path_and_patterns(files: Files) -> None:
    """A role may include documents of the project from any depth, sorted; hidden directories are skipped."""
    for path in ("CLAUDE.md", "a/SYSTEM-SPEC.md", "a/b/c/SYSTEM-SPEC.md", ".git/SYSTEM-SPEC.md", "SYSTEM-SPEC.md"):
        files.write(path, path, project=True)
    files.role("project", "${PROJECT_PATH}/CLAUDE.md", "${PROJECT_PATH}/**/SYSTEM-SPEC.md", "${PROJECT_PATH}/*.txt")
    assert list(files.texts("project")) == [
        f"{files.project}/CLAUDE.md",
        f"{files.project}/SYSTEM-SPEC.md",
        f"{files.project}/a/SYSTEM-SPEC.md",
        f"{files.project}/a/b/c/SYSTEM-SPEC.md",
        "${PROJECT_PATH}/*.txt",
    ]
    assert files.why("project") == {"${PROJECT_PATH}/*.txt": "no file matches"}


def test_a_double_star_alone_matches_all_files(files: Files) -> None:
    """In the directory and below it."""
    files.write("docs/a/b.md", "B")
    files.write("docs/c.txt", "C")
    files.role("reader", "docs/**")
    assert files.texts("reader") == {"docs/a/b.md": "B", "docs/c.txt": "C"}


def test_links_are_not_followed(files: Files, tmp_path: Path) -> None:
    """Not as a file, not as a directory in the path, not as a match of a pattern."""
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "key.md").write_text("KEY")
    (files.root / "file.md").symlink_to(secret / "key.md")
    (files.root / "folder").symlink_to(secret)
    (files.root / "docs").mkdir()
    (files.root / "docs" / "key.md").symlink_to(secret / "key.md")
    files.role("thief", "file.md", "folder/key.md", "docs/*.md", "folder/*.md")
    assert "KEY" not in files.texts("thief").values()
    why = files.why("thief")
    assert (why["file.md"], why["docs/key.md"]) == ("is a link", "is a link")
    assert "link" in why["folder/key.md"]


@pytest.mark.parametrize(
    "entry", ["/etc/hostname", "../secret.md", "${PROJECT_PATH}/../secret.md", "~/x.md", "../*.md"]
)
def test_nothing_outside_is_read(files: Files, tmp_path: Path, entry: str) -> None:
    """Only files below the Claude OS directory and the project may be included."""
    (tmp_path / "secret.md").write_text("KEY")
    files.role("thief", entry)
    assert set(files.texts("thief").values()) == {None}
    assert set(files.why("thief").values()) <= {
        "outside the Claude OS directory and the project",
        "not found",
        "no file matches",
    }


def test_the_root_itself_may_be_a_link(files: Files, tmp_path: Path) -> None:
    """Links are refused only below it."""
    files.write("Desktop/TODAY.md", "today")
    (tmp_path / "link").symlink_to(files.root)
    roots = context_roots(str(tmp_path / "link"), (), str(files.project))
    assert [file.text for file in read_context_files(roots, None, None).files] == ["today"]


def test_the_root_directory_is_not_a_project(files: Files) -> None:
    """A client that was started in `/` has no project."""
    assert read_context_files(context_roots("", (), "/"), "chief", None).files == ()
    files.role("thief", "/etc/hostname")
    [file] = read_context_files(context_roots(str(files.root), (), "/"), "thief", None).files
    assert (file.text, file.missing_reason) == (None, "outside the Claude OS directory and the project")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("---\nauto_include:\n  - a.md\n", "nothing is included: its frontmatter has no end"),
        ("---\nauto_include: 7\n---\n", "nothing is included: auto_include is not a list"),
    ],
)
def test_a_broken_role_includes_nothing(files: Files, text: str, why: str) -> None:
    """The core files are still included, and the problem is reported."""
    files.write("Desktop/TODAY.md", "today")
    files.role("chief", text=text)
    assert files.texts("chief")["Desktop/TODAY.md"] == "today"
    assert files.why("chief") == {".claude/roles/chief.md": why}


@pytest.mark.parametrize("text", ["Just words.", "---\nname: chief\n---\n"])
def test_a_role_without_includes_is_fine(files: Files, text: str) -> None:
    """Only the core files are read."""
    files.write("Desktop/TODAY.md", "today")
    files.role("chief", text=text)
    assert files.texts("chief") == {"Desktop/TODAY.md": "today"}


def test_a_missing_role_is_reported_and_a_missing_mode_is_not(files: Files) -> None:
    """Most modes have no file. A role needs one only if there is a roles directory."""
    assert files.why("nobody", "interactive") == {}
    files.role("chief")
    assert files.why("nobody", "interactive") == {".claude/roles/nobody.md": "not found"}


def test_a_role_that_does_not_exist_is_reported_with_the_nearest_name(files: Files) -> None:
    """Requirement: a role that does not exist is reported to the user, with the nearest name."""
    files.role("chief")
    assert files.why("Cheif") == {".claude/roles/Cheif.md": "not found. Did you mean chief?"}
    found = read_context_files(files.roots(), "cheif", None)
    assert found.unknown_role == f"There is no role cheif in {files.roots().root}/.claude/roles. Did you mean chief?"
    assert read_context_files(files.roots(), "chief", None).unknown_role == ""
    assert "Did you mean" not in read_context_files(files.roots(), "zebra", None).unknown_role


@pytest.mark.parametrize("name", ["../x", "a/b", "", ".hidden", "a\0b", "x" * 200])
def test_a_role_name_is_not_a_path(files: Files, name: str) -> None:
    """It becomes part of a path, so only plain names are allowed."""
    assert list(files.why(name).values()) == ["not a valid role name"]


def test_a_role_may_include_itself(files: Files) -> None:
    """Then its text is read without the frontmatter."""
    files.role("chief", ".claude/roles/chief.md")
    assert files.texts("chief") == {".claude/roles/chief.md": "\nYou are chief.\n"}


def test_files_that_cannot_be_read_are_reported(files: Files) -> None:
    """A directory, a pipe, a file that is too large, an unknown variable."""
    files.write("folder/x")
    os.mkfifo(files.root / "pipe")
    files.write("huge.md", "x" * (claude_os.MAX_FILE_BYTES + 1))
    files.role("reader", "folder", "pipe", "huge.md", "${HOME}/x")
    assert files.why("reader") == {
        "folder": "not a regular file",
        "pipe": "not a regular file",
        "huge.md": "too large",
        "${HOME}/x": "contains an unknown variable",
    }


def test_a_pattern_visits_a_limited_number_of_entries(files: Files) -> None:
    """A huge tree takes a bounded time, and the incomplete search is reported."""
    files.write("docs/z/last.md")
    for number in range(claude_os.MAX_DIRECTORY_ENTRIES + 1):
        (files.root / "docs" / f"{number}.txt").touch()
    files.role("reader", "docs/**/*.md")
    why = files.why("reader")
    assert list(why) == ["docs/**/*.md"]
    assert "too many files to search" in why["docs/**/*.md"]


def test_the_number_of_files_is_limited(files: Files) -> None:
    """Further files are counted."""
    entries = []
    for number in range(claude_os.MAX_FILES + 5):
        files.write(f"{number}.md")
        entries.append(f"{number}.md")
    files.role("collector", *entries)
    assert files.why("collector") == {"5 more files": f"limit of {claude_os.MAX_FILES} files"}
