"""Scenarios of Copilot CLI, each with every state that must be shown.

Copilot asks before every command that changes something. With `ALLOWED` it runs everything without asking. `UNTIL_GO`
is a command that creates the file `made` and runs until the file `go` exists. Two Esc interrupt a turn, one closes a
dialog.
"""

import subprocess
import sys
import time
from contextlib import suppress
from typing import Any

from tests.real_client.model import Block, refusal, reply, text, tool
from tests.real_client.run import Run
from tests.real_client.scenario import (
    Expected,
    Scenario,
    Step,
    answers,
    answers_by_api,
    creates_file,
    has,
    has_file,
    has_no_file,
    kills_client,
    kills_daemon,
    model_receives,
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
from tests.support import LIMIT_SECONDS, environment, wait_until

ALLOWED = ("--allow-all-tools",)
TRIES = 8
UNTIL_GO = "touch made; until [ -e go ]; do sleep 0.05; done"


def bash(command: str) -> Block:
    """A call of the shell."""
    return tool("bash", command=command, description="a step of the scenario")


def question(words: str, *options: str) -> Block:
    """A question with options."""
    colour: dict[str, Any] = {"type": "string", "title": "Choice", "enum": list(options)}
    schema = {"type": "object", "properties": {"choice": colour}, "required": ["choice"]}
    return tool("ask_user", message=words, requestedSchema=schema)


def installs_claude_code_hooks() -> Step:
    """Install the hooks of Claude Code in the project, where Copilot CLI runs them, too."""

    def step(run: Run) -> None:
        options = ("install", "--yes", "--client=claude-code", f"--config-dir={run.home.project / '.claude'}")
        subprocess.run(
            [sys.executable, "-m", "claude_headspace", *options],
            env=environment(run.installation.root),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=LIMIT_SECONDS,
            check=True,
        )

    return step


def removes_own_hooks() -> Step:
    """Remove the hooks of Copilot CLI."""
    return lambda run: (run.home.config_dir / "hooks" / "headspace.json").unlink()


def understands_everything() -> Step:
    """No event is a duplicate or has an unknown shape."""

    def step(run: Run) -> None:
        path = f"/api/agents/{run.agent()['id']}/events?odd=true"
        odd = run.installation.daemon.get(path).json()
        assert not odd, [(event["name"], event["anomaly"]) for event in odd]

    return step


def helper(prompt: str, description: str) -> Block:
    """A call that starts a sub-agent and waits for it."""
    given = {"description": description, "prompt": prompt, "agent_type": "explore", "name": "counter", "mode": "sync"}
    return tool("task") | {"input": given}


def escapes() -> Step:
    """Interrupt the turn: the second Esc counts only for a moment after the first one."""

    def step(run: Run) -> None:
        run.acted_at = time.time()
        for _ in range(TRIES):
            run.client.press("Escape")
            with suppress(AssertionError):
                wait_until(lambda: "esc again" in run.client.screen, "the question", limit=1.0)
                run.client.press("Escape")
                wait_until(lambda: "interrupt" not in run.client.screen, "the interrupt", limit=3.0)
                return
        raise AssertionError("the turn was not interrupted")

    return step


MAKE_IT = {"Make it": [reply(bash(UNTIL_GO)), reply(text("I made it."))]}
ASKED = [*starts_with("Make it"), shows("waiting: permission")]
RUNNING = [*starts_with("Make it", *ALLOWED), has_file("made"), has(tool__name="bash")]
MADE = Expected(["completed: Make it"], ["USER COMMAND: Make it", "AGENT COMPLETION: I made it."])
CUT_SHORT = Expected(["interrupted: Make it"], ["USER COMMAND: Make it"])

TURNS = [
    Scenario(
        "text turn",
        {"Fix the login": [reply(text("I fixed the login."))]},
        [*starts_with("Fix the login"), shows("idle")],
        Expected(["completed: Fix the login"], ["USER COMMAND: Fix the login", "AGENT COMPLETION: I fixed the login."]),
    ),
    Scenario(
        "failing tool",
        {"Test it": [reply(text("I run the tests."), bash("exit 3")), reply(text("The tests fail."))]},
        [*starts_with("Test it", *ALLOWED), shows("idle")],
        Expected(
            commands=["completed: Test it"],
            turns=["USER COMMAND: Test it", "AGENT PROGRESS: I run the tests.", "AGENT COMPLETION: The tests fail."],
        ),
    ),
    Scenario(
        "API error",
        {"Fix the login": [refusal(400)], "Try again": [reply(text("I fixed the login."))]},
        [*starts_with("Fix the login"), shows("error"), types("Try again"), shows("working", "idle")],
        Expected(
            commands=["failed: Fix the login", "completed: Try again"],
            turns=[
                "USER COMMAND: Fix the login",
                "AGENT END_OF_TASK: 400 scripted failure",
                "USER COMMAND: Try again",
                "AGENT COMPLETION: I fixed the login.",
            ],
        ),
    ),
    Scenario("tool", MAKE_IT, [*RUNNING, creates_file("go"), shows("idle")], MADE),
]

PERMISSIONS = [
    Scenario(
        "permission allowed",
        MAKE_IT,
        [*ASKED, answers("Yes"), shows("working"), has_file("made"), creates_file("go"), shows("idle")],
        MADE,
    ),
    Scenario("permission, Esc", MAKE_IT, [*ASKED, answers("Escape"), shows("idle"), has_no_file("made")], CUT_SHORT),
    Scenario(
        "permission denied",
        MAKE_IT,
        [
            *(*ASKED, pauses(1.0), presses("Down"), presses("Down"), pauses(0.5), presses("u", "s", "e", "Space", "m")),
            *(pauses(0.5), presses("Enter"), shows("working", "idle"), has_no_file("made")),
        ],
        Expected(
            commands=["completed: Make it"],
            turns=["USER COMMAND: Make it", "USER ANSWER: use m", "AGENT COMPLETION: I made it."],
        ),
    ),
    Scenario(
        "permission allowed through Headspace",
        MAKE_IT,
        [
            *(*ASKED, answers_by_api(decision="allow"), shows("working"), has_file("made")),
            *(creates_file("go"), shows("idle")),
        ],
        MADE,
    ),
    Scenario(
        "permission denied through Headspace",
        {"Make it": [reply(bash(UNTIL_GO)), reply(text("I made it."), held="words")]},
        [
            *(*ASKED, answers_by_api(decision="deny", message="use make"), shows("working"), releases("words")),
            *(shows("idle"), has_no_file("made"), model_receives("use make")),
        ],
        Expected(
            commands=["completed: Make it"],
            turns=["USER COMMAND: Make it", "USER ANSWER: use make", "AGENT COMPLETION: I made it."],
        ),
    ),
    Scenario(
        "call that a rule asks about, denied through Headspace",
        {"Make it": [reply(bash("sudo touch made")), reply(text("I made it."), held="words")]},
        [
            *(*starts_with("Make it", *ALLOWED), shows("waiting: permission"), answers_by_api(decision="deny")),
            *(shows("working"), releases("words"), shows("idle"), has_no_file("made")),
        ],
        Expected(
            commands=["completed: Make it"],
            turns=["USER COMMAND: Make it", "AGENT COMPLETION: I made it."],
        ),
    ),
]

INTERRUPTS = [
    Scenario("Esc while a tool runs", MAKE_IT, [*RUNNING, escapes(), shows("idle")], CUT_SHORT),
    Scenario(
        "Esc while the model replies",
        {"Make it": [reply(text("I made it."), streams="words")]},
        [*starts_with("Make it"), reaches("words"), escapes(), shows("idle")],
        CUT_SHORT,
    ),
    Scenario(
        "Esc before the first word",
        {"Make it": [reply(text("I made it."), held="words")]},
        [*starts_with("Make it"), reaches("words"), escapes(), shows("idle")],
        CUT_SHORT,
    ),
]

PAINT_IT = {"Paint it": [reply(question("Which color?", "Red", "Blue")), reply(text("I painted it."))]}
QUESTIONED = ["USER COMMAND: Paint it", "AGENT QUESTION: Which color?"]


def painted(answer: str) -> Expected:
    """The expected result of an answered question."""
    turns = [*QUESTIONED, f"USER ANSWER: {answer}", "AGENT COMPLETION: I painted it."]
    return Expected(["completed: Paint it"], turns)


QUESTIONS = [
    Scenario(
        "question answered",
        PAINT_IT,
        [*starts_with("Paint it"), shows("waiting: question"), pauses(1.5), presses("Enter"), shows("working", "idle")],
        painted("Red"),
    ),
    Scenario(
        "question answered through Headspace",
        PAINT_IT,
        [
            *(*starts_with("Paint it"), shows("waiting: question")),
            *(answers_by_api(answers={"Which color?": "Blue"}), shows("working", "idle")),
        ],
        painted("Blue"),
    ),
    Scenario(
        "question answered with another text through Headspace",
        PAINT_IT,
        [
            *(*starts_with("Paint it"), shows("waiting: question")),
            *(answers_by_api(answers={"Which color?": "a warm grey"}), shows("working", "idle")),
        ],
        painted("a warm grey"),
    ),
]

SUBAGENTS = [
    Scenario(
        "sub-agent",
        {
            "Count the lines": [
                reply(helper("Run wc on shop", "count lines")),
                reply(text("The helper counted 3 lines.")),
            ],
            "Run wc on shop": [reply(bash(UNTIL_GO)), reply(text("It has 3 lines."))],
        },
        [
            *(*starts_with("Count the lines", *ALLOWED), has(subagents__type=["explore"])),
            *(has_file("made"), has(subagents__tool__name=["bash"])),
            *(creates_file("go"), shows("idle"), has(subagents=[])),
        ],
        Expected(
            commands=["completed: Count the lines"],
            turns=["USER COMMAND: Count the lines", "AGENT COMPLETION: The helper counted 3 lines."],
        ),
    ),
]

GREETINGS = {"Say hello": [reply(text("Hello."))], "Say goodbye": [reply(text("Goodbye."))]}
GREETED = [*starts_with("Say hello"), shows("idle")]
GOODBYE = [types("Say goodbye"), shows("working", "idle")]
HELLO_TURNS = ["USER COMMAND: Say hello", "AGENT COMPLETION: Hello."]
GOODBYE_TURNS = ["USER COMMAND: Say goodbye", "AGENT COMPLETION: Goodbye."]
HELLO_DONE = Expected(["completed: Say hello"], HELLO_TURNS)
BOTH_DONE = Expected(["completed: Say hello", "completed: Say goodbye"], [*HELLO_TURNS, *GOODBYE_TURNS])
THREE_DONE = Expected(["completed: Say hello", *BOTH_DONE.commands], [*HELLO_TURNS, *HELLO_TURNS, *GOODBYE_TURNS])

SESSIONS = [
    Scenario("new conversation", GREETINGS, [*GREETED, types("/clear"), has(session__ordinal=2), *GOODBYE], BOTH_DONE),
    Scenario(
        "resume",
        GREETINGS,
        [
            *(*GREETED, types("/exit"), shows("ended")),
            # A continued session is locked and reported only with its first prompt; the log of the client names it.
            *(starts("--continue"), shows("idle"), types("Say goodbye"), shows("working", "idle")),
        ],
        BOTH_DONE,
    ),
    Scenario("exit", GREETINGS, [*GREETED, types("/exit"), shows("ended"), has(end_reason="closed")], HELLO_DONE),
    Scenario("kill -9", MAKE_IT, [*RUNNING, kills_client(), shows("ended")], CUT_SHORT),
    Scenario(
        "two in one directory",
        GREETINGS,
        [
            *(*GREETED, starts(), shows("idle", of=1), types("Say goodbye"), shows("working", "idle", of=1)),
            *(types("Say hello", into=0), shows("working", "idle")),
        ],
        THREE_DONE,
    ),
    Scenario(
        "daemon killed and restarted in a turn",
        MAKE_IT,
        [*RUNNING, kills_daemon(), creates_file("go"), pauses(2.0), starts_daemon(), shows("idle")],
        MADE,
        own_daemon=True,
    ),
]

PROJECT_HOOKS = [
    Scenario(
        "hooks of Claude Code in the project",
        MAKE_IT,
        [installs_claude_code_hooks(), *RUNNING, has(client="copilot"), creates_file("go"), shows("idle")],
        MADE,
    ),
    Scenario(
        "permission, and hooks of Claude Code in the project",
        MAKE_IT,
        [
            *(installs_claude_code_hooks(), *ASKED, answers("Yes"), shows("working"), has_file("made")),
            *(creates_file("go"), shows("idle"), pauses(1.0), understands_everything()),
        ],
        MADE,
    ),
    Scenario(
        "hooks of Claude Code in the project alone",
        MAKE_IT,
        [
            *(installs_claude_code_hooks(), removes_own_hooks()),
            *(*RUNNING, has(client="copilot"), creates_file("go"), shows("idle")),
        ],
        MADE,
    ),
]

ALL = [*TURNS, *PERMISSIONS, *INTERRUPTS, *QUESTIONS, *SUBAGENTS, *SESSIONS, *PROJECT_HOOKS]
WITHOUT_DAEMON = (
    "text turn",
    "API error",
    "permission allowed",
    "permission, Esc",
    "Esc while the model replies",
    "exit",
)
"""Scenarios that also run without a daemon."""
