"""Scenarios within a turn, each with every state that must be shown. `session_scenarios.py` has those around turns.

In the mode `ASKING` the client asks before every tool call. In the mode `ALLOWED` it runs shell commands and sub-agents
without asking. `UNTIL_GO` is a command that creates the file `made` and runs until the file `go` exists.
"""

from tests.real_client.model import PLAN_FILE, bash, question, questions, refusal, reply, several, text, tool
from tests.real_client.scenario import (
    Expected,
    Scenario,
    answers,
    answers_by_api,
    answers_twice,
    creates_file,
    grants_by_api,
    has,
    has_file,
    has_no_file,
    has_turn,
    interrupts,
    kills_daemon,
    model_receives,
    pauses,
    presses,
    reaches,
    releases,
    shows,
    starts_daemon,
    starts_with,
    types,
)

ASKING = ("--permission-mode", "default")
ALLOWED = ("--permission-mode", "default", "--allowedTools", "Bash,Agent,Task")
PLANNING = ("--permission-mode", "plan")
UNTIL_GO = "touch made; until [ -e go ]; do sleep 0.05; done"

TURNS = [
    Scenario(
        "text turn",
        {"Fix the login": [reply(text("I fixed the login."))]},
        [*starts_with("Fix the login"), shows("idle")],
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
            commands=["completed: Add a database"],
            turns=[
                "USER COMMAND: Add a database",
                "AGENT QUESTION: Which database do you want me to use?",
                "USER ANSWER: Take SQLite",
                "AGENT COMPLETION: I added SQLite.",
            ],
        ),
    ),
    Scenario(
        "ending question in the second text of a message",
        {
            "Add a database": [
                reply(text("I looked at the project."), text("Which database do you want me to use?")),
            ],
            "Take SQLite": [reply(text("I added SQLite."))],
        },
        [
            *(*starts_with("Add a database"), shows("waiting: question"), pauses(1.5)),
            *(types("Take SQLite"), shows("working", "idle")),
        ],
        Expected(
            commands=["completed: Add a database"],
            turns=[
                "USER COMMAND: Add a database",
                "AGENT PROGRESS: I looked at the project.",
                "AGENT QUESTION: Which database do you want me to use?",
                "USER ANSWER: Take SQLite",
                "AGENT COMPLETION: I added SQLite.",
            ],
        ),
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
                "AGENT END_OF_TASK: API Error: 400 scripted failure",
                "USER COMMAND: Try again",
                "AGENT COMPLETION: I fixed the login.",
            ],
        ),
    ),
    Scenario(
        "queued prompt, added to the turn",
        {
            "Fix the login": [reply(bash(UNTIL_GO)), reply(text("I fixed the login."))],
            "And the logout": [reply(text("I fixed both."))],
        },
        [
            *starts_with("Fix the login", *ALLOWED),
            has_file("made"),
            types("And the logout"),
            creates_file("go"),
            shows("idle"),
        ],
        Expected(
            commands=["completed: Fix the login"],
            turns=["USER COMMAND: Fix the login", "USER ANSWER: And the logout", "AGENT COMPLETION: I fixed both."],
        ),
    ),
    Scenario(
        "queued prompt, the next turn",
        {
            "Fix the login": [reply(text("I fixed the login."), streams="words")],
            "Then the docs": [reply(text("I wrote the docs."))],
        },
        [
            *(*starts_with("Fix the login"), reaches("words"), types("Then the docs"), has_turn("Then the docs")),
            *(releases("words"), has_turn("I wrote the docs."), shows("idle")),
        ],
        Expected(
            commands=["completed: Fix the login", "completed: Then the docs"],
            turns=[
                "USER COMMAND: Fix the login",
                "USER COMMAND: Then the docs",
                "AGENT COMPLETION: I fixed the login.",
                "AGENT COMPLETION: I wrote the docs.",
            ],
        ),
    ),
]

MAKE_IT = {"Make it": [reply(bash(UNTIL_GO)), reply(text("I made it."))]}
ASKED = [*starts_with("Make it", *ASKING), shows("waiting: permission")]
RUNNING = [*starts_with("Make it", *ALLOWED), has_file("made"), has(tool__name="Bash")]
MADE = Expected(["completed: Make it"], ["USER COMMAND: Make it", "AGENT COMPLETION: I made it."])
CUT_SHORT = Expected(["interrupted: Make it"], ["USER COMMAND: Make it"])
CUT_OFF = Expected(["interrupted: Make it"], ["USER COMMAND: Make it", "AGENT PROGRESS: I "])

PERMISSIONS = [
    Scenario(
        "permission approved",
        MAKE_IT,
        [*ASKED, answers("Yes"), shows("working"), creates_file("go"), shows("idle")],
        MADE,
    ),
    Scenario("permission rejected", MAKE_IT, [*ASKED, answers("No"), shows("idle")], CUT_SHORT),
    Scenario("permission, Esc", MAKE_IT, [*ASKED, answers("Escape"), shows("idle")], CUT_SHORT),
    Scenario(
        "permission approved through Headspace",
        MAKE_IT,
        [*ASKED, answers_by_api(decision="allow"), shows("working"), creates_file("go"), shows("idle")],
        MADE,
    ),
    Scenario(
        "permission denied through Headspace",
        MAKE_IT,
        [*ASKED, answers_by_api(decision="deny", message="use make"), shows("working", "idle")],
        MADE,
    ),
]

TWICE = {"Make it": [reply(bash("touch made")), reply(bash("touch made")), reply(text("I made it."))]}
HELD = [
    Scenario(
        "permission given for another command",
        MAKE_IT,
        [
            *(*ASKED, answers_by_api(decision="allow", input={"command": "touch other"}), shows("working", "idle")),
            *(has_file("other"), has_no_file("made")),
        ],
        MADE,
    ),
    Scenario(
        "permission given permanently",
        TWICE,
        [*ASKED, grants_by_api("directory", "mode"), shows("working", "idle")],
        MADE,
    ),
    Scenario(
        "permission given twice at the same time",
        MAKE_IT,
        [*ASKED, answers_twice("Yes", decision="allow"), shows("working"), creates_file("go"), shows("idle")],
        MADE,
    ),
    Scenario(
        "permission not given in time",
        MAKE_IT,
        [
            *(*ASKED, pauses(2.0), has(waits__held_until=[None], waits__answered=[None])),
            *(has_no_file("made"), answers("Yes"), shows("working"), creates_file("go"), shows("idle")),
        ],
        MADE,
        settings={"hold_seconds": 1},
    ),
    Scenario(
        "permission asked, daemon killed",
        MAKE_IT,
        [
            *ASKED,
            kills_daemon(),
            answers("Yes"),
            has_file("made"),
            creates_file("go"),
            shows("idle"),
            starts_daemon(),
            shows("idle"),
        ],
        MADE,
        own_daemon=True,
    ),
]

INTERRUPTS = [
    Scenario("interrupted through Headspace", MAKE_IT, [*RUNNING, interrupts(), shows("idle")], CUT_SHORT),
    Scenario("dialog closed through Headspace", MAKE_IT, [*ASKED, pauses(1), interrupts(), shows("idle")], CUT_SHORT),
    Scenario("Esc while a tool runs", MAKE_IT, [*RUNNING, presses("Escape"), shows("idle")], CUT_SHORT),
    Scenario(
        "Esc while the model replies",
        {"Make it": [reply(text("I made it."), streams="words")]},
        [*starts_with("Make it"), reaches("words"), presses("Escape"), shows("idle")],
        CUT_OFF,
    ),
    Scenario(
        "Esc before the first word",
        {"Make it": [reply(text("I made it."), held="words")]},
        [*starts_with("Make it"), reaches("words"), presses("Escape"), shows("idle")],
        CUT_SHORT,
    ),
    Scenario(
        "Ctrl+C",
        {"Make it": [reply(text("I made it."), streams="words")]},
        [
            *(*starts_with("Make it"), reaches("words"), presses("C-c"), shows("idle")),
            *(pauses(1.0), presses("C-c", "C-c"), shows("ended")),
        ],
        CUT_OFF,
    ),
]

PAINT_IT = {"Paint it": [reply(question("Which color?", "Red", "Blue")), reply(text("I painted it."))]}
QUESTIONED = ["USER COMMAND: Paint it", "AGENT QUESTION: Which color?"]


def painted(answer: str) -> Expected:
    """The expected result of an answered question."""
    turns = [*QUESTIONED, f"USER ANSWER: Which color? {answer}", "AGENT COMPLETION: I painted it."]
    return Expected(["completed: Paint it"], turns)


QUESTIONS = [
    Scenario(
        "question answered",
        PAINT_IT,
        [*starts_with("Paint it"), shows("waiting: question"), answers("Red"), shows("working", "idle")],
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
        "question cancelled",
        PAINT_IT,
        [*starts_with("Paint it"), shows("waiting: question"), answers("Escape"), shows("idle")],
        Expected(["interrupted: Paint it"], QUESTIONED),
    ),
    Scenario(
        "question among parallel tools",
        {"Paint it": [reply(bash("echo mixing"), *PAINT_IT["Paint it"][0].blocks), reply(text("I painted it."))]},
        [
            *(*starts_with("Paint it", *ALLOWED), shows("waiting: question")),
            *(has(tool__name="AskUserQuestion"), answers("Red"), shows("working", "idle")),
        ],
        painted("Red"),
    ),
]

SEVERAL = questions(question("Which color?", "Red", "Blue"), several("Which rooms?", "Hall", "Bath", "Attic"))
ROOMS = ["Hall", "the cellar"]
QUESTIONS.append(
    Scenario(
        "several questions with several answers and free text, through Headspace",
        {"Paint it": [reply(SEVERAL), reply(text("I painted it."))]},
        [
            *(*starts_with("Paint it"), shows("waiting: question")),
            *(answers_by_api(answers={"Which color?": "a warm grey", "Which rooms?": ROOMS}), shows("working", "idle")),
            *(model_receives("a warm grey"), model_receives("Hall, the cellar")),
        ],
        Expected(
            commands=["completed: Paint it"],
            turns=[
                "USER COMMAND: Paint it",
                "AGENT QUESTION: Which color?\nWhich rooms?",
                "USER ANSWER: Which color? a warm grey\nWhich rooms? Hall, the cellar",
                "AGENT COMPLETION: I painted it.",
            ],
        ),
    )
)

THE_PLAN = "# Plan\n\n1. Fix the login\n"
PLAN_IT = {
    "Plan it": [
        reply(tool("Write", file_path=PLAN_FILE, content=THE_PLAN)),
        reply(tool("ExitPlanMode", plan=THE_PLAN)),
        reply(text("I followed the plan.")),
    ]
}
PLANNED = [*starts_with("Plan it", *PLANNING), shows("waiting: plan")]
PLAN_TURNS = ["USER COMMAND: Plan it", f"AGENT QUESTION: {THE_PLAN}"]
APPROVED_TURNS = ["USER ANSWER: Plan approved", "AGENT COMPLETION: I followed the plan."]

PLANS = [
    Scenario(
        "plan approved",
        PLAN_IT,
        [*PLANNED, answers("Yes"), shows("working", "idle")],
        Expected(["completed: Plan it"], [*PLAN_TURNS, *APPROVED_TURNS]),
    ),
    Scenario(
        "plan approved through Headspace",
        PLAN_IT,
        [*PLANNED, answers_by_api(decision="allow"), shows("working", "idle")],
        Expected(["completed: Plan it"], [*PLAN_TURNS, *APPROVED_TURNS]),
    ),
    Scenario(
        "plan sent back through Headspace",
        {"Plan it": [*PLAN_IT["Plan it"][:2], reply(text("I will make it shorter."))]},
        [
            *PLANNED,
            answers_by_api(decision="deny", message="Too long."),
            shows("working", "idle"),
            model_receives("Too long."),
        ],
        Expected(["completed: Plan it"], [*PLAN_TURNS, "AGENT COMPLETION: I will make it shorter."]),
    ),
    Scenario(
        "plan rejected",
        PLAN_IT,
        [*PLANNED, answers("Escape"), shows("idle")],
        Expected(["interrupted: Plan it"], PLAN_TURNS),
    ),
]

RULES = [
    Scenario(
        "tool call denied by a rule",
        {
            "Set the key": [
                reply(text("I write it."), bash("cd . && echo KEY=1 > .env")),
                reply(text("I may not do that.")),
            ]
        },
        [
            *(*starts_with("Set the key", *ALLOWED), shows("idle")),
            *(
                has_no_file(".env"),
                model_receives("Headspace does not allow this: redirect writes"),
                model_receives("(rule protected-paths)"),
            ),
        ],
        Expected(
            commands=["completed: Set the key"],
            turns=["USER COMMAND: Set the key", "AGENT PROGRESS: I write it.", "AGENT COMPLETION: I may not do that."],
        ),
    ),
    Scenario(
        "tool call that needs a confirmation by a rule",
        {"Stop it": [reply(bash("pkill -l")), reply(bash("killall --version")), reply(text("I stopped it."))]},
        [*starts_with("Stop it", *ALLOWED), shows("waiting: permission"), answers("Yes"), shows("working", "idle")],
        Expected(["completed: Stop it"], ["USER COMMAND: Stop it", "AGENT COMPLETION: I stopped it."]),
    ),
]

SCENARIOS = [*TURNS, *PERMISSIONS, *HELD, *INTERRUPTS, *QUESTIONS, *PLANS, *RULES]
