"""A line of a transcript becomes facts: recorded ones as the table says, anything else without a complaint."""

import json
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from claude_headspace.kernel import facts
from claude_headspace.kernel.bounds import Bounds, cut
from claude_headspace.kernel.decode import decode
from claude_headspace.kernel.envelope import Context, Envelope, Origin
from claude_headspace.kernel.facts import Fact
from claude_headspace.kernel.transcript import (
    LONGEST_STRING,
    Line,
    bounded,
    is_repetition,
    measured_tokens,
    read_line,
)
from tests.kernel.story import Story, envelope

TRANSCRIPTS = Path(__file__).parent.parent / "replay" / "transcripts"
VERSIONS = ("2.1.197", "2.1.325")


def short(text: str) -> str:
    """The first words: a prompt's script is left out."""
    return text.partition(" @@")[0].strip().splitlines()[0][:40]


def in_words(fact: Fact) -> str:
    """A fact as the table below says it; usage is told by the lines themselves, again and again."""
    match fact:
        case facts.UserSpoke(text, queued):
            return f"user: {short(text)}" + (" (queued)" if queued else "")
        case facts.AgentSpoke(text, final):
            return f"agent: {short(text)}" + (" (final)" if final else "")
        case facts.ToolStarted(_, tool, _, _, ask):
            return f"calls {tool}" + (f" and asks: {short(ask.text)}" if ask else "")
        case facts.ToolFinished(_, _, _, answer, task, subagent):
            more = [answer.replace("\n", "; "), task and "a shell runs on", subagent and "a sub-agent runs on"]
            return ", ".join(["ran", *(str(part) for part in more if part)])
        case facts.ToolFailed(_, _, _, error):
            return f"failed: {error}"
        case facts.ToolRejected(_, feedback):
            return "rejected" + (f": {feedback}" if feedback else "")
        case facts.TurnFailed(error, message):
            return f"error {error}: {message[:14]}"
        case facts.PromptSubmitted(_, str()):
            return "a task came back"
        case facts.TurnClosed(pending):
            return "closed" + (f", {pending} pending" if pending else "")
        case facts.SessionStarted(source):
            return f"session: {source}"
        case facts.PromptQueued(text, task) | facts.PromptUnqueued(text, task):
            what = "queued" if isinstance(fact, facts.PromptQueued) else "unqueued"
            return f"{what}: {short(text)}" if task is None else f"news of a task {what}"
        case _:
            return PLAIN[type(fact)]


PLAIN = {
    facts.TurnInterrupted: "interrupted",
    facts.SubagentStarted: "sub-agent starts",
    facts.SubagentStopped: "sub-agent ends",
    facts.UsageMeasured: "cost",
}


def path_of(name: str, version: str) -> Path:
    """The recording of a version; those without a version in their name are of the newer one."""
    return TRANSCRIPTS / (f"{name}.jsonl" if version == "2.1.325" else f"{name}.{version}.jsonl")


def lines_of(name: str, version: str) -> list[Line]:
    """The lines of a recording that say something."""
    found = (read_line(raw) for raw in path_of(name, version).read_bytes().splitlines())
    return [line for line in found if line is not None]


def told(name: str, version: str) -> list[str]:
    """What a recording tells, in words."""
    parts = [fact for line in lines_of(name, version) for fact in line.facts]
    measured = [fact for fact in parts if not (isinstance(fact, facts.UsageMeasured) and fact.cost_usd is None)]
    return [in_words(fact) for fact in measured]


EXPECTED = {
    "api_400": """
        user: go
        error unknown: API Error: 400
        closed
    """,
    "api_529": """
        user: go
        error server_error: API Error: 529
        closed
    """,
    "ask_answer": """
        user: go
        calls AskUserQuestion and asks: Which colour?
        ran, Which colour? Blue
        agent: Thanks for answering. (final)
        closed
    """,
    "ask_esc.2.1.197": """
        user: go
        calls AskUserQuestion and asks: Which colour?
        rejected
        interrupted
        user: again
        agent: Still here. (final)
        closed
    """,
    "ask_esc.2.1.325": """
        user: go
        calls AskUserQuestion and asks: Which colour?
        rejected
        interrupted
        closed
        user: again
        agent: Still here. (final)
        closed
    """,
    "ask_multi": """
        user: go
        calls AskUserQuestion and asks: Which colour?
        ran, Which colour? Red; Which sizes? Small, Large
        agent: Thanks for answering. (final)
        closed
    """,
    "auto_compact": """
        user: hello
        agent: Hi. (final)
        closed
        user: more
        calls Bash
        ran
        agent: Full. (final)
        closed
        user: last
        session: compact
        agent: Done. (final)
        closed
    """,
    "background_bash": """
        user: go
        calls Bash
        ran, a shell runs on
        agent: It runs in the background. (final)
        closed
        news of a task queued
        a task came back
        agent: All steps are done. (final)
        closed
    """,
    "clear.1": """
        user: hello
        agent: Hi. (final)
        closed
    """,
    "clear.2": """
        user: fresh
        agent: Fresh. (final)
        closed
    """,
    "compact": """
        user: hello
        agent: Hi. (final)
        closed
        user: go
        calls Bash
        ran
        agent: Ran. (final)
        closed
        session: compact
        user: after
        agent: Compacted. (final)
        closed
    """,
    "ctx_prompt.2.1.197": """
        closed
        user: hello
        agent: Hi. (final)
    """,
    "ctx_prompt.2.1.325": """
        user: hello
        agent: Hi. (final)
        closed
    """,
    "esc_before_stream": """
        user: go
        user: again
        agent: Still here. (final)
        closed
    """,
    "esc_stream.2.1.197": """
        user: go
        agent: thinking aloud.
        interrupted
        user: again
        agent: Still here. (final)
        closed
    """,
    "esc_stream.2.1.325": """
        user: go
        agent: thinking aloud.
        interrupted
        interrupted
        user: again
        agent: Still here. (final)
        closed
    """,
    "esc_tool": """
        user: go
        agent: Running.
        calls Bash
        rejected
        interrupted
        user: again
        agent: Still here. (final)
        closed
    """,
    "kill9.2.1.197": """
        user: go
        calls Bash
        interrupted
        user: again
        agent: Continued. (final)
        closed
    """,
    "kill9.2.1.325": """
        user: go
        calls Bash
        interrupted
        interrupted
        user: again
        agent: Continued. (final)
        closed
    """,
    "parallel_bash": """
        user: go
        calls Bash
        calls Bash
        calls Bash
        ran
        ran
        ran
        agent: All ran. (final)
        closed
    """,
    "perm_approve": """
        user: go
        calls Bash
        ran
        agent: After the tool. (final)
        closed
    """,
    "perm_esc.2.1.197": """
        user: go
        calls Bash
        rejected
        interrupted
        user: again
        agent: Still here. (final)
        closed
    """,
    "perm_esc.2.1.325": """
        user: go
        calls Bash
        rejected
        interrupted
        closed
        user: again
        agent: Still here. (final)
        closed
    """,
    "perm_feedback.2.1.197": """
        user: go
        calls Bash
        rejected
        interrupted
    """,
    "perm_feedback.2.1.325": """
        user: go
        calls Bash
        rejected: use another name
        agent: After the tool. (final)
        closed
    """,
    "plain.2.1.197": """
        closed
        user: hello
        agent: Hi there. (final)
        user: more
        agent: Fuller. (final)
        closed
    """,
    "plain.2.1.325": """
        user: hello
        agent: Hi there. (final)
        closed
        user: more
        agent: Fuller. (final)
        closed
    """,
    "plan_approve": """
        user: plan it
        calls Write
        ran
        calls ExitPlanMode and asks: 1. Do x
        ran
        agent: After the plan. (final)
        closed
    """,
    "plan_reject.2.1.197": """
        user: plan it
        calls Write
        ran
        calls ExitPlanMode and asks: 1. Do x
        rejected
        interrupted
        user: again
        agent: Still planning. (final)
        closed
    """,
    "plan_reject.2.1.325": """
        user: plan it
        calls Write
        ran
        calls ExitPlanMode and asks: 1. Do x
        rejected
        interrupted
        closed
        user: again
        agent: Still planning. (final)
        closed
    """,
    "prompt_blocked": """
        interrupted
    """,
    "queued.2.1.197": """
        user: go
        calls Bash
        queued: also this
        ran
        unqueued: also this
        agent: Second answer. (final)
        closed
        user: slow
        queued: and then
        agent: thinking aloud. (final)
        agent: Slow answer. (final)
        closed
        user: and then (queued)
        agent: Third answer. (final)
        closed
    """,
    "queued.2.1.325": """
        user: go
        calls Bash
        queued: also this
        ran
        unqueued: also this
        unqueued: also this
        agent: Second answer. (final)
        closed
        user: slow
        queued: and then
        agent: thinking aloud. (final)
        agent: Slow answer. (final)
        closed
        user: and then (queued)
        agent: Third answer. (final)
        closed
    """,
    "rename": """
        user: hello
        agent: Hi. (final)
        closed
    """,
    "resume": """
        user: hello
        agent: Hi. (final)
        closed
        user: again
        agent: Resumed. (final)
        closed
    """,
    "resume_inside.1": """
        user: fresh
        agent: Fresh. (final)
        closed
    """,
    "resume_inside.2.2.1.197": """
        agent: Hi. (final)
        user: hello
        closed
        user: again
        agent: Back. (final)
        closed
    """,
    "resume_inside.2.2.1.325": """
        user: hello
        agent: Hi. (final)
        closed
        user: again
        agent: Back. (final)
        closed
    """,
    "shell_command": """
        user: ! echo from-user
        agent: Hello from the scripted model. (final)
        closed
    """,
    "subagent.2.1.197": """
        user: go
        calls Agent
        ran
        agent: Main done. (final)
        closed
    """,
    "subagent.2.1.325": """
        user: go
        calls Agent
        ran, a sub-agent runs on
        agent: Main done. (final)
        closed, 1 pending
        news of a task queued
        a task came back
        agent: All steps are done. (final)
        closed
    """,
    "subagent.subagents.agent0": """
        sub-agent starts
        calls Bash
        ran
        sub-agent ends
    """,
    "subagent_esc.2.1.197": """
        user: go
        calls Agent
        rejected
        interrupted
    """,
    "subagent_esc.2.1.325": """
        user: go
        calls Agent
        ran, a sub-agent runs on
        agent: Main done. (final)
        closed, 1 pending
    """,
    "subagent_esc.subagents.agent0": """
        sub-agent starts
        calls Bash
        rejected
        interrupted
    """,
    "subagent_esc.subagents.agent1": """
        sub-agent starts
        calls Bash
        failed: Exit code 137
    """,
    "tool_fail": """
        user: go
        calls Bash
        failed: Exit code 3 oops
        agent: It failed. (final)
        closed
    """,
}
"""What each recording tells; where the versions differ, the name says which one it is."""

RECORDINGS = [
    (path.name.removesuffix(".jsonl").removesuffix(".2.1.197"), "2.1.197" if ".2.1.197." in path.name else "2.1.325")
    for path in sorted(TRANSCRIPTS.glob("*.jsonl"))
]


@pytest.mark.parametrize(("name", "version"), RECORDINGS)
def test_recorded_lines_become_facts(name: str, version: str) -> None:
    """Prompts, words, calls, interrupts, errors and ends are read from what the real client wrote."""
    expected = EXPECTED.get(name) or EXPECTED[f"{name}.{version}"]
    found = [fact for fact in told(name, version) if not fact.startswith("cost")]
    assert found == [line.strip() for line in expected.strip().splitlines()]


ALONE = {
    "api_400": "error failed",
    "api_529": "error failed",
    "auto_compact": "idle completed completed completed",
    "background_bash": "idle completed completed",
    "compact": "idle completed completed completed",
    "esc_before_stream": "idle superseded completed",
    "kill9": "idle interrupted completed",
    "perm_feedback.2.1.197": "idle interrupted",
    "perm_feedback": "idle completed",
    "queued": "idle completed completed completed",
    "subagent_esc": "working None",
    "subagent_esc.2.1.197": "idle interrupted",
    **dict.fromkeys(("ask_esc", "esc_stream", "esc_tool", "perm_esc", "plan_reject"), "idle interrupted completed"),
    **dict.fromkeys(("plain", "resume", "resume_inside.2"), "idle completed completed"),
    **dict.fromkeys(("prompt_blocked",), "idle"),
}
"""The state and the outcomes of commands that follow from a transcript alone; where nothing is said, one completed."""


def sealed_lines(name: str, version: str) -> list[Envelope]:
    """The lines of a recording in envelopes, oldest first, as the tailer hands them in."""
    told, newest = [], 0
    for raw in path_of(name, version).read_bytes().splitlines():
        line = read_line(raw)
        if line is not None:
            newest = line.at or newest
            sealed = envelope("TranscriptLine", 0, raw, origin=Origin.TRANSCRIPT, context=Context())
            told.append(msgspec.structs.replace(sealed, fired_at=newest))
    return sorted(told, key=lambda each: each.fired_at)


@pytest.mark.parametrize(("name", "version"), [each for each in RECORDINGS if "subagents" not in each[0]])
def test_a_transcript_alone_gives_the_state(name: str, version: str) -> None:
    """A daemon that was down for the whole session knows how it stands."""
    story = Story()
    for sealed in sealed_lines(name, version):
        story.take(decode(sealed))
    outcomes = [command.outcome for command in sorted(story.commands.values(), key=lambda each: each.started_at)]
    found = " ".join([story.agent.state.value, *(outcome.value if outcome else "None" for outcome in outcomes)])
    assert found == ALONE.get(f"{name}.{version}", ALONE.get(name, "idle completed"))


# --- single lines -----------------------------------------------------------------------------------------------------


def line(**fields: object) -> bytes:
    """A line of a session."""
    known: dict[str, object] = {"sessionId": "session-1", "uuid": "u1", "timestamp": "2026-11-15T09:26:47.583Z"}
    return json.dumps(known | fields).encode()


def user(content: object, **fields: object) -> bytes:
    """A line in the human's name."""
    return line(type="user", message={"role": "user", "content": content}, **fields)


def assistant(
    *blocks: dict[str, object], model: str = "claude-opus-5-5", stop: str = "end_turn", **fields: object
) -> bytes:
    """A line in the model's name."""
    message = {"role": "assistant", "model": model, "stop_reason": stop, "content": list(blocks)}
    return line(type="assistant", message=message, **fields)


def facts_of(raw: bytes) -> tuple[Fact, ...]:
    """What a line says."""
    found = read_line(raw)
    return found.facts if found is not None else ()


def test_a_line_has_its_own_time_session_and_key() -> None:
    """Times are the client's, to the millisecond; the id of the line recognises it again."""
    found = read_line(user("Fix it", cwd="/home/dev/app"))
    assert found == Line(1_794_734_807_583_000, "session-1", "u1", "/home/dev/app", (facts.UserSpoke("Fix it"),))


def test_a_line_without_an_id_is_known_by_its_words() -> None:
    """The same line in a copy of the file is the same; another one is not."""
    told = {"operation": "enqueue", "content": "Two", "uuid": None}
    one, copy = read_line(line(type="queue-operation", **told)), read_line(line(type="queue-operation", **told) + b"\n")
    other = read_line(line(type="queue-operation", **(told | {"content": "Three"})))
    assert one is not None
    assert copy is not None
    assert other is not None
    assert one.key == copy.key != other.key


@pytest.mark.parametrize("timestamp", [None, 17, "", "yesterday", "2026-11-15T09:26:47.583"])
def test_a_line_without_a_time_says_so(timestamp: object) -> None:
    """A time without a zone could be any: who reads the file knows better."""
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
def test_what_stands_where_prompts_do_is_not_always_one(content: object) -> None:
    """Local commands, what they print, and reminders were not said to the agent."""
    assert facts_of(user(content)) == ()


@pytest.mark.parametrize("flag", ["isMeta", "isCompactSummary"])
def test_injected_text_is_no_prompt(flag: str) -> None:
    """Nobody typed it."""
    assert facts_of(user("Continue from where you left off.", **{flag: True})) == ()


def test_a_command_that_becomes_a_prompt_is_one() -> None:
    """A custom command is told as it was typed, as its hook tells it."""
    parts = {"message": "greet", "name": "/greet", "args": "Ann"}
    text = "\n".join(f"<command-{name}>{value}</command-{name}>" for name, value in parts.items())
    assert facts_of(user(text)) == (facts.UserSpoke("/greet Ann"),)


def test_a_shell_command_of_the_human_is_a_prompt() -> None:
    """A `!` command has no hook at all."""
    assert facts_of(user("<bash-input>ls -l</bash-input>")) == (facts.UserSpoke("! ls -l"),)


def test_a_prompt_with_a_picture_is_its_words() -> None:
    """The pieces of text are one prompt."""
    blocks = [{"type": "text", "text": "Look:"}, {"type": "image"}, {"type": "text", "text": "wrong, isn't it?"}]
    assert facts_of(user(blocks)) == (facts.UserSpoke("Look:\nwrong, isn't it?"),)


def test_a_prompt_of_a_program_shows_that_nobody_sits_there() -> None:
    """`-p` is told by the entrypoint."""
    assert facts_of(user("Fix it", entrypoint="sdk-cli")) == (
        facts.UserSpoke("Fix it"),
        facts.ClientReported("", headless=True),
    )


def test_a_refusal_that_is_not_the_humans_lets_the_turn_go_on() -> None:
    """Hooks and rules refuse calls too."""
    result = [{"type": "tool_result", "tool_use_id": "t1", "is_error": True, "content": "Not allowed."}]
    assert facts_of(user(result, toolDenialKind="hook-denied")) == (facts.ToolRefused("t1", "", reason="Not allowed."),)


def test_words_of_the_client_in_the_models_place_are_not_the_models() -> None:
    """That no response was requested means that the turn before was broken off; nothing else is said by it."""
    for text, told in (("No response requested.", (facts.TurnInterrupted(),)), ("(no content)", ())):
        assert facts_of(assistant({"type": "text", "text": text}, model="<synthetic>", isApiErrorMessage=False)) == told


def test_usage_replaces_and_is_never_added_up() -> None:
    """All that was read of the context counts, cached or not; a sub-agent's context is its own."""
    usage = {"input_tokens": 10, "cache_creation_input_tokens": 20, "cache_read_input_tokens": 30, "output_tokens": 99}
    message = {"role": "assistant", "model": "m", "stop_reason": "tool_use", "content": [], "usage": usage}
    assert facts_of(line(type="assistant", message=message)) == (facts.UsageMeasured(model="m", tokens=60),)
    assert facts_of(line(type="assistant", message=message, isSidechain=True, agentId="a1")) == ()


def test_a_cost_with_unknown_prices_is_none() -> None:
    """What is not known is not shown."""
    assert facts_of(line(type="cost-state", totalCostUSD=0.5)) == (facts.UsageMeasured(cost_usd=0.5),)
    assert facts_of(line(type="cost-state", totalCostUSD=0.5, hasUnknownModelCost=True)) == ()


def test_withdrawn_prompts_leave_the_queue() -> None:
    """All of them when they go back to the input box."""
    assert facts_of(line(type="queue-operation", operation="popAll")) == (facts.PromptUnqueued(""),)
    assert facts_of(line(type="queue-operation", operation="dequeue")) == ()


def test_a_prompt_that_was_taken_in_has_no_time_of_its_own() -> None:
    """Its line has the time when it was typed, not when it was taken in."""
    found = read_line(line(type="attachment", attachment={"type": "queued_command", "prompt": "Two"}))
    assert found is not None
    assert (found.at, found.facts) == (None, (facts.PromptUnqueued("Two"),))


def test_finished_work_that_was_taken_in_came_back() -> None:
    """Also when it did not become a turn of its own."""
    told = "<task-notification>\n<task-id>b1</task-id>\n</task-notification>"
    raw = line(type="attachment", attachment={"type": "queued_command", "prompt": told})
    assert facts_of(raw) == (facts.PromptSubmitted(told, "b1"),)


def test_a_call_has_the_digest_that_hooks_give_it() -> None:
    """White space does not count: the dialog of a call must find it."""
    spaced = b'{"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "ls",  "n": 1}}'
    (call,) = facts_of(b'{"type":"assistant","sessionId":"s","message":{"model":"m","content":[%s]}}' % spaced)
    hook = decode(
        envelope("PreToolUse", 1, b'{"tool_name":"Bash","tool_use_id":"t1","tool_input":{"command":"ls","n":1}}')
    )
    assert call == hook.fact


def test_what_hooks_tell_too_is_known_as_such() -> None:
    """The course of calls is; a question, its answer, words and interrupts are not."""
    assert is_repetition((facts.ToolStarted("t1", "Bash", "", ""), facts.UsageMeasured(tokens=1)))
    assert is_repetition((facts.ToolFinished("t1", ""),))
    assert not is_repetition((facts.ToolStarted("t1", "AskUserQuestion", "", "", facts.Ask("question")),))
    assert not is_repetition((facts.ToolFinished("t1", "", answer="Red"),))
    assert not is_repetition((facts.AgentSpoke("Hi."), facts.UsageMeasured(tokens=1)))
    assert not is_repetition((facts.TurnInterrupted(),))


def test_tokens_are_found_among_the_facts() -> None:
    """Where usage was measured."""
    assert measured_tokens((facts.AgentSpoke("Hi."), facts.UsageMeasured(tokens=7))) == 7
    assert measured_tokens((facts.AgentSpoke("Hi."),)) is None


BOUNDS = Bounds()

# --- what is kept -----------------------------------------------------------------------------------------------------


def test_a_short_line_is_kept_as_it_is() -> None:
    """Not a byte differs."""
    raw = user("Fix it", unheardOf={"a": [1, 2]})
    assert bounded(raw, BOUNDS) == raw


def test_a_long_line_is_cut_but_not_what_was_said() -> None:
    """Contents of files go; the words of a turn stay, and so does everything that is short."""
    said = "word " * 20_000
    raw = assistant({"type": "text", "text": said}, contents="x" * 100_000, unheardOf=7)
    kept = json.loads(bounded(raw, BOUNDS))
    assert kept["message"]["content"][0]["text"] == said
    assert kept["contents"] == cut("x" * 100_000, LONGEST_STRING)
    assert kept["unheardOf"] == 7
    assert facts_of(bounded(raw, BOUNDS)) == facts_of(raw)


def test_even_words_have_an_end() -> None:
    """A line cannot fill the journal."""
    said = "x" * (BOUNDS.speech * 2)
    assert json.loads(bounded(user(said), BOUNDS))["message"]["content"] == cut(said, BOUNDS.speech)
    assert len(bounded(b'{"a":' * 100_000, BOUNDS)) <= BOUNDS.result + 100
    assert len(bounded(user(["x" * 1_000] * 10_000), BOUNDS)) <= BOUNDS.speech * 2


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


def understood(raw: bytes) -> None:
    """Read a line in every way that there is."""
    read_line(raw)
    bounded(raw, BOUNDS)
    event = decode(envelope("TranscriptLine", 1, raw, origin=Origin.TRANSCRIPT))
    Story().take(event)


@given(st.binary(max_size=200))
def test_any_bytes_are_read(raw: bytes) -> None:
    """Whatever a file holds, nothing is raised."""
    understood(raw)


@given(KINDS, st.dictionaries(KNOWN, JSON, max_size=6))
def test_any_object_is_read(kind: str, fields: dict[str, object]) -> None:
    """Known names with any values."""
    understood(json.dumps({"sessionId": "session-1"} | fields | {"type": kind}).encode())


@given(KINDS, BLOCKS | JSON, st.dictionaries(KNOWN, JSON, max_size=3))
def test_any_message_is_read(kind: str, content: object, fields: dict[str, object]) -> None:
    """Known blocks with any contents."""
    message = {"model": "m", "stop_reason": "end_turn", "content": content}
    understood(json.dumps(fields | {"sessionId": "session-1", "type": kind, "message": message}).encode())


@pytest.mark.parametrize("depth", [500, 5_000, 200_000])
def test_deep_lines_are_read(depth: int) -> None:
    """Nesting without end overflows nothing."""
    understood(b'{"type":"user","sessionId":"s","message":{"content":' + b"[" * depth + b"]" * depth + b"}}")


@pytest.mark.parametrize(("told", "known"), [("feat/login", "feat/login"), ("HEAD", None), (None, None)])
def test_a_line_tells_the_branch(told: str | None, known: str | None) -> None:
    """The client's own word; outside of repositories it says HEAD, which is none."""
    raw = {"type": "user", "sessionId": "one", "gitBranch": told, "message": {"role": "user", "content": "Hello."}}
    line = read_line(json.dumps(raw).encode())
    assert line is not None
    assert line.branch == known
