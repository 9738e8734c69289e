"""Tool calls from hooks: missing parts are unknown, long values are truncated; and usage over time."""

from typing import Any

import msgspec
import pytest

from claude_headspace.kernel.envelope import Origin
from claude_headspace.surfaces.read.agent_history import usage
from claude_headspace.surfaces.read.tool_calls import MAX_TEXT_LENGTH, ToolCallView, tool_calls, truncated
from claude_headspace.testing import START, hook
from tests.journals import TemporaryJournal, store

PATCH = "*** Begin Patch\n*** Update File: a.py\n@@\n-a\n+b\n*** Add File: src/c.py\n+c\n*** End Patch"


def calls_after(*events: tuple[str, dict[str, Any]]) -> list[ToolCallView]:
    """The tool calls of an agent after these hooks."""
    journal = TemporaryJournal()
    steps = [hook(name, START + number, **given) for number, (name, given) in enumerate(events, 1)]
    store(journal, hook("SessionStart", START, source="startup"), *steps)
    [agent] = journal.agents()
    return tool_calls(journal, agent, 100)


def bash(call: str, **more: Any) -> dict[str, Any]:
    """The fields of a hook for a Bash call."""
    return {"tool_name": "Bash", "tool_input": {"command": f"run {call}"}, "tool_use_id": call, **more}


def test_input_and_result() -> None:
    """Start and end are one call, in the order of the starts."""
    one, two = calls_after(
        ("PreToolUse", bash("a")),
        ("PreToolUse", bash("b")),
        ("PostToolUse", bash("a", tool_response={"stdout": "fine"})),
    )
    assert (one.id, one.outcome, one.summary, one.result) == ("a", "done", "run a", {"stdout": "fine"})
    assert one.input == {"command": "run a"}
    assert one.ended_at is not None
    assert one.ended_at > one.started_at
    assert (two.id, two.outcome, two.ended_at) == ("b", "running", None)


@pytest.mark.parametrize(("client", "given"), [("codex", {"command": PATCH}), ("copilot", PATCH)])
def test_a_patch_is_summarized_by_its_files(client: str, given: object) -> None:
    """Not by its text: also while it runs."""
    journal = TemporaryJournal()
    start = hook("PreToolUse", START, tool_name="apply_patch", tool_input=given, tool_use_id="p")
    store(journal, msgspec.structs.replace(start, client=client))
    [agent] = journal.agents()
    assert [call.summary for call in tool_calls(journal, agent, 100)] == ["a.py, src/c.py"]
    assert [call.summary for call in agent.calls] == ["a.py, src/c.py"]


def test_outcomes() -> None:
    """Failed with its error, refused with its reason."""
    failed, refused = calls_after(
        ("PreToolUse", bash("a")),
        ("PostToolUseFailure", bash("a", error="exit code 3")),
        ("PreToolUse", bash("b")),
        ("PermissionDenied", bash("b", reason="not allowed")),
    )
    assert (failed.outcome, failed.result) == ("failed", "exit code 3")
    assert (refused.outcome, refused.result) == ("refused", "not allowed")


def test_a_missing_end_is_unknown() -> None:
    """If the agent no longer has the call open."""
    [call] = calls_after(("PreToolUse", bash("a")), ("Stop", {"last_assistant_message": "Done."}))
    assert call.outcome == "unknown"


def test_a_late_start_does_not_undo_the_end() -> None:
    """Hooks may arrive out of order."""
    [call] = calls_after(("PostToolUse", bash("a", tool_response="out")), ("PreToolUse", bash("a")))
    assert (call.outcome, call.result) == ("done", "out")


def test_unusual_payloads() -> None:
    """Inputs and results of any shape."""
    calls = calls_after(
        ("PreToolUse", {"tool_name": "X", "tool_input": ["list", 3], "tool_use_id": "a"}), ("PreToolUse", {})
    )
    assert [call.tool for call in calls] == ["X", ""]


def test_long_and_deep_values_are_truncated() -> None:
    """Text by length, nesting by depth."""
    deep: Any = "end"
    for _ in range(50):
        deep = [deep]
    assert len(truncated("x" * 1_000_000)) < MAX_TEXT_LENGTH + 100
    assert "…" in str(truncated(deep))
    assert truncated({"a": [1, None, True]}) == {"a": [1, None, True]}


def test_usage() -> None:
    """One entry per measurement. The last one equals the agent's values."""
    journal = TemporaryJournal()
    said = [{"role": "assistant", "usage": {"input_tokens": tokens}} for tokens in (10_000, 40_000, 90_000)]
    lines = [
        hook(
            "TranscriptLine", START + n, origin=Origin.TRANSCRIPT, type="assistant", sessionId="session-1", message=each
        )
        for n, each in enumerate(said, 1)
    ]
    store(journal, hook("SessionStart", START, source="startup", model="claude-opus-4-7"), *lines)
    [agent] = journal.agents()
    found = usage(journal, agent)
    assert [measure.tokens for measure in found] == [10_000, 40_000, 90_000]
    assert (found[-1].tokens, found[-1].context_percent) == (agent.tokens, agent.context_percent)


def test_calls_of_sub_agents() -> None:
    """They have the id and type of the sub-agent; the agent's own calls have neither."""
    own, other = calls_after(
        ("PreToolUse", bash("a")), ("PreToolUse", bash("b", agent_id="sub-1", agent_type="Explore"))
    )
    assert (own.subagent_id, own.subagent_type) == (None, None)
    assert (other.subagent_id, other.subagent_type) == ("sub-1", "Explore")


def test_calls_of_a_finished_sub_agent_have_its_description() -> None:
    """The description that the client reported while the sub-agent ran."""
    sub = {"agent_id": "sub-1", "agent_type": "Explore"}
    task = {"id": "sub-1", "type": "subagent", "status": "running", "description": "find the parser"}
    [call] = calls_after(
        ("SubagentStart", sub),
        ("PreToolUse", bash("b", **sub)),
        ("PostToolUse", bash("b", **sub)),
        ("Stop", {"last_assistant_message": "It runs.", "background_tasks": [task]}),
        ("SubagentStop", sub),
    )
    assert call.subagent_description == "find the parser"
