"""Transcript lines become facts; unknown and invalid lines raise nothing."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claude_headspace.clients import transcript_line
from claude_headspace.clients.claude_code.transcript import is_message, read_line
from claude_headspace.clients.decode import decode
from claude_headspace.clients.transcript_line import LONGEST_STRING, Line
from claude_headspace.kernel import facts
from claude_headspace.kernel.envelope import Origin
from claude_headspace.kernel.facts import Fact
from claude_headspace.kernel.novelty import is_repetition, measured_tokens
from claude_headspace.kernel.sanitize import Bounds, cut
from claude_headspace.kernel.usage import ModelUsage, Tokens
from claude_headspace.kernel.wait.request import Ask
from tests.kernel.story import Story, envelope


def truncate(raw: bytes, bounds: Bounds) -> bytes:
    """A line as it is stored."""
    return transcript_line.truncate(raw, bounds, is_message)


# --- single lines -----------------------------------------------------------------------------------------------------


def line(**fields: object) -> bytes:
    """A line of a session."""
    known: dict[str, object] = {"sessionId": "session-1", "uuid": "u1", "timestamp": "2026-11-15T09:26:47.583Z"}
    return json.dumps(known | fields).encode()


def user(content: object, **fields: object) -> bytes:
    """A line of the user."""
    return line(type="user", message={"role": "user", "content": content}, **fields)


def assistant(
    *blocks: dict[str, object], model: str = "claude-opus-5-5", stop: str = "end_turn", **fields: object
) -> bytes:
    """A line of the model."""
    message = {"role": "assistant", "model": model, "stop_reason": stop, "content": list(blocks)}
    return line(type="assistant", message=message, **fields)


def facts_of(raw: bytes) -> tuple[Fact, ...]:
    """The facts of a line."""
    found = read_line(raw)
    return found.facts if found is not None else ()


def test_a_line_has_its_own_time_session_and_key() -> None:
    """The time has milliseconds, and the id of the line is its key."""
    found = read_line(user("Fix it", cwd="/home/dev/app"))
    assert found == Line(1_794_734_807_583_000, "session-1", "u1", "/home/dev/app", (facts.UserWrote("Fix it"),))


def test_a_line_without_an_id_is_identified_by_its_content() -> None:
    """The same line in a copy of the file has the same key."""
    given = {"operation": "enqueue", "content": "Two", "uuid": None}
    one, copy = (
        read_line(line(type="queue-operation", **given)),
        read_line(line(type="queue-operation", **given) + b"\n"),
    )
    other = read_line(line(type="queue-operation", **(given | {"content": "Three"})))
    assert one is not None
    assert copy is not None
    assert other is not None
    assert one.key == copy.key != other.key


@pytest.mark.parametrize("timestamp", [None, 17, "", "yesterday", "2026-11-15T09:26:47.583"])
def test_a_line_without_a_time_zone_has_no_time(timestamp: object) -> None:
    """The reader of the file supplies another one."""
    found = read_line(user("Fix it", timestamp=timestamp))
    assert found is not None
    assert found.at is None


@pytest.mark.parametrize(
    "content",
    [
        "<command-name>/clear</command-name>\n<command-message>clear</command-message>",
        "<local-command-stdout>Goodbye!</local-command-stdout>",
        "<local-command-caveat>The command below was run directly</local-command-caveat>",
        "<bash-stdout>out</bash-stdout><bash-stderr></bash-stderr>",
        "<system-reminder>Be brief.</system-reminder>",
        "   ",
        [],
        [{"type": "image", "source": {}}],
    ],
)
def test_local_commands_and_reminders_are_not_prompts(content: object) -> None:
    """Nor is the output of local commands."""
    assert facts_of(user(content)) == ()


@pytest.mark.parametrize("flag", ["isMeta", "isCompactSummary"])
def test_injected_text_is_no_prompt(flag: str) -> None:
    """The user did not type it."""
    assert facts_of(user("Continue from where you left off.", **{flag: True})) == ()


def test_a_custom_command_is_a_prompt() -> None:
    """With the text that was typed, as in its hook."""
    parts = {"message": "greet", "name": "/greet", "args": "Ann"}
    text = "\n".join(f"<command-{name}>{value}</command-{name}>" for name, value in parts.items())
    assert facts_of(user(text)) == (facts.UserWrote("/greet Ann"),)


def test_a_shell_command_of_the_user_is_a_prompt() -> None:
    """No hook reports a `!` command."""
    assert facts_of(user("<bash-input>ls -l</bash-input>")) == (facts.UserWrote("! ls -l"),)


def test_a_prompt_with_a_picture_is_its_text() -> None:
    """All pieces of text are one prompt."""
    blocks = [{"type": "text", "text": "Look:"}, {"type": "image"}, {"type": "text", "text": "wrong, isn't it?"}]
    assert facts_of(user(blocks)) == (facts.UserWrote("Look:\nwrong, isn't it?"),)


def test_a_prompt_of_a_program_is_headless() -> None:
    """The entrypoint shows `-p`."""
    assert facts_of(user("Fix it", entrypoint="sdk-cli")) == (
        facts.UserWrote("Fix it"),
        facts.ClientReported("", headless=True),
    )


def test_a_call_refused_by_a_rule_does_not_end_the_turn() -> None:
    """Hooks and rules refuse calls, too."""
    result = [{"type": "tool_result", "tool_use_id": "t1", "is_error": True, "content": "Not allowed."}]
    assert facts_of(user(result, toolDenialKind="hook-denied")) == (facts.ToolRefused("t1", "", reason="Not allowed."),)


def test_synthetic_messages_are_not_replies() -> None:
    """The text “No response requested.” means that the turn was interrupted. Others have no meaning."""
    for text, expected in (("No response requested.", (facts.TurnInterrupted(),)), ("(no content)", ())):
        assert (
            facts_of(assistant({"type": "text", "text": text}, model="<synthetic>", isApiErrorMessage=False))
            == expected
        )


def test_usage_replaces_earlier_usage() -> None:
    """Cached tokens count. The context of a sub-agent is separate."""
    usage = {"input_tokens": 10, "cache_creation_input_tokens": 20, "cache_read_input_tokens": 30, "output_tokens": 99}
    message = {"role": "assistant", "model": "m", "stop_reason": "tool_use", "content": [], "usage": usage}
    assert facts_of(line(type="assistant", message=message)) == (facts.UsageMeasured(model="m", tokens=60),)
    assert facts_of(line(type="assistant", message=message, isSidechain=True, agentId="a1")) == ()


def test_a_cost_with_unknown_prices_is_none() -> None:
    """Only known costs are shown."""
    assert facts_of(line(type="cost-state", totalCostUSD=0.5)) == (facts.UsageMeasured(cost_usd=0.5),)
    assert facts_of(line(type="cost-state", totalCostUSD=0.5, hasUnknownModelCost=True)) == ()


def test_tokens_and_costs_by_model() -> None:
    """They are totals of the session. If a price is not known, none of its costs is; fields of another type count 0."""
    opus = {"inputTokens": 1, "outputTokens": 2, "cacheReadInputTokens": 3, "cacheCreationInputTokens": 4}
    models = {"opus": opus | {"costUSD": 0.5}, "other": "?", "broken": {"inputTokens": "many"}}
    tokens = Tokens(1, 3, 4, 2)
    assert facts_of(line(type="cost-state", totalCostUSD=0.5, modelUsage=models)) == (
        facts.UsageMeasured(cost_usd=0.5, totals=(ModelUsage(model="opus", tokens=tokens, cost_usd=0.5),)),
    )
    unknown = line(type="cost-state", totalCostUSD=0.5, modelUsage=models, hasUnknownModelCost=True)
    assert facts_of(unknown) == (facts.UsageMeasured(totals=(ModelUsage(model="opus", tokens=tokens),)),)
    assert facts_of(line(type="cost-state", modelUsage=[1])) == ()


def test_removed_prompts_leave_the_queue() -> None:
    """All of them when they return to the input box."""
    assert facts_of(line(type="queue-operation", operation="popAll")) == (facts.PromptUnqueued(""),)
    assert facts_of(line(type="queue-operation", operation="dequeue")) == ()


def test_an_included_prompt_has_no_time() -> None:
    """Its line has the time when it was typed, not when the turn included it."""
    found = read_line(line(type="attachment", attachment={"type": "queued_command", "prompt": "Two"}))
    assert found is not None
    assert (found.at, found.facts) == (None, (facts.PromptUnqueued("Two"),))


def test_included_background_results_are_delivered() -> None:
    """Also without a separate turn."""
    given = "<task-notification>\n<task-id>b1</task-id>\n</task-notification>"
    raw = line(type="attachment", attachment={"type": "queued_command", "prompt": given})
    assert facts_of(raw) == (facts.PromptSubmitted(given, "b1"),)


def test_a_call_has_the_same_digest_as_in_hooks() -> None:
    """White space is ignored, because the dialog of a call must match it."""
    spaced = b'{"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "ls",  "n": 1}}'
    (call,) = facts_of(b'{"type":"assistant","sessionId":"s","message":{"model":"m","content":[%s]}}' % spaced)
    hook = decode(
        envelope("PreToolUse", 1, b'{"tool_name":"Bash","tool_use_id":"t1","tool_input":{"command":"ls","n":1}}')
    )
    assert call == hook.fact


def test_facts_that_hooks_report_too_are_recognised() -> None:
    """Starts and ends of calls; not questions, answers, messages and interrupts."""
    assert is_repetition((facts.ToolStarted("t1", "Bash", "", ""), facts.UsageMeasured(tokens=1)))
    assert is_repetition((facts.ToolFinished("t1", ""),))
    assert not is_repetition((facts.ToolStarted("t1", "AskUserQuestion", "", "", Ask("question")),))
    assert not is_repetition((facts.ToolFinished("t1", "", answer="Red"),))
    assert not is_repetition((facts.AgentWrote("Hi."), facts.UsageMeasured(tokens=1)))
    assert not is_repetition((facts.TurnInterrupted(),))


def test_tokens_are_found_among_the_facts() -> None:
    """Where usage was measured."""
    assert measured_tokens((facts.AgentWrote("Hi."), facts.UsageMeasured(tokens=7))) == 7
    assert measured_tokens((facts.AgentWrote("Hi."),)) is None


BOUNDS = Bounds()

# --- what is kept -----------------------------------------------------------------------------------------------------


def test_a_short_line_is_unchanged() -> None:
    """Byte for byte."""
    raw = user("Fix it", unheardOf={"a": [1, 2]})
    assert truncate(raw, BOUNDS) == raw


def test_a_long_line_is_cut_except_messages() -> None:
    """Contents of files are cut. Messages and short values stay."""
    said = "word " * 20_000
    raw = assistant({"type": "text", "text": said}, contents="x" * 100_000, unheardOf=7)
    kept = json.loads(truncate(raw, BOUNDS))
    assert kept["message"]["content"][0]["text"] == said
    assert kept["contents"] == cut("x" * 100_000, LONGEST_STRING)
    assert kept["unheardOf"] == 7
    assert facts_of(truncate(raw, BOUNDS)) == facts_of(raw)


def test_messages_have_a_limit() -> None:
    """One line cannot fill the journal."""
    said = "x" * (BOUNDS.message * 2)
    assert json.loads(truncate(user(said), BOUNDS))["message"]["content"] == cut(said, BOUNDS.message)
    assert len(truncate(b'{"a":' * 100_000, BOUNDS)) <= BOUNDS.result + 100
    assert len(truncate(user(["x" * 1_000] * 10_000), BOUNDS)) <= BOUNDS.message * 2


# --- anything else ----------------------------------------------------------------------------------------------------

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
KINDS = st.sampled_from(["user", "assistant", "system", "attachment", "queue-operation", "cost-state", "summary"])
KNOWN = st.sampled_from(
    """
    message content type subtype uuid timestamp sessionId attachment operation isMeta
    toolUseResult toolDenialKind isSidechain agentId totalCostUSD compactMetadata promptId
    """.split()
)
BLOCKS = st.lists(
    st.fixed_dictionaries(
        {"type": st.sampled_from(["text", "tool_use", "tool_result", "image"])},
        optional=dict.fromkeys(("text", "id", "name", "input", "tool_use_id", "is_error", "content"), JSON),
    ),
    max_size=3,
)


def read_completely(raw: bytes) -> None:
    """Read a line with every function."""
    read_line(raw)
    truncate(raw, BOUNDS)
    event = decode(envelope("TranscriptLine", 1, raw, origin=Origin.TRANSCRIPT))
    Story().apply(event)


@given(st.binary(max_size=200))
def test_any_bytes_are_read(raw: bytes) -> None:
    """Nothing raises."""
    read_completely(raw)


@given(KINDS, st.dictionaries(KNOWN, JSON, max_size=6))
def test_any_object_is_read(kind: str, fields: dict[str, object]) -> None:
    """Known names with any values."""
    read_completely(json.dumps({"sessionId": "session-1"} | fields | {"type": kind}).encode())


@given(KINDS, BLOCKS | JSON, st.dictionaries(KNOWN, JSON, max_size=3))
def test_any_message_is_read(kind: str, content: object, fields: dict[str, object]) -> None:
    """Known blocks with any content."""
    message = {"model": "m", "stop_reason": "end_turn", "content": content}
    read_completely(json.dumps(fields | {"sessionId": "session-1", "type": kind, "message": message}).encode())


@pytest.mark.parametrize("depth", [500, 5_000, 200_000])
def test_deep_lines_are_read(depth: int) -> None:
    """Deep nesting raises nothing."""
    read_completely(b'{"type":"user","sessionId":"s","message":{"content":' + b"[" * depth + b"]" * depth + b"}}")


@pytest.mark.parametrize(("written", "known"), [("feat/login", "feat/login"), ("HEAD", None), (None, None)])
def test_a_line_has_the_branch(written: str | None, known: str | None) -> None:
    """Outside of repositories the client writes HEAD, which is no branch."""
    raw = {"type": "user", "sessionId": "one", "gitBranch": written, "message": {"role": "user", "content": "Hello."}}
    line = read_line(json.dumps(raw).encode())
    assert line is not None
    assert line.branch == known
