"""Advice of an effort: gates, heartbeat, guard rules, overflow, session start."""

from typing import Any

import pytest

from claude_headspace.clients.decode import decode
from claude_headspace.kernel.effort.advice import NO_ADVICE, Advice
from claude_headspace.kernel.effort.advise import advise, files_to_preload, pending_preloads
from claude_headspace.kernel.effort.model import Delivery, Effort, Handover, Injection, Window
from claude_headspace.testing import hook

ROOT = "/code/app"


def effort(**fields: Any) -> Effort:
    """An effort with the given fields."""
    defaults: dict[str, Any] = {
        "id": "e1",
        "task_id": "t",
        "host": "laptop",
        "task_dir": ROOT,
        "project_root": ROOT,
        "skill": "fix",
        "ordinal": 2,
        "started_at": 1,
    }
    return Effort(**(defaults | fields))


def window(**fields: Any) -> Window:
    """An opened window with the given fields."""
    defaults: dict[str, Any] = {"id": "s", "effort_id": "e1", "agent_id": "a", "started_at": 1, "opened": True}
    return Window(**(defaults | fields))


def before_tool(work: Effort, current: Window | None, tool: str = "Bash", **tool_input: object) -> Advice:
    """The advice before a tool call."""
    envelope = hook("PreToolUse", tool_name=tool, tool_input=tool_input or {"command": "make"})
    return advise(work, current, decode(envelope))


# --- heartbeat ---


@pytest.mark.parametrize(
    ("count", "warned", "denied"),
    [(1, False, False), (7, True, False), (9, True, False), (10, False, True)],
)
def test_tool_calls_without_a_log_entry_are_warned_then_denied(count: int, warned: bool, denied: bool) -> None:
    """The seventh tool call gets a warning, the tenth is denied."""
    advice = before_tool(effort(), window(heartbeat=count))
    assert (bool(advice.context), advice.denies) == (warned, denied)
    assert advice.rule == ("heartbeat" if denied else None)
    if denied:
        assert "headspace effort log" in advice.reason


def test_metadata_sets_the_limits() -> None:
    """Invalid values are ignored."""
    assert before_tool(effort(metadata={"heartbeat_limit": 3}), window(heartbeat=3)).denies
    assert not before_tool(effort(metadata={"heartbeat_limit": 30}), window(heartbeat=29)).denies
    for invalid in (0, -1, True, "5", None, 2.5):
        assert before_tool(effort(metadata={"heartbeat_limit": invalid}), window(heartbeat=10)).denies


def test_own_commands_are_never_denied() -> None:
    """A log entry can be written at any heartbeat."""
    assert before_tool(effort(), window(heartbeat=50), command="headspace effort log 'x'") == NO_ADVICE
    assert before_tool(effort(), window(heartbeat=50), command="headspace effort log x; ls").denies


def test_without_a_window_tool_calls_are_allowed() -> None:
    """An unresolved window never denies a tool call."""
    assert before_tool(effort(metadata={"gates": {"session": True}}), None) == NO_ADVICE


# --- gates ---


def test_the_session_gate_denies_until_the_session_is_opened() -> None:
    """Reading a file is allowed before."""
    work = effort(metadata={"gates": {"session": True}})
    assert before_tool(work, window(opened=False)).rule == "gate:session"
    assert not before_tool(work, window(opened=False), "Read", file_path="/x").denies
    assert not before_tool(work, window(opened=True)).denies


def test_the_directive_gate_denies_until_the_files_are_read() -> None:
    """Paths are relative to the project root. The gate does not apply to sub-agents."""
    work = effort(metadata={"gates": {"directives": ["AGENTS.md", "/etc/rules.md"]}})
    denied = before_tool(work, window(loaded_files=("/etc/rules.md",)))
    assert denied.rule == "gate:directives"
    assert f"{ROOT}/AGENTS.md" in denied.reason
    assert "/etc/rules.md" not in denied.reason
    assert not before_tool(work, window(loaded_files=("/etc/rules.md", f"{ROOT}/AGENTS.md"))).denies
    assert not before_tool(work, window(subagent_id="sub")).denies


# --- overflow ---


def test_a_handover_is_requested_once() -> None:
    """The request is sent once at the threshold, and never to a sub-agent."""
    full = window(context_usage=0.91)
    advice = before_tool(effort(), full)
    assert advice.overflow
    assert "headspace effort dehydrate" in advice.context[0]
    assert not before_tool(effort(), window(context_usage=0.91, overflow_reported=True)).overflow
    assert not before_tool(effort(), window(context_usage=0.89)).overflow
    assert not before_tool(effort(), window(context_usage=0.99, subagent_id="sub")).overflow
    assert before_tool(effort(metadata={"overflow_at": 50}), window(context_usage=0.5)).overflow


# --- guard rules ---


@pytest.mark.parametrize(
    ("rule", "fires"),
    [
        ({"field": "heartbeat", "gte": 5}, True),
        ({"field": "heartbeat", "gt": 5}, False),
        ({"field": "heartbeat", "op": "lte", "value": 5}, True),
        ({"field": "heartbeat", "lt": 5}, False),
        ({"field": "heartbeat", "eq": 5}, True),
        ({"field": "phase", "eq": "look"}, True),
        ({"field": "tool_name", "eq": "Bash"}, True),
        ({"field": "budget.left", "lt": 10}, True),
        ({"field": "context_usage", "gte": 0.5}, False),
        ({"field": "phase", "gte": 3}, False),
        ({"field": "nowhere", "eq": 1}, False),
        ({"field": "heartbeat", "like": 5}, False),
        ({"gte": 5}, False),
        ("nonsense", False),
    ],
)
def test_a_guard_rule_compares_a_field(rule: object, fires: bool) -> None:
    """All operators and kinds of fields; values that cannot be compared never match."""
    work = effort(phase="look", metadata={"guards": [rule], "budget": {"left": 3}})
    assert bool(before_tool(work, window(heartbeat=5)).fired) == fires


def test_a_guard_rule_warns_or_denies_by_its_payload() -> None:
    """A message alone is a warning to the model; `deny` denies the tool call."""
    warns = {"field": "heartbeat", "gte": 1, "payload": {"message": "Slow down."}}
    denies = {"field": "heartbeat", "gte": 1, "payload": {"deny": True, "message": "Stop."}}
    warned = before_tool(effort(metadata={"guards": [warns]}), window(heartbeat=1))
    denied = before_tool(effort(metadata={"guards": [warns, denies]}), window(heartbeat=1))
    assert (warned.rule, warned.context) == (None, ("Slow down.",))
    assert (denied.rule, denied.reason) == ("guard:heartbeat", "Stop.")
    assert len(denied.fired) == 2


# --- session start ---


def started(work: Effort, source: str) -> Advice:
    """The advice at the start of a session."""
    return advise(work, window(), decode(hook("SessionStart", source=source)))


def test_a_new_session_gets_an_introduction() -> None:
    """The effort, its phase, the handover, the log entries after it, and the files to read."""
    work = effort(
        phase="look",
        preload=(f"{ROOT}/notes.md",),
        directives=(f"{ROOT}/AGENTS.md", f"{ROOT}/CLAUDE.md"),
        handover=Handover(text="The parser is half done.", at=1, files=(f"{ROOT}/parser.py",)),
        recent_log=("Fixed the lexer.",),
    )
    advice = started(work, "startup")
    context = "\n".join(advice.context)
    for part in ("fix #2", "phase look", "The parser is half done.", "Fixed the lexer."):
        assert part in context
    assert advice.preload == (f"{ROOT}/notes.md", f"{ROOT}/parser.py", f"{ROOT}/AGENTS.md")


def test_a_resumed_session_gets_only_the_session_line() -> None:
    """Its context already contains the introduction."""
    work = effort(preload=("/x",), handover=Handover(text="payload", at=1))
    assert len(started(work, "resume").context) == 1
    assert started(work, "resume").preload == ()
    assert "payload" in "".join(started(work, "compact").context)


def test_a_long_handover_is_truncated() -> None:
    """The text says that a part is left out."""
    advice = started(effort(handover=Handover(text="x" * 50_000, at=1)), "clear")
    assert sum(map(len, advice.context)) < 8_000
    assert "left out" in advice.context[-1]


def test_only_queued_injections_are_delivered_and_never_to_sub_agents() -> None:
    """A delivered injection is not sent again."""
    queued = Injection(id="i1", text="Look", at=1)
    delivered = Injection(id="i2", text="Old", at=1, delivery=Delivery.DELIVERED)
    work = effort(injections=(queued, delivered))
    of_agent = hook("PostToolUse", tool_name="Bash")
    of_subagent = hook("PostToolUse", tool_name="Bash", agent_id="sub", agent_type="x")
    assert advise(work, window(), decode(of_agent)).injections == ("i1",)
    assert advise(work, window(), decode(of_subagent)) == NO_ADVICE


def test_pending_preloads_are_the_unread_files() -> None:
    """A loaded file is not pending."""
    work = effort(preload=("/a", "/b"))
    assert files_to_preload(work) == ("/a", "/b")
    assert pending_preloads(work, window(loaded_files=("/a",))) == ("/b",)


@pytest.mark.parametrize("event", ["Stop", "Notification", "SessionEnd", "PreCompact", "Mystery"])
def test_other_hooks_get_no_advice(event: str) -> None:
    """Whatever the heartbeat is."""
    assert advise(effort(), window(heartbeat=50), decode(hook(event))) == NO_ADVICE
