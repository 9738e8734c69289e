"""What can happen in a turn, each with every state that must be shown; what can happen around turns is in `lives.py`.

`ASKING` is the mode in which the client asks before it runs anything, `FREE` the one in which it may run shell
commands. `UNTIL_GO` is a command that makes the file `made` and runs until there is a file `go`.
"""

from tests.real_client.model import PLAN_FILE, bash, question, questions, refusal, reply, several, text, tool
from tests.real_client.scenario import (
    End,
    Scenario,
    answers,
    begun,
    finds,
    has,
    hears,
    interrupts,
    kills_daemon,
    lacks,
    pauses,
    presses,
    races,
    reaches,
    reads,
    releases,
    replies,
    shows,
    starts_daemon,
    touches,
    types,
)

ASKING = ("--permission-mode", "default")
FREE = ("--permission-mode", "default", "--allowedTools", "Bash,Agent,Task")
PLANNING = ("--permission-mode", "plan")
UNTIL_GO = "touch made; until [ -e go ]; do sleep 0.05; done"

TURNS = [
    Scenario(
        "text turn",
        {"Fix the login": [reply(text("I fixed the login."))]},
        [*begun("Fix the login"), shows("idle")],
        End(["completed: Fix the login"], ["USER COMMAND: Fix the login", "AGENT COMPLETION: I fixed the login."]),
    ),
    Scenario(
        "ending question",
        {
            "Add a database": [reply(text("Which database do you want me to use?"))],
            "Take SQLite": [reply(text("I added SQLite."))],
        },
        [*begun("Add a database"), shows("waiting: question"), types("Take SQLite"), shows("working", "idle")],
        End(
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
        "failing tool",
        {"Test it": [reply(text("I run the tests."), bash("exit 3")), reply(text("The tests fail."))]},
        [*begun("Test it", *FREE), shows("idle")],
        End(
            commands=["completed: Test it"],
            turns=["USER COMMAND: Test it", "AGENT PROGRESS: I run the tests.", "AGENT COMPLETION: The tests fail."],
        ),
    ),
    Scenario(
        "API error",
        {"Fix the login": [refusal(400)], "Try again": [reply(text("I fixed the login."))]},
        [*begun("Fix the login"), shows("error"), types("Try again"), shows("working", "idle")],
        End(
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
        "queued prompt, taken into the turn",
        {
            "Fix the login": [reply(bash(UNTIL_GO)), reply(text("I fixed the login."))],
            "And the logout": [reply(text("I fixed both."))],
        },
        [*begun("Fix the login", *FREE), finds("made"), types("And the logout"), touches("go"), shows("idle")],
        End(
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
            *(*begun("Fix the login"), reaches("words"), types("Then the docs"), hears("Then the docs")),
            *(releases("words"), hears("I wrote the docs."), shows("idle")),
        ],
        End(
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
ASKED = [*begun("Make it", *ASKING), shows("waiting: permission")]
RUNNING = [*begun("Make it", *FREE), finds("made"), has(tool__name="Bash")]
MADE = End(["completed: Make it"], ["USER COMMAND: Make it", "AGENT COMPLETION: I made it."])
CUT_SHORT = End(["interrupted: Make it"], ["USER COMMAND: Make it"])
CUT_OFF = End(["interrupted: Make it"], ["USER COMMAND: Make it", "AGENT PROGRESS: I "])

PERMISSIONS = [
    Scenario(
        "permission approved",
        MAKE_IT,
        [*ASKED, answers("Yes"), shows("working"), touches("go"), shows("idle")],
        MADE,
    ),
    Scenario("permission rejected", MAKE_IT, [*ASKED, answers("No"), shows("idle")], CUT_SHORT),
    Scenario("permission, Esc", MAKE_IT, [*ASKED, answers("Escape"), shows("idle")], CUT_SHORT),
    Scenario(
        "permission approved through Headspace",
        MAKE_IT,
        [*ASKED, replies(decision="allow"), shows("working"), touches("go"), shows("idle")],
        MADE,
    ),
    Scenario(
        "permission denied through Headspace",
        MAKE_IT,
        [*ASKED, replies(decision="deny", message="use make"), shows("working", "idle")],
        MADE,
    ),
]

TWICE = {"Make it": [reply(bash("touch made")), reply(bash("touch made")), reply(text("I made it."))]}
HELD = [
    Scenario(
        "permission given for another command",
        MAKE_IT,
        [
            *(*ASKED, replies(decision="allow", input={"command": "touch other"}), shows("working", "idle")),
            *(finds("other"), lacks("made")),
        ],
        MADE,
    ),
    Scenario(
        "permission given for always",
        TWICE,
        [*ASKED, replies(decision="allow", always=True), shows("working", "idle")],
        MADE,
    ),
    Scenario(
        "permission given twice at one moment",
        MAKE_IT,
        [*ASKED, races("Yes", decision="allow"), shows("working"), touches("go"), shows("idle")],
        MADE,
    ),
    Scenario(
        "permission that nobody gives in time",
        MAKE_IT,
        [
            *(*ASKED, pauses(2.0), has(waits__held_until=[None], waits__answered=[None])),
            *(lacks("made"), answers("Yes"), shows("working"), touches("go"), shows("idle")),
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
            finds("made"),
            touches("go"),
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
        "Esc while the model speaks",
        {"Make it": [reply(text("I made it."), streams="words")]},
        [*begun("Make it"), reaches("words"), presses("Escape"), shows("idle")],
        CUT_OFF,
    ),
    Scenario(
        "Esc before the first word",
        {"Make it": [reply(text("I made it."), held="words")]},
        [*begun("Make it"), reaches("words"), presses("Escape"), shows("idle")],
        CUT_SHORT,
    ),
    Scenario(
        "Ctrl+C",
        {"Make it": [reply(text("I made it."), streams="words")]},
        [
            *(*begun("Make it"), reaches("words"), presses("C-c"), shows("idle")),
            *(pauses(1.0), presses("C-c", "C-c"), shows("ended")),
        ],
        CUT_OFF,
    ),
]

PAINT_IT = {"Paint it": [reply(question("Which color?", "Red", "Blue")), reply(text("I painted it."))]}
QUESTIONED = ["USER COMMAND: Paint it", "AGENT QUESTION: Which color?"]


def painted(answer: str) -> End:
    """The question was answered."""
    turns = [*QUESTIONED, f"USER ANSWER: Which color? {answer}", "AGENT COMPLETION: I painted it."]
    return End(["completed: Paint it"], turns)


QUESTIONS = [
    Scenario(
        "question answered",
        PAINT_IT,
        [*begun("Paint it"), shows("waiting: question"), answers("Red"), shows("working", "idle")],
        painted("Red"),
    ),
    Scenario(
        "question answered through Headspace",
        PAINT_IT,
        [
            *(*begun("Paint it"), shows("waiting: question")),
            *(replies(answers={"Which color?": "Blue"}), shows("working", "idle")),
        ],
        painted("Blue"),
    ),
    Scenario(
        "question cancelled",
        PAINT_IT,
        [*begun("Paint it"), shows("waiting: question"), answers("Escape"), shows("idle")],
        End(["interrupted: Paint it"], QUESTIONED),
    ),
    Scenario(
        "question among parallel tools",
        {"Paint it": [reply(bash("echo mixing"), *PAINT_IT["Paint it"][0].blocks), reply(text("I painted it."))]},
        [
            *(*begun("Paint it", *FREE), shows("waiting: question")),
            *(has(tool__name="AskUserQuestion"), answers("Red"), shows("working", "idle")),
        ],
        painted("Red"),
    ),
]

SEVERAL = questions(question("Which color?", "Red", "Blue"), several("Which rooms?", "Hall", "Bath", "Attic"))
ROOMS = ["Hall", "the cellar"]
QUESTIONS.append(
    Scenario(
        "several questions, several answers and own words, through Headspace",
        {"Paint it": [reply(SEVERAL), reply(text("I painted it."))]},
        [
            *(*begun("Paint it"), shows("waiting: question")),
            *(replies(answers={"Which color?": "a warm grey", "Which rooms?": ROOMS}), shows("working", "idle")),
            *(reads("a warm grey"), reads("Hall, the cellar")),
        ],
        End(
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
PLANNED = [*begun("Plan it", *PLANNING), shows("waiting: plan")]
PLAN_TURNS = ["USER COMMAND: Plan it", f"AGENT QUESTION: {THE_PLAN}"]

PLANS = [
    Scenario(
        "plan approved",
        PLAN_IT,
        [*PLANNED, answers("Yes"), shows("working", "idle")],
        End(["completed: Plan it"], [*PLAN_TURNS, "AGENT COMPLETION: I followed the plan."]),
    ),
    Scenario(
        "plan approved through Headspace",
        PLAN_IT,
        [*PLANNED, replies(decision="allow"), shows("working", "idle")],
        End(["completed: Plan it"], [*PLAN_TURNS, "AGENT COMPLETION: I followed the plan."]),
    ),
    Scenario(
        "plan sent back through Headspace",
        {"Plan it": [*PLAN_IT["Plan it"][:2], reply(text("I will make it shorter."))]},
        [*PLANNED, replies(decision="deny", message="Too long."), shows("working", "idle"), reads("Too long.")],
        End(["completed: Plan it"], [*PLAN_TURNS, "AGENT COMPLETION: I will make it shorter."]),
    ),
    Scenario(
        "plan rejected",
        PLAN_IT,
        [*PLANNED, answers("Escape"), shows("idle")],
        End(["interrupted: Plan it"], PLAN_TURNS),
    ),
]

RULES = [
    Scenario(
        "call denied by a rule",
        {
            "Set the key": [
                reply(text("I write it."), bash("cd . && echo KEY=1 > .env")),
                reply(text("I may not do that.")),
            ]
        },
        [
            *(*begun("Set the key", *FREE), shows("idle")),
            *(lacks(".env"), reads("Headspace does not allow this: redirect writes"), reads("(rule protected-paths)")),
        ],
        End(
            commands=["completed: Set the key"],
            turns=["USER COMMAND: Set the key", "AGENT PROGRESS: I write it.", "AGENT COMPLETION: I may not do that."],
        ),
    ),
    Scenario(
        "call that a rule asks about",
        {"Stop it": [reply(bash("pkill -l")), reply(bash("killall --version")), reply(text("I stopped it."))]},
        [*begun("Stop it", *FREE), shows("waiting: permission"), answers("Yes"), shows("working", "idle")],
        End(["completed: Stop it"], ["USER COMMAND: Stop it", "AGENT COMPLETION: I stopped it."]),
    ),
]

SCENARIOS = [*TURNS, *PERMISSIONS, *HELD, *INTERRUPTS, *QUESTIONS, *PLANS, *RULES]
