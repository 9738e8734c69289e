"""The requests of Codex that its rollout reports before its hooks, or alone: questions and plans."""

from typing import Any

import msgspec

from claude_headspace.kernel.envelope import SECOND, Envelope, Origin
from claude_headspace.testing import START, hook
from tests.surfaces.read.test_agents import Board

QUESTIONS = {"questions": [{"id": "c", "header": "Colour", "question": "Which?", "options": [{"label": "Red"}]}]}


def of_codex(name: str, at: int, **fields: Any) -> Envelope:
    """A hook of Codex."""
    return msgspec.structs.replace(hook(name, at, session_id="s", cwd="/p", **fields), client="codex")


def line(at: int, kind: str, payload: dict[str, Any], **more: Any) -> Envelope:
    """A line of a rollout, as it is stored."""
    stored = {"session_id": "s", "cwd": "/p", "line": {"type": kind, "payload": payload}, **more}
    found = of_codex("TranscriptLine", at)
    return msgspec.structs.replace(found, origin=Origin.TRANSCRIPT, payload=msgspec.json.encode(stored))


def test_a_question_that_the_rollout_reports_first_has_its_hook() -> None:
    """The hook has the complete input of the call. The order of the fields does not matter."""
    reordered = {"questions": [dict(reversed(QUESTIONS["questions"][0].items()))]}
    call = {"name": "request_user_input", "call_id": "call", "arguments": msgspec.json.encode(reordered).decode()}
    board = Board(
        of_codex("UserPromptSubmit", START, prompt="Paint it"),
        line(START + SECOND, "response_item", {"type": "function_call", **call}),
        of_codex(
            *("PreToolUse", START + 2 * SECOND),
            tool_name="request_user_input",
            tool_use_id="call",
            tool_input=QUESTIONS,
        ),
    )
    [wait] = board.journal.waits(agent_id="agent-1", only_open=True)
    found = board.model.waits.hook_of(wait)
    assert found is not None
    assert found.tool is not None
    assert found.tool.input == QUESTIONS


def test_a_plan_is_the_whole_message() -> None:
    """Only the rollout has it."""
    end = {"type": "task_complete", "turn_id": "t", "last_agent_message": None}
    board = Board(
        of_codex("UserPromptSubmit", START, prompt="Plan it"),
        line(START + SECOND, "event_msg", end, plan="# Plan\n\n1. Go."),
    )
    [wait] = board.journal.waits(agent_id="agent-1", only_open=True)
    assert (wait.kind, board.model.waits.message_of(wait)) == ("plan", "# Plan\n\n1. Go.")
