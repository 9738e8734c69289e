"""What the real Claude Code reports about its edits, and what git adds, also after its end."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.inputs.repository.repositories import Repository
from tests.real_client.client import Home
from tests.real_client.headless import HeadlessRunner, installed_home
from tests.real_client.installation import Installation
from tests.real_client.model import bash, reply, text, tool
from tests.real_client.program import VERSIONS

NOTEBOOK = {
    "cells": [
        {"id": "one", "cell_type": "code", "source": "x = 1", "metadata": {}, "outputs": [], "execution_count": 1}
    ],
    "metadata": {"language_info": {"name": "python"}},
    "nbformat": 4,
    "nbformat_minor": 5,
}


class Editor(HeadlessRunner):
    """Runs clients that may edit without asking."""

    options = ("--permission-mode", "acceptEdits", "--allowedTools", "Bash,Edit,Write,NotebookEdit,Read")

    def __init__(self, installation: Installation, home: Home) -> None:
        super().__init__(installation, home)
        self.repository = Repository(home.project)
        self.repository.write("book.ipynb", json.dumps(NOTEBOOK, indent=1), at=1001)
        self.start = self.repository.commit("Add a notebook", at=1001)

    def changes(self, command: str) -> dict[str, Any]:
        """The changes of a command of the only agent."""
        daemon = self.installation.daemon
        [agent] = daemon.agents()
        found: dict[str, Any] = daemon.get(f"/api/agents/{agent['id']}/changes?command={command}").json()
        return found


@pytest.fixture(params=VERSIONS)
def editor(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Editor]:
    """An editor for each client version."""
    with installed_home(request.param, tmp_path) as (installation, home):
        yield Editor(installation, home)


def test_edits_of_the_real_client(editor: Editor) -> None:
    """Edit, Write and NotebookEdit are exact; what Bash wrote and committed comes from git."""
    project = editor.repository.root
    steps = [
        reply(*(tool("Read", file_path=f"{project}/{name}") for name in ("kept.txt", "book.ipynb"))),
        reply(tool("Edit", file_path=f"{project}/kept.txt", old_string="b\n", new_string="B\nBB\n")),
        reply(tool("Write", file_path=f"{project}/new.txt", content="hello\n")),
        reply(tool("NotebookEdit", notebook_path=f"{project}/book.ipynb", cell_id="one", new_source="x = 2")),
        reply(tool("Write", file_path=f"{project}/nums.txt", content="1\n2\n3\n")),
        reply(bash("sed -i s/3/three/ nums.txt")),
        reply(bash("git -c user.name=Dev -c user.email=d@example.org commit -qam 'By the agent'; echo x > built.txt")),
        reply(text("Done.")),
    ]
    editor.run("Edit them", {"Edit them": steps})
    found = editor.changes("1")
    files = {file["path"]: file for file in found["files"]}
    assert found["git_problem"] is None
    assert {path: (file["source"], file["status"], file["added"], file["removed"]) for path, file in files.items()} == {
        "kept.txt": ("tool", "modified", 2, 1),
        "new.txt": ("tool", "added", 1, 0),
        "book.ipynb": ("tool", "modified", 1, 1),
        "nums.txt": ("git", "added", 3, 0),
        "built.txt": ("git", "added", 1, 0),
    }
    assert files["kept.txt"]["diff"].endswith("@@ -1,3 +1,4 @@\n a\n-b\n+B\n+BB\n c\n")
    assert files["nums.txt"]["diff"].endswith("+1\n+2\n+three\n")
    assert "@@ cell one\n-x = 1\n" in files["book.ipynb"]["diff"]
    assert (found["since_commit"], [commit["subject"] for commit in found["commits"]]) == (
        editor.start,
        ["By the agent"],
    )
