"""What the client is answered: gates, heartbeat, guards, overflow, each by its rule."""

from typing import Any

import pytest

from claude_headspace.clients.decode import decode
from claude_headspace.kernel.effort.advice import NO_ADVICE, Advice
from claude_headspace.kernel.effort.advise import advise, files_to_preload, pending_preloads
from claude_headspace.kernel.effort.model import Delivery, Effort, Handover, Injection, Window
from claude_headspace.testing import hook

ROOT = "/code/app"


def effort(**known: Any) -> Effort:
    """An effort."""
    fields: dict[str, Any] = {
        "id": "e1",
        "task_id": "t",
        "host": "laptop",
        "task_dir": ROOT,
        "project_root": ROOT,
        "skill": "fix",
        "ordinal": 2,
        "started_at": 1,
    }
    return Effort(**(fields | known))


def window(**known: Any) -> Window:
    """The window of a session."""
    fields: dict[str, Any] = {"id": "s", "effort_id": "e1", "agent_id": "a", "started_at": 1, "opened": True}
    return Window(**(fields | known))


def before_tool(work: Effort, here: Window | None, tool: str = "Bash", **tool_input: object) -> Advice:
    """The answer before a tool."""
    sent = hook("PreToolUse", tool_name=tool, tool_input=tool_input or {"command": "make"})
    return advise(work, here, decode(sent))


# --- heartbeat ---


@pytest.mark.parametrize(
    ("count", "warned", "denied"),
    [(1, False, False), (7, True, False), (9, True, False), (10, False, True)],
)
def test_calls_without_a_log_are_warned_about_and_then_refused(count: int, warned: bool, denied: bool) -> None:
    """From seven on a warning comes along, the tenth is refused."""
    advice = before_tool(effort(), window(heartbeat=count))
    assert (bool(advice.context), advice.denies) == (warned, denied)
    assert advice.rule == ("heartbeat" if denied else None)
    if denied:
        assert "headspace effort log" in advice.reason


def test_the_limits_are_the_efforts_own() -> None:
    """Metadata moves them; nonsense there changes nothing."""
    assert before_tool(effort(metadata={"heartbeat_limit": 3}), window(heartbeat=3)).denies
    assert not before_tool(effort(metadata={"heartbeat_limit": 30}), window(heartbeat=29)).denies
    for nonsense in (0, -1, True, "5", None, 2.5):
        assert before_tool(effort(metadata={"heartbeat_limit": nonsense}), window(heartbeat=10)).denies


def test_own_commands_pass() -> None:
    """However many calls there were, the log can be written."""
    assert before_tool(effort(), window(heartbeat=50), command="headspace effort log 'x'") == NO_ADVICE
    assert before_tool(effort(), window(heartbeat=50), command="headspace effort log x; ls").denies


def test_without_a_window_everything_is_allowed() -> None:
    """What cannot be resolved fails open."""
    assert before_tool(effort(metadata={"gates": {"session": True}}), None) == NO_ADVICE


# --- gates ---


def test_the_session_gate_waits_until_the_session_is_open() -> None:
    """Tools are refused until then; reading is not."""
    work = effort(metadata={"gates": {"session": True}})
    assert before_tool(work, window(opened=False)).rule == "gate:session"
    assert not before_tool(work, window(opened=False), "Read", file_path="/x").denies
    assert not before_tool(work, window(opened=True)).denies


def test_the_directive_gate_waits_until_the_files_are_read() -> None:
    """Paths are the project's; what a sub-agent read counts too; a sub-agent itself is not held up."""
    work = effort(metadata={"gates": {"directives": ["AGENTS.md", "/etc/rules.md"]}})
    refused = before_tool(work, window(loaded_files=("/etc/rules.md",)))
    assert refused.rule == "gate:directives"
    assert f"{ROOT}/AGENTS.md" in refused.reason
    assert "/etc/rules.md" not in refused.reason
    assert not before_tool(work, window(loaded_files=("/etc/rules.md", f"{ROOT}/AGENTS.md"))).denies
    assert not before_tool(work, window(subagent_id="sub")).denies


# --- overflow ---


def test_overflow_is_told_once() -> None:
    """At its threshold the handover is asked for; told once, and never to a sub-agent."""
    full = window(context_usage=0.91)
    told = before_tool(effort(), full)
    assert told.overflow
    assert "headspace effort dehydrate" in told.context[0]
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
    """Every operator, every kind of field; what cannot be compared does not speak."""
    work = effort(phase="look", metadata={"guards": [rule], "budget": {"left": 3}})
    assert bool(before_tool(work, window(heartbeat=5)).fired) == fires


def test_a_guard_rule_warns_or_denies_by_its_payload() -> None:
    """A message alone is for the model, with `deny` the call is refused."""
    says = {"field": "heartbeat", "gte": 1, "payload": {"message": "Slow down."}}
    denies = {"field": "heartbeat", "gte": 1, "payload": {"deny": True, "message": "Stop."}}
    warned = before_tool(effort(metadata={"guards": [says]}), window(heartbeat=1))
    refused = before_tool(effort(metadata={"guards": [says, denies]}), window(heartbeat=1))
    assert (warned.rule, warned.context) == (None, ("Slow down.",))
    assert (refused.rule, refused.reason) == ("guard:heartbeat", "Stop.")
    assert len(refused.fired) == 2


# --- beginnings ---


def started(work: Effort, source: str) -> Advice:
    """The answer to a session's start."""
    sent = hook("SessionStart", source=source)
    return advise(work, window(), decode(sent))


def test_a_new_session_is_told_what_it_works_on() -> None:
    """The effort, its phase, what was handed over and logged since, the files to read."""
    work = effort(
        phase="look",
        preload=(f"{ROOT}/notes.md",),
        directives=(f"{ROOT}/AGENTS.md", f"{ROOT}/CLAUDE.md"),
        handover=Handover(text="The parser is half done.", at=1, files=(f"{ROOT}/parser.py",)),
        recent_log=("Fixed the lexer.",),
    )
    advice = started(work, "startup")
    told = "\n".join(advice.context)
    for part in ("fix #2", "phase look", "The parser is half done.", "Fixed the lexer."):
        assert part in told
    assert advice.preload == (f"{ROOT}/notes.md", f"{ROOT}/parser.py", f"{ROOT}/AGENTS.md")


def test_a_resumed_session_is_not_told_again() -> None:
    """Its context holds everything: one line is enough."""
    work = effort(preload=("/x",), handover=Handover(text="payload", at=1))
    assert len(started(work, "resume").context) == 1
    assert started(work, "resume").preload == ()
    assert "payload" in "".join(started(work, "compact").context)


def test_what_is_handed_over_is_bounded() -> None:
    """A huge handover is cut, and says so."""
    advice = started(effort(handover=Handover(text="x" * 50_000, at=1)), "clear")
    assert sum(map(len, advice.context)) < 8_000
    assert "left out" in advice.context[-1]


def test_queued_injections_are_delivered_once_and_not_to_sub_agents() -> None:
    """Those that were delivered are not sent again."""
    queued = Injection(id="i1", text="Look", at=1)
    gone = Injection(id="i2", text="Old", at=1, delivery=Delivery.DELIVERED)
    work = effort(injections=(queued, gone))
    sent = hook("PostToolUse", tool_name="Bash")
    inside = hook("PostToolUse", tool_name="Bash", agent_id="sub", agent_type="x")
    assert advise(work, window(), decode(sent)).injections == ("i1",)
    assert advise(work, window(), decode(inside)) == NO_ADVICE


def test_pending_preloads_are_what_the_window_has_not_read() -> None:
    """Of all that it should have read."""
    work = effort(preload=("/a", "/b"))
    assert files_to_preload(work) == ("/a", "/b")
    assert pending_preloads(work, window(loaded_files=("/a",))) == ("/b",)


@pytest.mark.parametrize("event", ["Stop", "Notification", "SessionEnd", "PreCompact", "Mystery"])
def test_other_events_are_answered_nothing(event: str) -> None:
    """Only what is asked is answered."""
    sent = hook(event)
    assert advise(effort(), window(heartbeat=50), decode(sent)) == NO_ADVICE
