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
    has_file,
    has_no_file,
    reaches,
    releases,
    shows,
    starts,
    starts_with,
    types,
)

PROMPT = "Make it"
MADE = Expected(
    [f"completed: {PROMPT}"], [f"USER COMMAND: {PROMPT}", "USER ANSWER: answered", "AGENT COMPLETION: I made it."]
)


def asking(command: str, **arguments: Any) -> Block:
    """A shell command for which Codex asks."""
    return tool(
        "exec_command", cmd=command, sandbox_permissions="require_escalated", justification="May I?", **arguments
    )


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
        {PROMPT: [reply(text("I made it."))], "And this": [reply(text("Done."))]},
        [
            *starts_with(PROMPT),
            shows("idle"),
            starts(),
            shows("idle", of=1),
            types("And this"),
            shows("working", "idle", of=1),
            ends_codex(),
            shows("ended"),
            shows("ended", of=1),
        ],
        Expected(
            [f"completed: {PROMPT}", "completed: And this"],
            [*TURNS, "USER COMMAND: And this", "AGENT COMPLETION: Done."],
        ),
    ),
    Scenario(
        "API error",
        {PROMPT: [refusal(400)]},
        [*starts_with(PROMPT), shows("error"), ends_codex(), shows("ended")],
        Expected([f"failed: {PROMPT}"], [f"USER COMMAND: {PROMPT}"]),
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
