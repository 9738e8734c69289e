"""The rollouts of Codex: whose lines a file contains, which lines have facts, and how they are stored."""

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from claude_headspace.clients.codex import transcript_files
from claude_headspace.clients.prices import PRICES
from claude_headspace.clients.transcript_line import Line
from claude_headspace.kernel import facts
from claude_headspace.kernel.usage import ModelUsage, Tokens

MAIN, CHILD = "01a1e1b6-0b20-7f23-98fd-2586272a7ea3", "01a1e1b6-6874-7e70-88df-8d8e808f9eaa"


def line(kind: str, **payload: Any) -> dict[str, Any]:
    """A line of a rollout."""
    return {"timestamp": "2026-11-16T00:16:24.592Z", "ordinal": 0, "type": kind, "payload": payload}


def event(kind: str, **payload: Any) -> dict[str, Any]:
    """A line about an event."""
    return line("event_msg", type=kind, **payload)


def item(kind: str, **fields: Any) -> dict[str, Any]:
    """A line about an item of a turn."""
    return event("item_completed", turn_id="t1", item={"type": kind, **fields})


META = line("session_meta", id=MAIN, session_id=MAIN, cwd="/code", base_instructions={"text": "x"})
SPAWN = {"agent_nickname": "Raman", "agent_role": None}
SOURCE = {"subagent": {"thread_spawn": SPAWN}}
CHILD_META = line("session_meta", id=CHILD, session_id=MAIN, parent_thread_id=MAIN, cwd="/code", source=SOURCE)


def rollout(config_dir: Path, thread: str, lines: Iterable[dict[str, Any]]) -> str:
    """Write a rollout."""
    path = config_dir / "sessions/2026/11/16" / f"rollout-2026-11-16T00-16-06-{thread}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{json.dumps(each)}\n" for each in lines))
    return str(path)


def read(path: str, start: int = 0) -> list[tuple[bytes, Line]]:
    """The lines of a file from a position."""
    return list(transcript_files.read_lines(path, Path(path).read_bytes()[start:], start))


def found(path: str, start: int = 0) -> list[facts.Fact]:
    """The facts in a file from a position."""
    return [fact for _, each in read(path, start) for fact in each.facts]


def test_rollouts_are_found_below_their_dates(tmp_path: Path) -> None:
    """Those of sub-agents last, whatever their age. Other files are no rollouts."""
    child, main = rollout(tmp_path, CHILD, [CHILD_META]), rollout(tmp_path, MAIN, [META])
    os.utime(child, (1, 1))
    [root] = transcript_files.roots(tmp_path)
    (root / "2026/11/16/rollout-notes.jsonl").write_text("{}\n")
    assert [path for path, _ in transcript_files.find_transcripts([root])] == [main, child]
    assert not transcript_files.is_transcript(str(root / "rollout.jsonl"), root)
    assert [transcript_files.is_subagent(path) for path in (main, child)] == [False, True]
    assert [transcript_files.session_of(path) for path in (main, child)] == [MAIN, MAIN]


def test_a_line_is_stored_with_its_session(tmp_path: Path) -> None:
    """Also if an earlier part of the file was read before. Instructions are not stored."""
    path = rollout(tmp_path, CHILD, [CHILD_META, event("task_complete", turn_id="t1", last_agent_message="Done.")])
    start = Path(path).read_bytes().index(b"\n") + 1
    [(raw, each)] = read(path, start)
    stored = json.loads(raw)
    assert (each.session_id, each.subagent_id, each.cwd) == (MAIN, CHILD, "/code")
    assert (stored["session_id"], stored["subagent_id"]) == (MAIN, CHILD)
    assert each.facts == (facts.SubagentStopped("Done."),)
    headless = line("session_meta", id=MAIN, originator="codex_exec", base_instructions={"text": "secret"})
    [(raw, _)] = read(rollout(tmp_path, MAIN, [headless]))
    assert b"secret" not in raw


def test_a_file_without_its_first_line_belongs_to_its_thread(tmp_path: Path) -> None:
    """The name of the file contains the thread."""
    path = rollout(tmp_path, "01a1e1b7-0000-7382-a71f-e26f9d232e97", [item("AgentMessage", content=[{"text": "Hi"}])])
    assert [each.session_id for _, each in read(path)] == ["01a1e1b7-0000-7382-a71f-e26f9d232e97"]


def test_a_sub_agent_is_described(tmp_path: Path) -> None:
    """Its type and its name; its messages are not the agent's."""
    lines = [CHILD_META, item("UserMessage", content=[{"text": "go"}]), item("AgentMessage", content=[{"text": "Hi"}])]
    assert found(rollout(tmp_path, CHILD, lines)) == [
        facts.SubagentStarted(),
        facts.SubagentDescribed("default", "Raman"),
    ]


def test_injected_texts_are_no_prompts(tmp_path: Path) -> None:
    """Only items of the user are; the conversation also has what the client adds."""
    injected = line("response_item", type="message", role="user", content=[{"text": "<environment_context>"}])
    lines = [META, injected, item("UserMessage", content=[{"type": "text", "text": "Fix it"}])]
    assert found(rollout(tmp_path, MAIN, lines)) == [facts.UserWrote("Fix it", joins_turn=True)]


def result(output: str) -> dict[str, Any]:
    """The result of a call."""
    return line("response_item", type="function_call_output", call_id="c1", output=output)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (event("turn_aborted", turn_id="t1", reason="interrupted"), facts.TurnInterrupted()),
        (result("Wall time: 3.9 seconds\naborted by user"), facts.TurnInterrupted()),
        (result("aborted by user after 2.6s"), facts.TurnInterrupted()),
        (result("Chunk ID: 1\nProcess exited with code 0\nOutput:\naborted by user"), facts.ToolFinished("c1", "")),
        (result("Process exited with code 3\nOutput:\n"), facts.ToolFailed("c1", "", error="exit code 3")),
        (result("Process exited with code 0\nOutput:\nExit code: 1\n"), facts.ToolFinished("c1", "")),
        (result('{"answers":{"a":{"answers":["Red"]}}}'), facts.ToolFinished("c1", "", answer="Red")),
        (line("compacted", message="…", replacement_history=[]), facts.SessionStarted("compact")),
        (
            event("task_complete", error={"message": "too many", "codex_error_info": {"rate_limit": {}}}),
            facts.TurnFailed("rate_limit", "too many"),
        ),
        (
            event("task_complete", error={"message": "bad", "codex_error_info": "other"}),
            facts.TurnFailed("api_error", "bad"),
        ),
        (
            event("task_complete", turn_id="t1", last_agent_message="Done."),
            facts.TurnClosed(end=facts.TurnStopped("Done.", leaves_subagents=True)),
        ),
        (
            event("token_count", info={"last_token_usage": {"total_tokens": 9}, "model_context_window": 100}),
            facts.UsageMeasured(tokens=9, window=100),
        ),
        (
            event("token_count", rate_limits={"primary": {"used_percent": 4.5, "resets_at": 7}}),
            facts.UsageMeasured(limits=(facts.RateLimit("primary", 4.5, 7),)),
        ),
        (event("user_message", message="Fix it"), facts.UserWrote("Fix it", joins_turn=True)),
        (event("agent_message", message="Fixed."), facts.AgentWrote("Fixed.")),
        (
            item("CollabAgentToolCall", id="c1", tool="spawn_agent", receiver_thread_ids=[CHILD]),
            facts.ToolFinished("c1", "spawn_agent", background_subagent=CHILD),
        ),
    ],
)
def test_a_line_has_its_fact(given: dict[str, Any], expected: facts.Fact, tmp_path: Path) -> None:
    """What hooks omit, and what they report too: if the daemon was down, the rollout is the only source."""
    assert found(rollout(tmp_path, MAIN, [META, given])) == [expected]


def test_a_call_is_described_as_hooks_describe_it(tmp_path: Path) -> None:
    """The model's names and arguments differ, the call is the same."""
    shell = {"cmd": "touch x", "sandbox_permissions": "require_escalated", "justification": "May I?"}
    calls = [
        line("response_item", type="function_call", call_id="c1", name="exec_command", arguments=json.dumps(shell)),
        line("response_item", type="custom_tool_call", call_id="c2", name="apply_patch", input="*** Add File: a\n+b\n"),
        line("response_item", type="function_call", call_id="c3", namespace="mcp__fs", name="read", arguments="{}"),
    ]
    started = [fact for fact in found(rollout(tmp_path, MAIN, [META, *calls])) if isinstance(fact, facts.ToolStarted)]
    assert [(call.call_id, call.tool, call.summary) for call in started] == [
        ("c1", "Bash", "touch x"),
        ("c2", "apply_patch", "a"),
        ("c3", "mcp__fs__read", ""),
    ]


def test_a_plan_is_asked_about_when_its_turn_ended(tmp_path: Path) -> None:
    """The plan is in the same part of the file or before it. A plan of another turn does not count."""
    plan, end = item("Plan", text="# Plan"), event("task_complete", turn_id="t1", last_agent_message=None)
    path = rollout(tmp_path, MAIN, [META, plan, end, event("task_complete", turn_id="t2")])
    start = Path(path).read_bytes().rindex(b'{"timestamp"', 0, Path(path).read_bytes().index(b"task_complete"))
    for position in (0, start):
        first, second = [fact for fact in found(path, position) if isinstance(fact, facts.TurnClosed)]
        assert first.end is not None
        assert second.end is not None
        assert first.end.ask is not None
        assert (first.end.ask.kind, first.end.ask.text, second.end.ask) == ("plan", "# Plan", None)


def test_usage_names_the_model_of_its_turn(tmp_path: Path) -> None:
    """The line with the usage has no model; the one with the settings of the turn was read before."""
    usage = event("token_count", info={"last_token_usage": {"total_tokens": 9}})
    path = rollout(tmp_path, MAIN, [META, line("turn_context", cwd="/code", model="gpt-6"), usage])
    assert found(path) == [facts.UsageMeasured(model="gpt-6", tokens=9)]


def test_all_tokens_of_a_thread_are_reported(tmp_path: Path) -> None:
    """The cached ones are separate from the input."""
    totals = {"input_tokens": 300, "cached_input_tokens": 200, "output_tokens": 40}
    usage = event("token_count", info={"last_token_usage": {"total_tokens": 9}, "total_token_usage": totals})
    [fact] = found(rollout(tmp_path, MAIN, [META, usage]))
    assert isinstance(fact, facts.UsageMeasured)
    assert fact.totals == (ModelUsage(tokens=Tokens(100, 200, 0, 40)),)


def test_cost_is_computed_from_all_tokens(tmp_path: Path) -> None:
    """For a known model, also if the file was read before. Several models, or an unknown one: the cost is unknown."""
    totals = {"input_tokens": 2_000_000, "cached_input_tokens": 1_000_000, "output_tokens": 1_000_000}
    usage = event("token_count", info={"last_token_usage": {"total_tokens": 9}, "total_token_usage": totals})

    def cost(thread: str, *models: str) -> tuple[object, object]:
        turns = [line("turn_context", model=model) for model in models]
        path = rollout(tmp_path, thread, [META, *turns, usage])
        whole = found(path)[-1]
        transcript_files._models.pop(path)
        rest = found(path, Path(path).read_bytes().rindex(b'{"timestamp"'))[-1]
        assert isinstance(whole, facts.UsageMeasured)
        assert isinstance(rest, facts.UsageMeasured)
        return whole.cost_usd, rest.cost_usd

    price = PRICES["gpt-6.1-sol"]
    expected = price.input + price.cached + price.output
    assert cost(MAIN, "gpt-6.1-sol", "gpt-6.1-sol") == (expected, expected)
    assert cost(CHILD, "gpt-6.1-sol", "gpt-6-astra") == (None, None)
    assert cost("01a1e1b7-47a1-72b3-9d04-e545d74921fa", "lab-model") == (None, None)
