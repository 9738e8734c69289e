"""Changes from the tool calls in the log: by agent and by command."""

from typing import Any

import msgspec
import pytest

from claude_headspace.errors import BadRequest
from claude_headspace.kernel.envelope import SECOND, Envelope
from claude_headspace.surfaces.read import changes
from claude_headspace.surfaces.read.changes import ChangeQueries, ToolChanges
from claude_headspace.testing import START, hook
from tests.journals import TemporaryJournal, store


def prompt(number: int) -> Envelope:
    """A prompt, at a minute of its own."""
    return hook("UserPromptSubmit", minute(number), prompt=f"do {number}", prompt_id=f"p{number}")


def minute(number: float) -> int:
    """The start of a minute."""
    return START + round(number * 60 * SECOND)


def write(at: float, path: str, **more: Any) -> Envelope:
    """A new file with one line."""
    return hook(
        "PostToolUse",
        minute(at),
        tool_name="Write",
        tool_input={"file_path": path, "content": "hi\n"},
        tool_response={"type": "create", "content": "hi\n", "structuredPatch": [], "originalFile": None},
        **more,
    )


def stop(at: float) -> Envelope:
    """The end of a turn."""
    return hook("Stop", minute(at), last_assistant_message="Done.")


def journal_with(*envelopes: Envelope) -> TemporaryJournal:
    """A journal with one agent."""
    journal = TemporaryJournal()
    store(journal, hook("SessionStart", START, source="startup", cwd="/p"), *envelopes)
    return journal


IN_SUBAGENT: dict[str, Any] = {"agent_id": "helper", "agent_type": "general-purpose"}

TWO_COMMANDS = (
    prompt(1),
    write(1.2, "/p/a"),
    hook("SubagentStart", minute(1.3), **IN_SUBAGENT),
    stop(1.5),
    write(1.7, "/p/b", **IN_SUBAGENT),
    prompt(2),
    write(2.2, "/p/c"),
    stop(2.5),
)


def by_tools(journal: TemporaryJournal, command: str | None = None) -> ToolChanges:
    """The changes of the only agent."""
    queries, [agent] = ChangeQueries(journal), journal.agents(ended_after=0)
    return queries.by_tools(queries.scope(agent, command))


def paths(journal: TemporaryJournal, command: str | None = None) -> list[str]:
    """The changed files."""
    return [file.path for file in by_tools(journal, command).files]


def test_an_agent_has_the_changes_of_all_commands() -> None:
    """Each file names its command."""
    journal = journal_with(*TWO_COMMANDS)
    first, second = (command.id for command in journal.commands("agent-1"))
    files = by_tools(journal).files
    assert [(file.path, file.command_ids) for file in files] == [
        ("a", (first,)),
        ("b", (first,)),
        ("c", (second,)),
    ]


def test_a_command_has_its_own_changes() -> None:
    """By number, by id or as the latest. What a sub-agent changed after the turn belongs to its command."""
    journal = journal_with(*TWO_COMMANDS)
    first = journal.commands("agent-1")[0].id
    assert paths(journal, "1") == paths(journal, first) == ["a", "b"]
    assert paths(journal, "2") == paths(journal, "latest") == ["c"]


def test_hooks_that_arrive_late_belong_to_their_command() -> None:
    """The time at which the tool finished counts, not the time of arrival."""
    late = msgspec.structs.replace(write(1.2, "/p/a"), received_at=minute(30))
    journal = journal_with(prompt(1), stop(1.5), prompt(2), write(2.2, "/p/c"), late)
    assert (paths(journal, "1"), paths(journal, "2")) == (["a"], ["c"])


def test_many_calls_are_read_page_by_page(monkeypatch: pytest.MonkeyPatch) -> None:
    """All pages of the command are read, and none after it."""
    monkeypatch.setattr(changes, "EVENTS_PER_PAGE", 2)
    calls = [write(1 + number / 100, f"/p/{number}") for number in range(5)]
    journal = journal_with(prompt(1), *calls, prompt(2), write(2.1, "/p/x"), write(2.2, "/p/y"), write(2.3, "/p/z"))
    assert paths(journal, "1") == [f"{number}" for number in range(5)]
    assert paths(journal) == [*(f"{number}" for number in range(5)), "x", "y", "z"]
    assert paths(journal, "2") == ["x", "y", "z"]


def test_too_many_calls_are_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    """The newest ones are shown, and the result is not complete."""
    monkeypatch.setattr(changes, "EVENTS_PER_PAGE", 2)
    monkeypatch.setattr(changes, "MAX_CALLS", 2)
    calls = [write(1 + number / 100, f"/p/{number}") for number in range(5)]
    found = by_tools(journal_with(prompt(1), *calls))
    assert ([file.path for file in found.files], found.complete) == (["3", "4"], False)


def test_failed_calls_changed_nothing() -> None:
    """Only finished calls count."""
    failed = hook("PostToolUseFailure", minute(1.1), tool_name="Write", tool_input={"file_path": "/p/a"}, error="no")
    assert paths(journal_with(prompt(1), failed)) == []


def test_an_ended_agent_keeps_its_changes() -> None:
    """The log is enough."""
    assert paths(journal_with(*TWO_COMMANDS, hook("SessionEnd", minute(3), reason="other")), "2") == ["c"]


@pytest.mark.parametrize("reference", ["0", "3", "-1", "nonsense", "9" * 50])
def test_unknown_commands_are_refused(reference: str) -> None:
    """The error says which commands there are."""
    with pytest.raises(BadRequest) as caught:
        by_tools(journal_with(*TWO_COMMANDS), reference)
    assert caught.value.status == 404
    assert "1 to 2" in caught.value.hint


def test_an_agent_without_commands() -> None:
    """Has no latest command."""
    with pytest.raises(BadRequest):
        by_tools(journal_with(), "latest")
