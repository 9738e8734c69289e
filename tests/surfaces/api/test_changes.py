"""Changes from tool calls and from the repository, on this machine and on another."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from claude_headspace.engine.changes import ChangePublisher
from claude_headspace.engine.remote_actions import Handler, RemoteActions
from claude_headspace.engine.writer import EventWriter
from claude_headspace.inputs.redaction.rules import build_redactor
from claude_headspace.kernel.agent import Agent
from claude_headspace.kernel.changes.views import ChangesView
from claude_headspace.kernel.envelope import SECOND, Envelope, Observations
from claude_headspace.ports import StreamMessage
from claude_headspace.surfaces.api.changes import ACTION, Changes, RepositoryReader
from claude_headspace.surfaces.read.model import ReadModel
from claude_headspace.testing import ManualClock, hook
from tests.inputs.repository.repositories import Repository
from tests.journals import TemporaryJournal


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    """The repository that the agent works in."""
    return Repository(tmp_path / "project")


class Machine:
    """A daemon on a shared journal, as far as changes need it."""

    def __init__(self, journal: TemporaryJournal, engine: EventWriter, host: str, *, is_old: bool = False) -> None:
        clock, self._journal = ManualClock(), journal
        handlers: dict[str, Handler] = {} if is_old else {ACTION: RepositoryReader(build_redactor().text).read}
        self.actions = RemoteActions(journal, engine, clock, host, handlers)
        self.changes = Changes(ReadModel(journal, clock, host), self.actions, host)

    async def view(self, command: str | None = None) -> ChangesView:
        """The changes of the only agent."""
        return await self.changes.view(self._journal.agents()[0].id, command, frozenset())


def history(repository: Repository) -> list[Envelope]:
    """An agent that starts at second 2000, and edits `kept.txt` in its first command at second 2010."""
    edit = {"oldStart": 1, "oldLines": 3, "newStart": 1, "newLines": 3, "lines": [" a", "-b", "+B", " c"]}
    start = Observations(project_root=str(repository.root), commit=repository.first)
    return [
        hook("SessionStart", 2000 * SECOND, observations=start, source="startup", cwd=str(repository.root)),
        hook("UserPromptSubmit", 2005 * SECOND, prompt="Edit"),
        hook(
            "PostToolUse",
            2010 * SECOND,
            tool_name="Edit",
            tool_input={"file_path": f"{repository.root}/kept.txt", "old_string": "b", "new_string": "B"},
            tool_response={"originalFile": "a\nb\nc\n", "structuredPatch": [edit]},
        ),
        hook("Stop", 2020 * SECOND, last_assistant_message="Done."),
        hook("UserPromptSubmit", 2100 * SECOND, prompt="Run it"),
    ]


def play(repository: Repository, story: Callable[[Machine, Machine], Awaitable[None]], *, is_old: bool = False) -> None:
    """Run a story with the agent's machine and another machine."""

    async def main() -> None:
        journal, published = TemporaryJournal(), [0]
        journal.is_shared = True
        changes = ChangePublisher()
        engine = EventWriter(journal, changes, "laptop", ManualClock())
        laptop, page = Machine(journal, engine, "laptop", is_old=is_old), Machine(journal, engine, "page")

        def follow(_agent: Agent) -> None:
            messages: list[StreamMessage] = journal.stream(published[0], 1_000)
            published[0] = messages[-1].seq if messages else published[0]
            for machine in (laptop, page):
                machine.actions.receive(messages)

        changes.on_agent(follow)
        engine.start()
        for envelope in history(repository):
            await engine.submit(envelope)
        await story(laptop, page)
        await engine.stop()
        assert list(journal.verify()) == []

    asyncio.run(main())


def shell_changes(repository: Repository) -> None:
    """What the agent did: its edit, a commit of it, and a file that a shell command wrote in the second command."""
    repository.write("kept.txt", "a\nB\nc\n", at=2010)
    repository.commit("Edit kept.txt", at=2015)
    repository.write("built.txt", "x\n", at=2110)


def test_tool_calls_and_repository(repository: Repository) -> None:
    """The edit is shown by its tool call, the output of the shell by git, with the commit."""
    shell_changes(repository)

    async def story(laptop: Machine, _page: Machine) -> None:
        found = await laptop.view()
        assert [(file.path, file.source, len(file.command_ids)) for file in found.files] == [
            ("kept.txt", "tool", 1),
            ("built.txt", "git", 0),
        ]
        assert [commit.subject for commit in found.commits] == ["Edit kept.txt"]
        assert (found.since_commit, found.head_commit) == (repository.first, repository.git("rev-parse", "HEAD"))
        assert (found.added, found.removed, found.complete, found.git_problem) == (2, 1, True, None)

    play(repository, story)


def test_each_command_has_its_own(repository: Repository) -> None:
    """Commits by their time, other files by the time of their last modification."""
    shell_changes(repository)

    async def story(laptop: Machine, _page: Machine) -> None:
        first, second = await laptop.view("1"), await laptop.view("2")
        assert [file.path for file in first.files] == ["kept.txt"]
        assert [commit.subject for commit in first.commits] == ["Edit kept.txt"]
        assert ([file.path for file in second.files], second.commits) == (["built.txt"], [])

    play(repository, story)


def test_a_file_that_the_shell_changed_after_its_edit(repository: Repository) -> None:
    """The command has all changes of the file, by git. A later change of the file does not belong to it."""
    repository.write("kept.txt", "a\nB\nC\n", at=2015)

    async def story(laptop: Machine, _page: Machine) -> None:
        [file] = (await laptop.view("1")).files
        assert (file.source, file.added, file.removed, len(file.command_ids)) == ("git", 2, 2, 1)
        repository.write("kept.txt", "a\nB\nD\n", at=2110)
        [file] = (await laptop.view("1")).files
        assert (file.source, file.added, file.removed) == ("tool", 1, 1)

    play(repository, story)


def test_another_machine_asks_the_machine_of_the_agent(repository: Repository) -> None:
    """Both give the same answer."""
    shell_changes(repository)

    async def story(laptop: Machine, page: Machine) -> None:
        assert await page.view() == await laptop.view()

    play(repository, story)


def test_a_machine_that_cannot_read_the_repository(repository: Repository) -> None:
    """The tool calls are shown, with the reason and the recorded commit."""

    async def story(_laptop: Machine, page: Machine) -> None:
        found = await page.view()
        assert [file.path for file in found.files] == ["kept.txt"]
        assert found.since_commit == repository.first
        assert found.git_problem is not None
        assert "does not support" in found.git_problem

    play(repository, story, is_old=True)
