"""Scenarios with the real opencode, each with every state that must be shown.

The client reports nothing before the first prompt: an agent appears with it, idle at first. Shell commands and edits
need a permission. `UNTIL_GO` is a command that creates the file `made` and runs until the file `go` exists.
"""

from tests.real_client.model import Block, refusal, reply, text, tool
from tests.real_client.run import Run
from tests.real_client.scenario import (
    Expected,
    Scenario,
    Step,
    answers,
    answers_by_api,
    creates_file,
    grants_by_api,
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
    runs_headless,
    shows,
    starts,
    starts_daemon,
    types,
)
from tests.real_client.turn_scenarios import UNTIL_GO
from tests.support import wait_until

PERMISSION = "waiting: permission"
ONCE, REJECT = "Enter", "Escape"
"""The keys of the dialog: it opens with the option to allow once."""


def bash(command: str) -> Block:
    """A call of the shell tool."""
    return tool("bash", command=command, description="a step of the scenario")


def starts_with(prompt: str, *options: str) -> list[Step]:
    """A client starts and gets a prompt, with which its agent appears."""
    return [starts(*options), types(prompt), shows("idle", "working")]


def reads(words: str) -> Step:
    """The terminal shows these words. The first turn of a client begins late, which no screen pattern shows."""

    def step(run: Run) -> None:
        wait_until(lambda: words in run.client.screen, f"{words!r} on the screen")

    return step


def interrupts() -> list[Step]:
    """Esc twice: the first one only asks."""
    return [presses("Escape"), pauses(0.4), presses("Escape")]


MAKE_IT = {"Make it": [reply(bash("touch made")), reply(text("I made it."))]}
MADE = Expected(["completed: Make it"], ["USER COMMAND: Make it", "AGENT COMPLETION: I made it."])
CUT_SHORT = Expected(["interrupted: Make it"], ["USER COMMAND: Make it"])
RUN_IT = {"Make it": [reply(bash(UNTIL_GO)), reply(text("I made it."))]}
RUNNING = [*starts_with("Make it"), shows(PERMISSION), answers(ONCE), shows("working"), has_file("made")]

QUESTION = tool(
    "question",
    questions=[
        {
            "question": "Which colour?",
            "header": "Colour",
            "options": [{"label": "Red", "description": "warm"}, {"label": "Blue", "description": "cool"}],
        }
    ],
)

TURNS = [
    Scenario(
        "text turn",
        {"Fix the login": [reply(text("I fixed the login."))]},
        [*starts_with("Fix the login"), reads("I fixed the login."), shows("idle"), has(client="opencode")],
        Expected(["completed: Fix the login"], ["USER COMMAND: Fix the login", "AGENT COMPLETION: I fixed the login."]),
    ),
    Scenario(
        "permission approved",
        MAKE_IT,
        [*starts_with("Make it"), shows(PERMISSION), answers(ONCE), reads("I made it."), shows("working", "idle")],
        MADE,
    ),
    Scenario(
        "permission rejected",
        MAKE_IT,
        [*starts_with("Make it"), shows(PERMISSION), answers(REJECT), shows("idle"), has_no_file("made")],
        CUT_SHORT,
    ),
    Scenario(
        "permissions answered through Headspace and in the terminal",
        {"Make it": [reply(bash("touch made")), reply(bash("rm made")), reply(text("I made it."))]},
        [
            *(*starts_with("Make it"), shows(PERMISSION)),
            *(answers_by_api(decision="allow"), shows("working", PERMISSION)),
            *(answers(ONCE), shows("working", "idle"), has_no_file("made")),
        ],
        MADE,
    ),
    Scenario(
        "permission denied through Headspace, with words",
        MAKE_IT,
        [
            *(*starts_with("Make it"), shows(PERMISSION), answers_by_api(decision="deny", message="Not now.")),
            *(shows("working", "idle"), has_no_file("made"), model_receives("Not now.")),
        ],
        Expected(
            ["completed: Make it"], ["USER COMMAND: Make it", "USER ANSWER: Not now.", "AGENT COMPLETION: I made it."]
        ),
    ),
    Scenario(
        "permission granted for good",
        {"Make it": [reply(bash("touch made")), reply(bash("touch more")), reply(text("I made it."))]},
        [*starts_with("Make it"), shows(PERMISSION), grants_by_api("rule"), shows("working", "idle"), has_file("more")],
        MADE,
    ),
    Scenario(
        "question answered through Headspace",
        {"Paint it": [reply(QUESTION), reply(text("I painted it."))]},
        [
            *(*starts_with("Paint it"), shows("waiting: question")),
            *(answers_by_api(answers={"Which colour?": "Blue"}), shows("working", "idle")),
        ],
        Expected(
            ["completed: Paint it"],
            [
                "USER COMMAND: Paint it",
                "AGENT QUESTION: Which colour?",
                "USER ANSWER: Blue",
                "AGENT COMPLETION: I painted it.",
            ],
        ),
    ),
    Scenario(
        "question dismissed",
        {"Paint it": [reply(QUESTION), reply(text("I painted it."))]},
        [*starts_with("Paint it"), shows("waiting: question"), pauses(1.0), presses("Escape"), shows("idle")],
        Expected(["interrupted: Paint it"], ["USER COMMAND: Paint it", "AGENT QUESTION: Which colour?"]),
    ),
    Scenario(
        "Esc while the model replies",
        {"Make it": [reply(text("I start now."), streams="words")]},
        [*starts_with("Make it"), reaches("words"), *interrupts(), shows("idle"), releases("words")],
        CUT_SHORT,
    ),
    Scenario("Esc while a tool runs", RUN_IT, [*RUNNING, *interrupts(), shows("idle"), creates_file("go")], CUT_SHORT),
    Scenario(
        "API error",
        {"Fix the login": [refusal(400)], "Try again": [reply(text("I fixed the login."))]},
        [
            *(*starts_with("Fix the login"), reads("scripted failure"), shows("error")),
            *(types("Try again"), reads("I fixed the login."), shows("working", "idle")),
        ],
        Expected(
            ["failed: Fix the login", "completed: Try again"],
            [
                "USER COMMAND: Fix the login",
                "AGENT END_OF_TASK: scripted failure",
                "USER COMMAND: Try again",
                "AGENT COMPLETION: I fixed the login.",
            ],
        ),
    ),
    Scenario(
        "sub-agent",
        {
            "Count the lines": [
                reply(tool("task", description="count", prompt="Run wc on shop", subagent_type="general")),
                reply(text("It has 3 lines.")),
            ],
            "Run wc on shop": [reply(bash(UNTIL_GO)), reply(text("Three."))],
        },
        [
            *(*starts_with("Count the lines"), shows(PERMISSION), has(subagents__type=["general"])),
            *(answers(ONCE), shows("working"), has_file("made"), has(subagents__tool__name=["bash"])),
            *(creates_file("go"), shows("idle"), has(subagents=[])),
        ],
        Expected(
            ["completed: Count the lines"], ["USER COMMAND: Count the lines", "AGENT COMPLETION: It has 3 lines."]
        ),
    ),
    Scenario(
        "guard denies a call",
        {"Make it": [reply(bash("echo made > .env")), reply(text("I may not do that."))]},
        [*starts_with("Make it"), shows("idle"), has_no_file(".env"), model_receives(".env")],
        Expected(["completed: Make it"], ["USER COMMAND: Make it", "AGENT COMPLETION: I may not do that."]),
    ),
]

GREETINGS = {"Say hello": [reply(text("Hello."))], "Say goodbye": [reply(text("Goodbye."))]}
GREETED = [*starts_with("Say hello"), reads("Hello."), shows("idle")]
HELLO_TURNS = ["USER COMMAND: Say hello", "AGENT COMPLETION: Hello."]
GOODBYE_TURNS = ["USER COMMAND: Say goodbye", "AGENT COMPLETION: Goodbye."]
HELLO_DONE = Expected(["completed: Say hello"], HELLO_TURNS)
BOTH_DONE = Expected(["completed: Say hello", "completed: Say goodbye"], [*HELLO_TURNS, *GOODBYE_TURNS])

SESSIONS = [
    Scenario(
        "new conversation",
        GREETINGS,
        [
            *(*GREETED, types("/new"), pauses(2.0), types("Say goodbye"), shows("working", "idle")),
            has(session__ordinal=2, session__source="clear"),
        ],
        BOTH_DONE,
    ),
    Scenario("exit", GREETINGS, [*GREETED, types("/exit"), shows("ended"), has(end_reason="exit")], HELLO_DONE),
    Scenario(
        "resume",
        GREETINGS,
        [
            *(*GREETED, types("/exit"), shows("ended"), starts("--continue")),
            *(types("Say goodbye"), shows("working", "idle"), has(session__ordinal=1)),
        ],
        BOTH_DONE,
    ),
    Scenario("kill -9", RUN_IT, [*RUNNING, kills_client(), shows("ended"), creates_file("go")], CUT_SHORT),
    Scenario(
        "two clients in one directory",
        GREETINGS,
        [
            *(*GREETED, starts(), types("Say goodbye"), shows("idle", "working", "idle", of=1)),
            *(types("Say hello", into=0), shows("working", "idle")),
        ],
        Expected(
            ["completed: Say hello", "completed: Say hello", "completed: Say goodbye"],
            [*HELLO_TURNS, *HELLO_TURNS, *GOODBYE_TURNS],
        ),
    ),
    Scenario(
        "headless",
        GREETINGS,
        [runs_headless("run", "Say hello"), shows("idle", "working", "idle", "ended")],
        Expected(
            ['completed: "Say hello"'],
            ['USER COMMAND: "Say hello"', "AGENT COMPLETION: Hello."],  # the client's quotes
        ),
    ),
    Scenario(
        "daemon killed and restarted in a turn",
        RUN_IT,
        [*RUNNING, kills_daemon(), creates_file("go"), shows("idle"), starts_daemon(), shows("idle")],
        MADE,
        own_daemon=True,
    ),
]

ALL = [*TURNS, *SESSIONS]
WITHOUT_DAEMON = [
    "text turn",
    "permission approved",
    "permission rejected",
    "Esc while a tool runs",
    "API error",
    "exit",
]
