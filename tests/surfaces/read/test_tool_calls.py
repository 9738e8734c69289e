"""Tool calls put together from hooks: whatever is missing stays unknown, whatever is huge is cut."""

from typing import Any

from claude_headspace.kernel.envelope import Origin
from claude_headspace.surfaces.read.tool_calls import MAX_TEXT_LENGTH, ToolCallView, tool_calls, truncated
from claude_headspace.surfaces.read.usage import usage
from claude_headspace.testing import START, hook
from tests.journals import TemporaryJournal, store


def heard(*events: tuple[str, dict[str, Any]]) -> list[ToolCallView]:
    """The calls of an agent of whom these hooks told."""
    journal = TemporaryJournal()
    steps = [hook(name, START + number, **told) for number, (name, told) in enumerate(events, 1)]
    store(journal, hook("SessionStart", START, source="startup"), *steps)
    [agent] = journal.agents()
    return tool_calls(journal, agent, 100)


def bash(call: str, **more: Any) -> dict[str, Any]:
    """What hooks tell of a call of Bash."""
    return {"tool_name": "Bash", "tool_input": {"command": f"run {call}"}, "tool_use_id": call, **more}


def test_a_call_has_its_input_and_its_result() -> None:
    """Start and end are one call, in the order of their beginning."""
    one, two = heard(
        ("PreToolUse", bash("a")),
        ("PreToolUse", bash("b")),
        ("PostToolUse", bash("a", tool_response={"stdout": "fine"})),
    )
    assert (one.id, one.outcome, one.summary, one.result) == ("a", "done", "run a", {"stdout": "fine"})
    assert one.input == {"command": "run a"}
    assert one.ended_at is not None
    assert one.ended_at > one.started_at
    assert (two.id, two.outcome, two.ended_at) == ("b", "running", None)


def test_how_a_call_ended_is_told() -> None:
    """Failed with its error, refused with its reason."""
    failed, refused = heard(
        ("PreToolUse", bash("a")),
        ("PostToolUseFailure", bash("a", error="exit code 3")),
        ("PreToolUse", bash("b")),
        ("PermissionDenied", bash("b", reason="not allowed")),
    )
    assert (failed.outcome, failed.result) == ("failed", "exit code 3")
    assert (refused.outcome, refused.result) == ("refused", "not allowed")


def test_an_end_that_nobody_told_is_unknown() -> None:
    """A call that the agent does not have open any more, and of whose end nothing was heard."""
    [call] = heard(("PreToolUse", bash("a")), ("Stop", {"last_assistant_message": "Done."}))
    assert call.outcome == "unknown"


def test_a_late_start_does_not_undo_the_end() -> None:
    """Hooks come out of order."""
    [call] = heard(("PostToolUse", bash("a", tool_response="out")), ("PreToolUse", bash("a")))
    assert (call.outcome, call.result) == ("done", "out")


def test_strange_payloads_are_no_trouble() -> None:
    """Inputs and results of any shape."""
    calls = heard(("PreToolUse", {"tool_name": "X", "tool_input": ["list", 3], "tool_use_id": "a"}), ("PreToolUse", {}))
    assert [call.tool for call in calls] == ["X", ""]


def test_long_and_deep_values_are_cut() -> None:
    """A page of calls stays a page."""
    deep: Any = "end"
    for _ in range(50):
        deep = [deep]
    assert len(truncated("x" * 1_000_000)) < MAX_TEXT_LENGTH + 100
    assert "…" in str(truncated(deep))
    assert truncated({"a": [1, None, True]}) == {"a": [1, None, True]}


def test_usage_is_what_evolve_made_of_it() -> None:
    """The curve has a point for every measurement, and ends where the agent stands."""
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


def test_a_call_of_a_sub_agent_says_whose_it_is() -> None:
    """Its id and its kind stand with the call; the agent's own calls have neither."""
    own, other = heard(("PreToolUse", bash("a")), ("PreToolUse", bash("b", agent_id="sub-1", agent_type="Explore")))
    assert (own.subagent_id, own.subagent_type) == (None, None)
    assert (other.subagent_id, other.subagent_type) == ("sub-1", "Explore")
