"""Recorded transcripts of the real client: the facts of each line, and the state that follows from them alone."""

from pathlib import Path

import msgspec
import pytest

from claude_headspace.clients.claude_code.transcript import read_line
from claude_headspace.clients.decode import decode
from claude_headspace.clients.transcript_line import Line
from claude_headspace.kernel import facts
from claude_headspace.kernel.envelope import Envelope, Observations, Origin
from claude_headspace.kernel.facts import Fact
from tests.kernel.story import Story, envelope

TRANSCRIPTS = Path(__file__).parents[2] / "replay" / "transcripts"
VERSIONS = ("2.1.197", "2.1.325")


def short(text: str) -> str:
    """The beginning of a text, without the script of a prompt."""
    return text.partition(" @@")[0].strip().splitlines()[0][:40]


def describe(fact: Fact) -> str:
    """A fact as in the table below. Usage is left out, because many lines have it."""
    match fact:
        case facts.UserWrote(text, queued):
            return f"user: {short(text)}" + (" (queued)" if queued else "")
        case facts.AgentWrote(text, final):
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
    """The recording of a version. A name without a version is of the newer one."""
    return TRANSCRIPTS / (f"{name}.jsonl" if version == "2.1.325" else f"{name}.{version}.jsonl")


def lines_of(name: str, version: str) -> list[Line]:
    """The lines of a recording that have facts."""
    found = (read_line(raw) for raw in path_of(name, version).read_bytes().splitlines())
    return [line for line in found if line is not None]


def described_facts(name: str, version: str) -> list[str]:
    """The facts of a recording, described."""
    parts = [fact for line in lines_of(name, version) for fact in line.facts]
    measured = [fact for fact in parts if not (isinstance(fact, facts.UsageMeasured) and fact.cost_usd is None)]
    return [describe(fact) for fact in measured]


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
"""The facts of each recording. Where versions differ, the name has the version."""

RECORDINGS = [
    (path.name.removesuffix(".jsonl").removesuffix(".2.1.197"), "2.1.197" if ".2.1.197." in path.name else "2.1.325")
    for path in sorted(TRANSCRIPTS.glob("*.jsonl"))
]


@pytest.mark.parametrize(("name", "version"), RECORDINGS)
def test_recorded_lines_become_facts(name: str, version: str) -> None:
    """Prompts, messages, calls, interrupts, errors and ends."""
    expected = EXPECTED.get(name) or EXPECTED[f"{name}.{version}"]
    found = [fact for fact in described_facts(name, version) if not fact.startswith("cost")]
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


def wrapped_lines(name: str, version: str) -> list[Envelope]:
    """The lines of a recording in envelopes, oldest first, as the watcher submits them."""
    described_facts, newest = [], 0
    for raw in path_of(name, version).read_bytes().splitlines():
        line = read_line(raw)
        if line is not None:
            newest = line.at or newest
            wrapped = envelope("TranscriptLine", 0, raw, origin=Origin.TRANSCRIPT, observations=Observations())
            described_facts.append(msgspec.structs.replace(wrapped, fired_at=newest))
    return sorted(described_facts, key=lambda each: each.fired_at)


@pytest.mark.parametrize(("name", "version"), [each for each in RECORDINGS if "subagents" not in each[0]])
def test_a_transcript_alone_gives_the_state(name: str, version: str) -> None:
    """A daemon that was down for the whole session derives the same state."""
    story = Story()
    for wrapped in wrapped_lines(name, version):
        story.apply(decode(wrapped))
    outcomes = [command.outcome for command in sorted(story.commands.values(), key=lambda each: each.started_at)]
    found = " ".join([story.agent.state.value, *(outcome.value if outcome else "None" for outcome in outcomes)])
    assert found == ALONE.get(f"{name}.{version}", ALONE.get(name, "idle completed"))
