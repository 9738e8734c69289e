"""Sub-agents of Codex in their second version, which newer models use. Recorded with 0.166.0."""

import json
from pathlib import Path
from typing import Any

from claude_headspace.clients.codex.tools import find_tool, tool_use
from claude_headspace.clients.codex.transcript_files import read_lines
from claude_headspace.kernel import facts
from claude_headspace.kernel.tools import ToolKind

MAIN, CHILD = "01a1e4f9-4fbb-72d1-a363-3184aeffcd29", "01a1e4f9-5268-7b83-8360-fe16bd6e131d"


def line(ordinal: int, kind: str, **payload: Any) -> dict[str, Any]:
    """A line of a rollout."""
    return {"timestamp": f"2026-11-16T15:28:{ordinal:02d}.000Z", "ordinal": ordinal, "type": kind, "payload": payload}


def facts_of(thread: str, lines: list[dict[str, Any]]) -> list[facts.Fact]:
    """The facts in a rollout."""
    path = str(Path("/home/dev/.codex/sessions/2026/11/16") / f"rollout-2026-11-16T15-28-27-{thread}.jsonl")
    raw = b"".join(json.dumps(each).encode() + b"\n" for each in lines)
    return [fact for _, each in read_lines(path, raw, 0) for fact in each.facts]


def test_hooks_name_the_group_of_a_tool() -> None:
    """`collaborationspawn_agent` is the tool `spawn_agent` of the group `collaboration`."""
    assert find_tool("collaborationspawn_agent").kind is ToolKind.SUBAGENT
    assert tool_use("collaborationspawn_agent", {"message": "count"}, "c1").kind is ToolKind.SUBAGENT


def test_the_history_of_the_parent_is_not_the_sub_agents() -> None:
    """The file of a sub-agent begins with a copy of its parent's lines, which ends with an interrupt."""
    source = {"subagent": {"thread_spawn": {"agent_nickname": "Galileo", "agent_role": "default"}}}
    copied = [
        line(1, "session_meta", id=MAIN, session_id=MAIN),
        line(2, "response_item", type="function_call", call_id="c1", name="spawn_agent", arguments="{}"),
        line(3, "event_msg", type="turn_aborted", turn_id="t1", reason="interrupted"),
    ]
    own = [line(4, "event_msg", type="task_complete", turn_id="t2", last_agent_message="Counted.")]
    first = line(
        0,
        "session_meta",
        id=CHILD,
        session_id=MAIN,
        parent_thread_id=MAIN,
        source=source,
        subagent_history_start_ordinal=4,
    )
    assert facts_of(CHILD, [first, *copied, *own]) == [
        facts.SubagentStarted(),
        facts.SubagentDescribed("default", "Galileo"),
        facts.SubagentStopped("Counted."),
    ]


def test_the_parents_rollout_names_the_sub_agent() -> None:
    """The result of the call does not; an item with the id of the call does."""
    started = {"type": "SubAgentActivity", "id": "c1", "kind": "started", "agent_thread_id": CHILD}
    completed = {"type": "SubAgentActivity", "id": "x", "kind": "completed", "agent_thread_id": CHILD}
    lines = [
        line(0, "session_meta", id=MAIN, session_id=MAIN),
        line(1, "event_msg", type="item_completed", turn_id="t1", item=started),
        line(2, "event_msg", type="item_completed", turn_id="t1", item=completed),
    ]
    assert facts_of(MAIN, lines) == [facts.ToolFinished("c1", "spawn_agent", background_subagent=CHILD)]
