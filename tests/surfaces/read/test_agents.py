"""Agents in the read model: references, the board and its order, and what belongs to an agent."""

import asyncio
from collections.abc import Iterator
from itertools import count
from typing import Any

import msgspec
import pytest

from claude_headspace.errors import BadRequest
from claude_headspace.kernel.envelope import SECOND, Envelope, Origin
from claude_headspace.surfaces.read.model import ReadModel
from claude_headspace.testing import START, ManualClock, hook
from tests.engines import engine_over
from tests.journals import TemporaryJournal

HOUR = 3600 * SECOND
PROMPT: dict[str, Any] = {"prompt": "Go."}
ASK: dict[str, Any] = {"tool_name": "ExitPlanMode", "tool_use_id": "a", "tool_input": {"plan": "1. Go."}}


class Board:
    """A read model over stored events."""

    def __init__(self, *envelopes: Envelope, ids: Iterator[str] | None = None) -> None:
        self.journal, self.clock = TemporaryJournal(), ManualClock(START + HOUR)
        self.model = ReadModel(self.journal, self.clock, "host")
        self._ids = ids or map("agent-{}".format, count(1))
        self.add(*envelopes)

    def add(self, *envelopes: Envelope, agent_id: str | None = None) -> None:
        """Store more events."""

        async def play() -> None:
            engine = engine_over(self.journal, self._ids.__next__)
            engine.start()
            for envelope in envelopes:
                await engine.submit(envelope, agent_id)
            await engine.stop()

        asyncio.run(play())


def event(session: str, name: str, at: int = START, **fields: Any) -> Envelope:
    """A hook of a session in its own directory."""
    return hook(name, at, session_id=session, cwd=f"/projects/{session}", **fields)


def renamed(name: str) -> Envelope:
    """A person renames an agent."""
    asked = hook("AgentRenamed", START + SECOND, origin=Origin.OPERATOR)
    return msgspec.structs.replace(asked, payload=msgspec.json.encode({"name": name}))


# --- whom a person means ----------------------------------------------------------------------------------------------


def test_references_to_an_agent() -> None:
    """Id, name, or start of the id, in this order: a name cannot hide another agent's id."""
    board = Board(event("one", "SessionStart"), event("two", "SessionStart"), ids=iter(["abcd-1", "abce-2"]))
    board.add(renamed("abce-2"), agent_id="abcd-1")
    assert board.model.agents.find("abcd-1").id == "abcd-1"
    assert board.model.agents.find("abce-2").id == "abce-2", "the id wins over another's name"
    assert board.model.agents.find("abcd").id == "abcd-1"
    assert board.model.agents.find(board.model.agents.find("abce").name).id in {"abcd-1", "abce-2"}


def test_the_id_of_a_wrapper_is_a_reference() -> None:
    """Requirement: "Use `CLAUDE_SESSION_ID` env var, NOT stdin session_id". The wrapper's id names its agent."""
    wrapped = event("one", "SessionStart")
    known = msgspec.structs.replace(wrapped.observations, wrapper_id="wrap-7781")
    board = Board(msgspec.structs.replace(wrapped, observations=known), event("two", "SessionStart"))
    found = board.model.agents.view("wrap-7781")
    assert (found.session_id, found.wrapper_id) == ("one", "wrap-7781")


def test_an_ambiguous_id_is_refused() -> None:
    """The message lists the candidates."""
    board = Board(event("one", "SessionStart"), event("two", "SessionStart"), ids=iter(["abcd-1", "abcd-2"]))
    with pytest.raises(BadRequest) as caught:
        board.model.agents.find("abcd")
    assert (caught.value.status, caught.value.code) == (409, "ambiguous_agent")
    for agent in board.journal.agents():
        assert agent.name in caught.value.message


@pytest.mark.parametrize("reference", ["", "a", "abc", "nobody", "%", "____", "abcd%"])
def test_unknown_agents_are_refused(reference: str) -> None:
    """Also prefixes of fewer than four characters, and patterns."""
    board = Board(event("one", "SessionStart"), ids=iter(["abcd-1"]))
    with pytest.raises(BadRequest) as caught:
        board.model.agents.find(reference)
    assert (caught.value.status, caught.value.code) == (404, "unknown_agent")


def test_a_name_means_the_living_agent() -> None:
    """Names are reused after an agent ended."""
    board = Board(event("old", "SessionStart"), event("new", "SessionStart"))
    board.add(renamed("bob"), agent_id="agent-1")
    board.add(event("old", "SessionEnd", START + 2 * SECOND, reason="other"))
    board.add(renamed("bob"), agent_id="agent-2")
    assert board.model.agents.find("bob").id == "agent-2"


# --- the board --------------------------------------------------------------------------------------------------------


def test_the_board_is_sorted_by_urgency() -> None:
    """Waiting, error, working, idle, ended; then by last activity."""
    board = Board(
        event("ended", "SessionStart"),
        event("ended", "SessionEnd", START + SECOND, reason="other"),
        event("idle-old", "SessionStart"),
        event("idle-new", "SessionStart", START + SECOND),
        event("working", "UserPromptSubmit", **PROMPT),
        event("error", "UserPromptSubmit", **PROMPT),
        event("error", "StopFailure", START + SECOND, error="overloaded"),
        event("waiting", "UserPromptSubmit", **PROMPT),
        event("waiting", "PreToolUse", START + SECOND, **ASK),
    )
    assert [agent.session_id for agent in board.model.agents.board()] == [
        "waiting",
        "error",
        "working",
        "idle-new",
        "idle-old",
        "ended",
    ]
    assert [agent.session_id for agent in board.model.agents.board(state="idle")] == ["idle-new", "idle-old"]


def test_ended_agents_leave_the_board_after_a_day() -> None:
    """`include_all` still lists them."""
    board = Board(event("one", "SessionStart"), event("one", "SessionEnd", START + SECOND, reason="other"))
    assert len(board.model.agents.board()) == 1
    board.clock.advance(25 * 3600)
    assert board.model.agents.board() == []
    assert [agent.session_id for agent in board.model.agents.board(include_all=True)] == ["one"]
    assert board.model.agents.view("agent-1").state == "ended"


@pytest.mark.parametrize("how", ["id", "name", "root"])
def test_the_project_filter(how: str) -> None:
    """By id, name or directory."""
    board = Board(event("one", "SessionStart"), event("two", "SessionStart"))
    project = board.model.agents.view("agent-1").project
    found = board.model.agents.board(project=getattr(project, how))
    assert [agent.id for agent in found] == ["agent-1"]


# --- details ----------------------------------------------------------------------------------------------------------


def test_details_of_an_agent() -> None:
    """Turns, commands, sessions, states, waits and events, only of this agent."""
    board = Board(
        event("one", "UserPromptSubmit", **PROMPT),
        event("one", "PreToolUse", START + SECOND, **ASK),
        event("two", "UserPromptSubmit", prompt="Other."),
    )
    for reference in ("agent-1", board.model.agents.view("agent-1").name):
        assert [turn.text for turn in board.model.agents.turns(reference, 10)] == ["Go.", "1. Go."]
        (command,) = board.model.agents.commands(reference, 10)
        assert [turn.text for turn in board.model.agents.command_turns(command.id, 10)] == ["Go.", "1. Go."]
        assert len(board.model.agents.sessions(reference)) == 1
        assert [state.state for state in board.model.agents.states(reference, 10)] == ["working", "waiting"]
        assert [wait.kind for wait in board.model.waits.views(agent_id="agent-1", only_open=True)] == ["plan"]
        assert [one.name for one in board.model.events.page(agent_id="agent-1", after=None, limit=10)] == [
            "UserPromptSubmit",
            "PreToolUse",
        ]
    assert len(board.model.events.page(agent_id=None, after=None, limit=10)) == 3


def test_the_newest_state_has_the_agents_evidence() -> None:
    """Both are the same on every surface."""
    board = Board(event("one", "UserPromptSubmit", **PROMPT), event("one", "PreToolUse", START + SECOND, **ASK))
    newest, agent = board.model.agents.states("agent-1", 1)[0], board.model.agents.view("agent-1")
    assert agent.evidence is not None
    assert (newest.why, newest.source, newest.at) == (agent.evidence.why, agent.evidence.source, agent.evidence.at)


def test_an_event_has_its_original_payload() -> None:
    """It is not decoded and encoded again."""
    strange = msgspec.structs.replace(event("one", "Stop"), payload=b'{ "session_id" : "one", "x": 1.50 }')
    (message,) = Board(strange).model.events.page(agent_id=None, after=None, limit=10)
    assert b'"payload":{ "session_id" : "one", "x": 1.50 }' in msgspec.json.encode(message)


def test_unknown_commands_are_refused() -> None:
    """An empty list would mean that the command exists."""
    with pytest.raises(BadRequest) as caught:
        Board().model.agents.command_turns("nothing", 10)
    assert (caught.value.status, caught.value.code) == (404, "unknown_command")
