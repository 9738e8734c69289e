"""Scenarios with the real Gemini CLI, each with every state that must be shown.

Nothing reports that a person approved a call in the terminal: the agent is shown as waiting until the tool has run.
With `ALLOWED` the client runs all tools without asking. `UNTIL_GO` is a command that creates the file `made` and runs
until the file `go` exists.
"""

from typing import TYPE_CHECKING

from tests.real_client.model import Block, refusal, reply, text, tool
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
    may_show,
    model_receives,
    pauses,
    presses,
    reaches,
    releases,
    shows,
    starts,
    starts_with,
    types,
)
from tests.support import wait_until

if TYPE_CHECKING:
    from tests.real_client.run import Run

CANCELLED = "Request cancelled."
ALLOWED = ("--approval-mode=yolo",)
UNTIL_GO = "touch made; until [ -e go ]; do sleep 0.05; done"


def reads(words: str) -> Step:
    """Wait until the client shows a text. Without a daemon, only this tells that a turn has ended."""

    def step(run: "Run") -> None:
        wait_until(lambda: words in run.client.screen, f"{words!r} on the screen")

    return step


def shell(command: str) -> Block:
    """A call of the shell."""
    return tool("run_shell_command", command=command, description="a step of the scenario")


def asks(words: str, *options: str) -> Block:
    """A question to the user."""
    choices = [{"label": option, "description": f"choose {option}"} for option in options]
    return tool("ask_user", questions=[{"question": words, "header": "Choice", "type": "choice", "options": choices}])


MAKE_IT = {"Make it": [reply(text("I make it."), shell("touch made")), reply(text("I made it."))]}
MADE = Expected(
    ["completed: Make it"], ["USER COMMAND: Make it", "AGENT PROGRESS: I make it.", "AGENT COMPLETION: I made it."]
)
NOT_MADE = Expected(
    ["interrupted: Make it", "completed: Try again"],
    [
        "USER COMMAND: Make it",
        "AGENT PROGRESS: I make it.",
        "USER COMMAND: Try again",
        "AGENT COMPLETION: I tried again.",
    ],
)
AGAIN = {"Try again": [reply(text("I tried again."))]}
TRIED_AGAIN = [presses("C-u"), types("Try again"), shows("working"), reads("I tried again."), shows("idle")]
INTERRUPTED = Expected(
    ["interrupted: Fix the login", "completed: Try again"],
    ["USER COMMAND: Fix the login", "USER COMMAND: Try again", "AGENT COMPLETION: I tried again."],
)

PAINT_IT = {"Paint it": [reply(asks("Which colour?", "Red", "Blue")), reply(text("I painted it."))]}


def painted(colour: str) -> Expected:
    """The result of an answered question."""
    return Expected(
        ["completed: Paint it"],
        [
            "USER COMMAND: Paint it",
            "AGENT QUESTION: Which colour?",
            f"USER ANSWER: Which colour? {colour}",
            "AGENT COMPLETION: I painted it.",
        ],
    )


GREETINGS = {"Say hello": [reply(text("Hello."))], "Say goodbye": [reply(text("Goodbye."))]}
GREETED = [*starts_with("Say hello"), reads("Hello."), shows("idle")]
GOODBYE = [types("Say goodbye"), shows("working"), reads("Goodbye."), shows("idle")]
HELLO_TURNS = ["USER COMMAND: Say hello", "AGENT COMPLETION: Hello."]
GOODBYE_TURNS = ["USER COMMAND: Say goodbye", "AGENT COMPLETION: Goodbye."]
HELLO_DONE = Expected(["completed: Say hello"], HELLO_TURNS)
BOTH_DONE = Expected(["completed: Say hello", "completed: Say goodbye"], [*HELLO_TURNS, *GOODBYE_TURNS])

TURNS = [
    Scenario(
        "text turn",
        {"Fix the login": [reply(text("I fixed the login."))]},
        [*starts_with("Fix the login"), reads("I fixed the login."), shows("idle")],
        Expected(["completed: Fix the login"], ["USER COMMAND: Fix the login", "AGENT COMPLETION: I fixed the login."]),
    ),
    Scenario(
        "ending question",
        {
            "Add a database": [reply(text("Which database do you want me to use?"))],
            "Take SQLite": [reply(text("I added SQLite."))],
        },
        [*starts_with("Add a database"), shows("waiting: question"), types("Take SQLite"), shows("working", "idle")],
        Expected(
            ["completed: Add a database"],
            [
                "USER COMMAND: Add a database",
                "AGENT QUESTION: Which database do you want me to use?",
                "USER ANSWER: Take SQLite",
                "AGENT COMPLETION: I added SQLite.",
            ],
        ),
    ),
    Scenario(
        "tool",
        {"Make it": [reply(shell(UNTIL_GO)), reply(text("I made it."))]},
        [
            *(*starts_with("Make it", *ALLOWED), has_file("made"), has(tool__name="run_shell_command")),
            *(creates_file("go"), shows("idle")),
        ],
        Expected(["completed: Make it"], ["USER COMMAND: Make it", "AGENT COMPLETION: I made it."]),
    ),
    Scenario(
        "failing tool",
        {"Read it": [reply(tool("read_file", file_path="missing.txt")), reply(text("It does not exist."))]},
        [*starts_with("Read it"), shows("idle")],
        Expected(["completed: Read it"], ["USER COMMAND: Read it", "AGENT COMPLETION: It does not exist."]),
    ),
    Scenario(
        "permission approved",
        MAKE_IT,
        [
            *(*starts_with("Make it"), shows("waiting: permission"), has(waits__tool=["run_shell_command"])),
            *(answers("Allow once"), shows("working", "idle"), has_file("made")),
        ],
        MADE,
    ),
    Scenario(
        "permission denied",
        MAKE_IT | AGAIN,
        [
            *(*starts_with("Make it"), shows("waiting: permission"), answers("No"), reads(CANCELLED), shows("idle")),
            *(has_no_file("made"), *TRIED_AGAIN),
        ],
        NOT_MADE,
    ),
    Scenario(
        "Esc at the dialog",
        MAKE_IT | AGAIN,
        [*starts_with("Make it"), shows("waiting: permission"), answers("Escape"), shows("idle"), *TRIED_AGAIN],
        NOT_MADE,
    ),
    Scenario(
        "Esc while streaming",
        {"Fix the login": [reply(text("I fix the login."), streams="words")]} | AGAIN,
        [
            *starts_with("Fix the login"),
            reaches("words"),
            presses("Escape"),
            reads(CANCELLED),
            shows("idle"),
            *TRIED_AGAIN,
        ],
        INTERRUPTED,
    ),
    Scenario(
        "Esc before the first word",
        {"Fix the login": [reply(text("I fix the login."), held="words")]} | AGAIN,
        [*starts_with("Fix the login"), reaches("words"), presses("Escape"), shows("idle"), *TRIED_AGAIN],
        INTERRUPTED,
    ),
    Scenario(
        "Esc in a tool",
        {"Fix the login": [reply(shell(UNTIL_GO)), reply(text("I fixed it."))]} | AGAIN,
        [*starts_with("Fix the login", *ALLOWED), has_file("made"), presses("Escape"), shows("idle"), *TRIED_AGAIN],
        INTERRUPTED,
    ),
    Scenario(
        "queued prompt",
        {
            "Fix the login": [reply(text("I fixed the login."), streams="words")],
            "Try again": [reply(text("I tried again."), held="again")],
        },
        [
            *(*starts_with("Fix the login"), reaches("words"), types("Try again"), releases("words")),
            *(reaches("again"), may_show("idle", "working"), has(state="working", command__text="Try again")),
            *(releases("again"), shows("idle")),
        ],
        Expected(
            ["completed: Fix the login", "completed: Try again"],
            [
                "USER COMMAND: Fix the login",
                "AGENT COMPLETION: I fixed the login.",
                "USER COMMAND: Try again",
                "AGENT COMPLETION: I tried again.",
            ],
        ),
    ),
    Scenario(
        "shell mode",
        GREETINGS,
        [
            *(*GREETED, presses("!"), reads("shell mode"), types("touch made"), has_file("made")),
            *(reads("Shell Command touch made"), pauses(1.0)),
            *(presses("Escape"), reads("Type your message"), *GOODBYE),
        ],
        BOTH_DONE,
    ),
    Scenario(
        "API error",
        {"Fix the login": [refusal(400)]} | AGAIN,
        [*starts_with("Fix the login"), reads("API Error"), shows("error"), *TRIED_AGAIN],
        Expected(
            ["failed: Fix the login", "completed: Try again"],
            [
                "USER COMMAND: Fix the login",
                'AGENT END_OF_TASK: [API Error: {"error":{"message":"scripted failure","code":400,"status":"FAILED",'
                '"type":"scripted"}}]',
                "USER COMMAND: Try again",
                "AGENT COMPLETION: I tried again.",
            ],
        ),
    ),
    Scenario(
        "question",
        PAINT_IT,
        [
            *(*starts_with("Paint it"), shows("waiting: question")),
            *(answers("Enter"), shows("working", "idle")),
        ],
        painted("Red"),
    ),
    Scenario(
        "permission approved through Headspace",
        MAKE_IT,
        [
            *(*starts_with("Make it"), shows("waiting: permission"), answers_by_api(decision="allow")),
            *(shows("working", "idle"), has_file("made")),
        ],
        MADE,
    ),
    Scenario(
        "permission denied through Headspace",
        MAKE_IT | AGAIN,
        [
            *(*starts_with("Make it"), shows("waiting: permission"), answers_by_api(decision="deny"), shows("idle")),
            *(has_no_file("made"), *TRIED_AGAIN),
        ],
        NOT_MADE,
    ),
    Scenario(
        "question answered through Headspace",
        PAINT_IT,
        [
            *(*starts_with("Paint it"), shows("waiting: question")),
            *(answers_by_api(answers={"Which colour?": "Blue"}), shows("working", "idle")),
        ],
        painted("Blue"),
    ),
    Scenario(
        "file written after an approval through Headspace",
        {"Write it": [reply(tool("write_file", file_path="made", content="one\ntwo\n")), reply(text("I wrote it."))]},
        [
            *(*starts_with("Write it"), shows("waiting: permission"), has(waits__tool=["write_file"])),
            *(answers_by_api(decision="allow"), shows("working", "idle"), has_file("made")),
        ],
        Expected(["completed: Write it"], ["USER COMMAND: Write it", "AGENT COMPLETION: I wrote it."]),
    ),
    Scenario(
        "guard",
        {
            "Set the key": [reply(tool("write_file", file_path=".env", content="KEY=1")), reply(text("I may not."))],
        },
        [
            *(*starts_with("Set the key", *ALLOWED), shows("idle"), has_no_file(".env")),
            model_receives(".env"),
        ],
        Expected(["completed: Set the key"], ["USER COMMAND: Set the key", "AGENT COMPLETION: I may not."]),
        settings={"policy_preset": "guard"},
    ),
]

REPORT = {"SummaryOfFindings": "s", "ExplorationTrace": [], "RelevantLocations": []}
OBJECTIVE = (
    "Your task is to do a deep investigation of the codebase to find all relevant files, code locations, architectural "
    "mental map and insights to solve for the following user objective: <objective> Find the shop </objective>"
)
"""What the client asks its sub-agent."""

SESSIONS = [
    Scenario(
        "new conversation",
        GREETINGS,
        [*GREETED, types("/clear"), pauses(1.0), has(session__ordinal=2, session__source="clear"), *GOODBYE],
        BOTH_DONE,
    ),
    Scenario(
        "resume",
        GREETINGS,
        [
            *(*GREETED, types("/quit"), shows("ended"), starts("--resume=latest"), shows("idle")),
            *(has(session__ordinal=2, session__source="resume"), pauses(5.0), *GOODBYE),
        ],
        BOTH_DONE,
    ),
    Scenario("exit", GREETINGS, [*GREETED, types("/quit"), shows("ended")], HELLO_DONE),
    Scenario("kill -9", GREETINGS, [*GREETED, kills_client(), shows("ended")], HELLO_DONE),
    Scenario("closed terminal", GREETINGS, GREETED, HELLO_DONE),
    Scenario(
        "compression",
        GREETINGS,
        [
            *(*GREETED, types("Say hello"), shows("working", "idle"), types("/compress"), shows("working", "idle")),
            *GOODBYE,
        ],
        Expected(
            ["completed: Say hello", "completed: Say hello", "completed: Say goodbye"],
            [*HELLO_TURNS, *HELLO_TURNS, *GOODBYE_TURNS],
        ),
    ),
    Scenario(
        "two in one directory",
        GREETINGS,
        [
            *(starts(), shows("idle"), starts(), shows("idle", of=1)),
            *(types("Say hello", into=0), shows("working", "idle", of=0)),
            *(types("Say goodbye", into=1), shows("working", "idle", of=1)),
        ],
        BOTH_DONE,
    ),
    Scenario(
        "sub-agent",
        {
            "Look around": [
                reply(tool("invoke_agent", agent_name="codebase_investigator", prompt="Find the shop")),
                reply(text("It is a shop.")),
            ],
            "Find the shop": [reply(tool("complete_task", report=REPORT), held="helper")],
        },
        [
            *(*starts_with("Look around", *ALLOWED), reaches("helper"), has(subagents__description=[OBJECTIVE])),
            *(releases("helper"), shows("idle"), has(subagents=[])),
        ],
        Expected(["completed: Look around"], ["USER COMMAND: Look around", "AGENT COMPLETION: It is a shop."]),
    ),
]

ALL = [*TURNS, *SESSIONS]
WITHOUT_DAEMON = ("text turn", "permission denied", "Esc while streaming", "API error", "new conversation")
"""Scenarios that also run while the daemon is down."""
