"""Old sessions of opencode, read from its database and imported."""

import asyncio
from pathlib import Path
from typing import Any

import msgspec
import pytest

from claude_headspace.clients.opencode.session_database import list_sessions, read_messages
from claude_headspace.inputs.watch.transcript_import import ImportableFile, ImportResult, TranscriptImport
from claude_headspace.kernel import facts
from claude_headspace.kernel.agent import Agent
from claude_headspace.kernel.envelope import Envelope, Origin
from claude_headspace.kernel.usage import Tokens
from tests.clients.opencode.database import recorded_rows, write_database
from tests.inputs.watched_config_dir import WatchedConfigDir

SESSION = "ses_e1e410b95ffe7dzdpZHy7Rq0od"


@pytest.fixture
def database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The recorded session, and one of a sub-agent."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    rows = recorded_rows()
    child = rows[0] | {"id": "ses_child", "parent_id": SESSION}
    message = rows[1] | {"id": "msg_child", "session_id": "ses_child"}
    path = tmp_path / "data" / "opencode" / "opencode.db"
    write_database(path, [*rows, child, message])
    return path


def test_the_sessions_of_people_are_listed(database: Path) -> None:
    """With the number of their messages; those of sub-agents are not."""
    assert list_sessions(database) == [(SESSION, 5)]


def test_messages_become_lines_with_facts(database: Path) -> None:
    """Prompts, texts between tool calls, and the end of each turn."""
    lines = [line for _, line in read_messages(database, SESSION, 0, 100) if line is not None]
    kinds = [[type(fact).__name__ for fact in line.facts] for line in lines]
    final = ["AgentWrote", "TurnStopped", "UsageMeasured"]
    assert kinds == [["UserWrote"], final, ["UserWrote"], ["AgentWrote", "UsageMeasured"], final]
    assert facts.AgentWrote("Looking.") in lines[3].facts
    assert (lines[0].cwd, lines[0].at) == ("/home/sam/code/app", 1_794_788_750_514_000)


def test_a_missing_or_foreign_database_has_no_sessions(tmp_path: Path) -> None:
    """Reading it raises an error that says why."""
    (tmp_path / "opencode.db").write_text("not a database, but long enough to be one" * 100)
    assert list_sessions(tmp_path / "opencode.db") == list_sessions(tmp_path / "missing.db") == []
    with pytest.raises(OSError, match="not a database"):
        read_messages(tmp_path / "opencode.db", SESSION, 0, 10)
    assert not (tmp_path / "missing.db").exists()


class Archive(WatchedConfigDir):
    """A Headspace that imports sessions of opencode."""

    @property
    def importer(self) -> TranscriptImport:
        """The import."""
        envelopes = self.sources.envelopes.of_client("opencode")
        registry = self.sources.registries.by_client["opencode"]
        return TranscriptImport(lambda: (self.config_dir,), self.journal, self._import, envelopes, registry)

    async def _import(self, envelope: Envelope, agent_id: str | None) -> tuple[Agent, bool]:
        outcome = await self.engine.submit(envelope, agent_id, announce=False)
        return outcome.agent, outcome.duplicate


def import_all(archive: Archive) -> tuple[list[ImportResult], list[ImportableFile]]:
    """Import everything; return the results, and what is listed afterwards."""

    async def main() -> Any:
        archive.engine.start()
        done = [await archive.importer.import_file(file.path) for file in await archive.importer.list_files()]
        listed = await archive.importer.list_files()
        await archive.engine.stop()
        archive.sources.ancestry.close()
        return done, listed

    found: tuple[list[ImportResult], list[ImportableFile]] = asyncio.run(main())
    return found


def test_an_old_session_is_imported_once(database: Path, tmp_path: Path) -> None:
    """With its prompts and replies, as an agent that has ended."""
    archive = Archive(tmp_path / "home")
    [done], [listed] = import_all(archive)
    assert (done.events, done.known) == (5, 0)
    assert listed == ImportableFile(f"{database}/{SESSION}", 5, 5, followed=True)
    [agent] = archive.journal.agents(ended_after=0)
    assert (agent.client, agent.state, agent.project.root) == ("opencode", "ended", "/home/sam/code/app")
    [again], _ = import_all(Archive(tmp_path / "home", archive.journal))
    assert again.events == 0


def test_the_usage_of_a_session_is_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The tokens of all its messages, also of those without a text, and their cost with that of sub-agents."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    session, *rows = recorded_rows()
    priced = [row | {"data": row["data"] | {"cost": 0.25}} if "tokens" in row["data"] else row for row in rows]
    silent = [row for row in priced if row["data"].get("type") != "text"]
    child = {"id": "ses_child", "parent_id": SESSION}
    grandchild = {"id": "ses_grandchild", "parent_id": "ses_child"}
    reply = next(row for row in priced if "tokens" in row["data"] and "message_id" not in row)
    of_child = [reply | {"id": f"msg_{each['id']}", "session_id": each["id"]} for each in (child, grandchild)]
    path = tmp_path / "data" / "opencode" / "opencode.db"
    write_database(path, [session, *silent, session | child, session | grandchild, *of_child])
    archive = Archive(tmp_path / "home")
    import_all(archive)
    [agent] = archive.journal.agents(ended_after=0)
    tokens = [row["data"]["tokens"] for row in rows if "tokens" in row["data"] and "message_id" not in row]
    assert agent.usage is not None
    assert agent.usage.tokens == Tokens(sum(t["input"] for t in tokens), 0, 0, sum(t["output"] for t in tokens))
    assert (agent.usage.cost_usd, agent.usage.unpriced_tokens) == (0.25 * (len(tokens) + 2), 0)


def test_a_message_of_an_unknown_role_is_reported(tmp_path: Path) -> None:
    """It is stored without facts, so that a new kind of message is noticed."""
    session, *rows = recorded_rows()
    message = rows[0] | {"data": rows[0]["data"] | {"role": "oracle"}}
    write_database(tmp_path / "opencode.db", [session, message])
    [(_, line)] = read_messages(tmp_path / "opencode.db", SESSION, 0, 100)
    assert line is not None
    assert (line.facts, line.anomaly) == ((), "unknown line message/oracle")


def hook(name: str, at: int, **event: object) -> Envelope:
    """A report of the plugin about the session."""
    payload = {"session_id": SESSION, "cwd": "/home/sam/code/app", "event": event}
    return Envelope(
        id=f"{name}-{at}",
        name=name,
        origin=Origin.HOOK,
        client="opencode",
        host="laptop",
        fired_at=at,
        received_at=at,
        payload=msgspec.json.encode(payload),
    )


def test_what_hooks_reported_is_not_imported_again(database: Path, tmp_path: Path) -> None:
    """Not even if the message was stored long after its text was reported. What came later is imported."""
    lines = [line for _, line in read_messages(database, SESSION, 0, 100) if line is not None]
    first, fourth = lines[0].at, lines[3].at
    assert first is not None
    assert fourth is not None
    archive = Archive(tmp_path / "home")

    async def main() -> ImportResult:
        archive.engine.start()
        await archive.engine.submit(hook("chat.message", first + 2_000, parts=[{"text": "Something else"}]))
        await archive.engine.submit(hook("session.status", fourth + 1, status={"type": "busy"}))
        done = await archive.importer.import_file(f"{database}/{SESSION}")
        await archive.engine.stop()
        archive.sources.ancestry.close()
        return done

    assert asyncio.run(main()).events == 1


def test_a_rejected_call_ends_its_turn(tmp_path: Path) -> None:
    """The next prompt is a new command, not an answer. With feedback, the turn goes on."""
    session, *rows = recorded_rows()
    messages = [row for row in rows if "message_id" not in row]
    state = {"status": "error", "error": "The user rejected permission to use this specific tool call."}
    corrected = state | {"error": f"{state['error']} with the following feedback: use npm"}
    parts = [
        {"id": f"prt_{call}", "message_id": messages[1]["id"], "data": data}
        for call, given in (("c1", state), ("c2", corrected), ("c3", {"status": "completed"}))
        for data in [{"type": "tool", "callID": call, "state": given}]
    ]
    write_database(tmp_path / "opencode.db", [session, *messages[:2], *(rows[-1] | part for part in parts)])
    _, line = read_messages(tmp_path / "opencode.db", SESSION, 0, 100)[1]
    assert line is not None
    rejected = [fact for fact in line.facts if isinstance(fact, facts.ToolRejected)]
    assert rejected == [facts.ToolRejected("c1"), facts.ToolRejected("c2", "use npm")]


COLOUR = {"question": "Which colour?", "header": "Colour", "options": [{"label": "Red", "description": "warm"}]}


def question_part(row: dict[str, Any], call: str, **state: object) -> dict[str, Any]:
    """A call of the tool that asks the user."""
    data = {"type": "tool", "callID": call, "tool": "question", "state": {"input": {"questions": [COLOUR]}, **state}}
    return row | {"id": f"prt_{call}", "data": data}


def asking_rows(**state: object) -> list[dict[str, Any]]:
    """A prompt, and a message that only asks."""
    session, *rows = recorded_rows()
    messages = [row for row in rows if "message_id" not in row]
    texts = [row for row in rows if row.get("message_id") == messages[0]["id"]]
    asking = messages[3] | {"data": messages[3]["data"] | {"finish": "tool-calls"}}
    part = question_part(rows[-1] | {"message_id": asking["id"]}, "c1", **state)
    return [session, messages[0], *texts, asking, part]


def test_a_question_is_imported_with_its_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a session that was followed: a turn of the agent and one of the user; nothing waits."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    rows = asking_rows(status="completed", metadata={"answers": [["Red"]]})
    write_database(tmp_path / "data" / "opencode" / "opencode.db", rows)
    archive = Archive(tmp_path / "home")
    import_all(archive)
    [agent] = archive.journal.agents(ended_after=0)
    turns = [(turn.actor, turn.intent, turn.text) for turn in archive.journal.turns(agent_id=agent.id)]
    assert turns[1:] == [("AGENT", "QUESTION", "Which colour?"), ("USER", "ANSWER", "Red")]
    [wait] = archive.journal.waits(agent_id=agent.id, only_open=False)
    assert (wait.kind, wait.resolution, wait.questions[0].options[0].label) == ("question", "answered", "Red")


def test_a_question_without_an_answer_is_imported_once_it_has_ended(tmp_path: Path) -> None:
    """A dismissed question is also a rejected call. An open one, or one of a wrong shape, is left out."""
    states: dict[str, dict[str, object]] = {
        "dismissed": {"status": "error", "error": "The user dismissed this question"},
        "open": {"status": "running"},
        "odd": {"status": "completed", "input": [], "metadata": 7},
    }
    found = {}
    for name, state in states.items():
        write_database(tmp_path / name / "opencode.db", asking_rows(**state))
        _, line = read_messages(tmp_path / name / "opencode.db", SESSION, 0, 100)[1]
        found[name] = [type(fact).__name__ for fact in line.facts if "Usage" not in type(fact).__name__] if line else []
    assert found == {"dismissed": ["PermissionAsked", "ToolRejected"], "open": [], "odd": []}
