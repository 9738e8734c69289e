"""Scenarios of Codex with its shared daemon: approvals, errors, and sessions that outlive their terminals."""

from typing import Any

from tests.real_client.model import Block, refusal, reply, text, tool
from tests.real_client.scenario import (
    Expected,
    Scenario,
    Step,
    answers,
    answers_by_api,
    answers_twice,
    grants_by_api,
    has,
    has_file,
    has_no_file,
    kills_daemon,
    pauses,
    presses,
    reaches,
    releases,
    shows,
    starts,
    starts_daemon,
    starts_with,
    types,
)
from tests.real_clients.models import cell, codex_agent, patch

PROMPT = "Make it"
PATCH = "*** Begin Patch\n*** Add File: made\n+hello\n*** End Patch\n"
REASON = {"sandbox_permissions": "require_escalated", "justification": "May I?"}
SECOND_PATCH = "*** Begin Patch\n*** Update File: made\n@@\n-hello\n+goodbye\n*** End Patch\n"


def asking(command: str, **arguments: Any) -> Block:
    """A shell command for which Codex asks."""
    return tool("exec_command", cmd=command, **REASON, **arguments)


def closes_terminal() -> Step:
    """Close the terminal of the newest client."""
    return lambda run: run.act(run.client.close)


def ends_codex() -> Step:
    """End the daemon of Codex, and with it all its sessions."""
    return lambda run: run.act(run.home.end_processes)


MAKES = {PROMPT: [reply(asking("touch made")), reply(text("I made it."))]}
ASKED: list[Step] = [*starts_with(PROMPT), shows("waiting: permission")]
DONE: list[Step] = [shows("working", "idle"), has_file("made"), ends_codex(), shows("ended")]
TURNS = [f"USER COMMAND: {PROMPT}", "AGENT COMPLETION: I made it."]
COMPLETED = Expected([f"completed: {PROMPT}"], TURNS)

SCENARIOS = [
    Scenario(
        "approval answered through the API",
        MAKES,
        [*ASKED, answers_by_api(decision="allow"), *DONE],
        COMPLETED,
    ),
    Scenario("approval answered in the terminal", MAKES, [*ASKED, answers("Yes"), *DONE], COMPLETED),
    Scenario("approval answered twice", MAKES, [*ASKED, answers_twice("Yes", decision="allow"), *DONE], COMPLETED),
    Scenario("approval with a rule", MAKES, [*ASKED, grants_by_api("rule"), *DONE], COMPLETED),
    Scenario(
        "approval denied through the API",
        {PROMPT: [reply(asking("touch made")), reply(text("I did not make it."))]},
        [
            *ASKED,
            answers_by_api(decision="deny"),
            shows("working", "idle"),
            has_no_file("made"),
            ends_codex(),
            shows("ended"),
        ],
        Expected([f"completed: {PROMPT}"], [f"USER COMMAND: {PROMPT}", "AGENT COMPLETION: I did not make it."]),
    ),
    Scenario(
        "approval denied with a reason",
        {PROMPT: [reply(asking("touch made")), reply(text("I did not make it."), held="next")]},
        [
            *ASKED,
            answers_by_api(decision="deny", message="Use another name"),
            shows("working"),
            reaches("next"),
            releases("next"),
            shows("idle"),
            has_no_file("made"),
            ends_codex(),
            shows("ended"),
        ],
        Expected(
            [f"completed: {PROMPT}"],
            [f"USER COMMAND: {PROMPT}", "USER ANSWER: Use another name", "AGENT COMPLETION: I did not make it."],
        ),
    ),
    Scenario(
        "file change answered through the API",
        {PROMPT: [reply(patch(PATCH)), reply(text("I made it."))]},
        [*ASKED, answers_by_api(decision="allow"), *DONE],
        COMPLETED,
    ),
    Scenario(
        "patch approved in the terminal",
        {PROMPT: [reply(patch(PATCH)), reply(text("I made it."), held="next")]},
        [*ASKED, answers("Yes"), shows("working"), reaches("next"), releases("next"), shows("idle"), *DONE[1:]],
        COMPLETED,
    ),
    Scenario(
        "further patches of the same files",
        {PROMPT: [reply(patch(PATCH)), reply(patch(SECOND_PATCH)), reply(text("I made it."), held="next")]},
        [
            *ASKED,
            answers("a"),
            shows("working"),
            reaches("next"),
            pauses(2),
            releases("next"),
            shows("idle"),
            *DONE[1:],
        ],
        COMPLETED,
    ),
    Scenario(
        "two approvals at once, answered in the terminal",
        {PROMPT: [reply(cell("touch made", "touch other", **REASON)), reply(text("I made it."))]},
        [
            *(*ASKED, has(waits__kind=["permission", "permission"]), answers("Yes")),
            *(has(waits__kind=["permission"]), answers("Yes"), *DONE),
        ],
        COMPLETED,
    ),
    Scenario(
        "approval open while Headspace restarts",
        MAKES,
        [*ASKED, kills_daemon(), starts_daemon(), answers_by_api(decision="allow"), *DONE],
        COMPLETED,
        own_daemon=True,
    ),
    Scenario(
        "Esc at the dialog",
        MAKES,
        [*ASKED, presses("Escape"), shows("idle"), has_no_file("made"), ends_codex(), shows("ended")],
        Expected([f"interrupted: {PROMPT}"], [f"USER COMMAND: {PROMPT}"]),
    ),
    Scenario(
        "resumed after it was quit",
        {PROMPT: [reply(text("I made it."))], "And this": [reply(text("I did that."))]},
        [
            *(*starts_with(PROMPT), shows("idle"), types("/quit"), starts("resume", "--last")),
            *(shows("ended", "idle"), types("And this"), shows("working", "idle"), ends_codex(), shows("ended")),
        ],
        Expected(
            [f"completed: {PROMPT}", "completed: And this"],
            [*TURNS, "USER COMMAND: And this", "AGENT COMPLETION: I did that."],
        ),
    ),
    Scenario(
        "quit",
        {PROMPT: [reply(text("I made it."))]},
        [*starts_with(PROMPT), shows("idle"), types("/quit"), pauses(30), shows("ended")],
        COMPLETED,
    ),
    Scenario(
        "terminal closed in a turn",
        {PROMPT: [reply(text("I made it."), streams="half")]},
        [
            *starts_with(PROMPT),
            reaches("half"),
            closes_terminal(),
            releases("half"),
            shows("idle"),
            ends_codex(),
            shows("ended"),
        ],
        COMPLETED,
    ),
    Scenario(
        "two terminals in one directory",
        {PROMPT: [reply(text("I made it."))], "And this": [reply(text("I did that."))]},
        [
            *starts_with(PROMPT),
            shows("idle"),
            starts(),
            shows("idle", of=1),
            types("And this"),
            shows("working", "idle", of=1),
            ends_codex(),
            *(shows("ended"), shows("ended", of=1), has(crashed=True), has(of=1, crashed=True)),
        ],
        Expected(
            [f"completed: {PROMPT}", "completed: And this"],
            [*TURNS, "USER COMMAND: And this", "AGENT COMPLETION: I did that."],
        ),
    ),
    Scenario(
        "API error",
        {PROMPT: [refusal(400)]},
        [*starts_with(PROMPT), shows("error"), ends_codex(), shows("ended")],
        Expected([f"failed: {PROMPT}"], [f"USER COMMAND: {PROMPT}", "AGENT END_OF_TASK: scripted failure"]),
    ),
]
WITHOUT_DAEMON = [
    Scenario(
        "no Headspace",
        MAKES,
        [*ASKED, answers("Yes"), shows("working", "idle"), has_file("made"), ends_codex()],
        COMPLETED,
    )
]
WITH_OLDER_MODEL = [
    Scenario(
        "sub-agent that outlives the turn",
        {
            PROMPT: [reply(codex_agent("Look around")), reply(text("I made it."))],
            "Look around": [reply(text("I looked around."), held="looking")],
        },
        [
            starts(),
            *(shows("idle"), types(PROMPT), shows("working"), reaches("looking")),
            pauses(4),
            releases("looking"),
            shows("idle"),
            ends_codex(),
            shows("ended"),
        ],
        COMPLETED,
    ),
]
"""Scenarios with the first version of sub-agents, which only older models have."""
