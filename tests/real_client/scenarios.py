"""What can happen in a session, each with every state that must be shown.

`ASKING` is the mode in which the client asks before it runs anything, `FREE` the one in which it may run shell
commands. `UNTIL_GO` is a command that makes the file `made` and runs until there is a file `go`.
"""

from tests.real_client.model import PLAN_FILE, bash, helper, question, refusal, reply, text, tool
from tests.real_client.scenario import (
    Each,
    End,
    Scenario,
    answers,
    belongs,
    finds,
    has,
    hears,
    kills,
    kills_daemon,
    lacks,
    pauses,
    presses,
    reaches,
    reads,
    releases,
    replies,
    runs,
    shows,
    starts,
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
        [starts(), shows("idle"), types("Fix the login"), shows("working", "idle")],
        End(
            commands=["completed: Fix the login"],
            turns=["USER COMMAND: Fix the login", "AGENT COMPLETION: I fixed the login."],
        ),
    ),
    Scenario(
        "ending question",
        {
            "Add a database": [reply(text("Which database do you want me to use?"))],
            "Take SQLite": [reply(text("I added SQLite."))],
        },
        [
            *(starts(), shows("idle"), types("Add a database"), shows("working", "waiting: question")),
            *(types("Take SQLite"), shows("working", "idle")),
        ],
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
        [starts(*FREE), shows("idle"), types("Test it"), shows("working", "idle")],
        End(
            commands=["completed: Test it"],
            turns=["USER COMMAND: Test it", "AGENT PROGRESS: I run the tests.", "AGENT COMPLETION: The tests fail."],
        ),
    ),
    Scenario(
        "API error",
        {"Fix the login": [refusal(400)], "Try again": [reply(text("I fixed the login."))]},
        [
            *(starts(), shows("idle"), types("Fix the login"), shows("working", "error")),
            *(types("Try again"), shows("working", "idle")),
        ],
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
        [
            *(starts(*FREE), shows("idle"), types("Fix the login"), shows("working"), has(tool__name="Bash")),
            *(types("And the logout"), touches("go"), shows("idle")),
        ],
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
            *(starts(), shows("idle"), types("Fix the login"), shows("working")),
            *(
                types("Then the docs"),
                hears("Then the docs"),
                releases("words"),
                hears("I wrote the docs."),
                shows("idle"),
            ),
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
ASKED = [starts(*ASKING), shows("idle"), types("Make it"), shows("working", "waiting: permission")]
RUNNING = [
    *(starts(*FREE), shows("idle"), types("Make it"), shows("working")),
    *(finds("made"), has(tool__name="Bash")),
]
CUT_SHORT = End(["interrupted: Make it"], ["USER COMMAND: Make it"])

PERMISSIONS = [
    Scenario(
        "permission approved",
        MAKE_IT,
        [*ASKED, answers("Yes"), shows("working"), touches("go"), shows("idle")],
        End(
            commands=["completed: Make it"],
            turns=["USER COMMAND: Make it", "AGENT COMPLETION: I made it."],
        ),
    ),
    Scenario("permission rejected", MAKE_IT, [*ASKED, answers("No"), shows("idle")], CUT_SHORT),
    Scenario("permission, Esc", MAKE_IT, [*ASKED, answers("Escape"), shows("idle")], CUT_SHORT),
]

INTERRUPTS = [
    Scenario("Esc while a tool runs", MAKE_IT, [*RUNNING, presses("Escape"), shows("idle")], CUT_SHORT),
    Scenario(
        "Esc while the model speaks",
        {"Make it": [reply(text("I made it."), streams="words")]},
        [
            starts(),
            shows("idle"),
            types("Make it"),
            shows("working"),
            reaches("words"),
            presses("Escape"),
            shows("idle"),
        ],
        End(
            commands=["interrupted: Make it"],
            turns=["USER COMMAND: Make it", "AGENT PROGRESS: I "],
        ),
    ),
    Scenario(
        "Esc before the first word",
        {"Make it": [reply(text("I made it."), held="words")]},
        [
            starts(),
            shows("idle"),
            types("Make it"),
            shows("working"),
            reaches("words"),
            presses("Escape"),
            shows("idle"),
        ],
        CUT_SHORT,
    ),
    Scenario(
        "Ctrl+C",
        {"Make it": [reply(text("I made it."), streams="words")]},
        [
            *(
                starts(),
                shows("idle"),
                types("Make it"),
                shows("working"),
                reaches("words"),
                presses("C-c"),
                shows("idle"),
            ),
            *(pauses(1.0), presses("C-c", "C-c"), shows("ended")),
        ],
        End(
            commands=["interrupted: Make it"],
            turns=["USER COMMAND: Make it", "AGENT PROGRESS: I "],
        ),
    ),
]

CHOOSE = question("Which color?", "Red", "Blue")
THE_PLAN = "# Plan\n\n1. Fix the login\n"
PLAN = [
    reply(tool("Write", file_path=PLAN_FILE, content=THE_PLAN)),
    reply(tool("ExitPlanMode", plan=THE_PLAN)),
    reply(text("I followed the plan.")),
]
PLANNED = [starts(*PLANNING), shows("idle"), types("Plan it"), shows("working", "waiting: plan")]

QUESTIONS = [
    Scenario(
        "question answered",
        {"Paint it": [reply(CHOOSE), reply(text("I painted it."))]},
        [
            *(starts(), shows("idle"), types("Paint it"), shows("working", "waiting: question")),
            *(answers("Red"), shows("working", "idle")),
        ],
        End(
            commands=["completed: Paint it"],
            turns=[
                "USER COMMAND: Paint it",
                "AGENT QUESTION: Which color?",
                "USER ANSWER: Which color? Red",
                "AGENT COMPLETION: I painted it.",
            ],
        ),
    ),
    Scenario(
        "question cancelled",
        {"Paint it": [reply(CHOOSE), reply(text("I painted it."))]},
        [
            *(starts(), shows("idle"), types("Paint it"), shows("working", "waiting: question")),
            *(answers("Escape"), shows("idle")),
        ],
        End(
            commands=["interrupted: Paint it"],
            turns=["USER COMMAND: Paint it", "AGENT QUESTION: Which color?"],
        ),
    ),
    Scenario(
        "question among parallel tools",
        {"Paint it": [reply(bash("echo mixing"), CHOOSE), reply(text("I painted it."))]},
        [
            *(starts(*FREE), shows("idle"), types("Paint it"), shows("working", "waiting: question")),
            *(has(tool__name="AskUserQuestion"), answers("Red"), shows("working", "idle")),
        ],
        End(
            commands=["completed: Paint it"],
            turns=[
                "USER COMMAND: Paint it",
                "AGENT QUESTION: Which color?",
                "USER ANSWER: Which color? Red",
                "AGENT COMPLETION: I painted it.",
            ],
        ),
    ),
    Scenario(
        "plan approved",
        {"Plan it": PLAN},
        [*PLANNED, answers("Yes"), shows("working", "idle")],
        End(
            commands=["completed: Plan it"],
            turns=["USER COMMAND: Plan it", f"AGENT QUESTION: {THE_PLAN}", "AGENT COMPLETION: I followed the plan."],
        ),
    ),
    Scenario(
        "plan rejected",
        {"Plan it": PLAN},
        [*PLANNED, answers("Escape"), shows("idle")],
        End(
            commands=["interrupted: Plan it"],
            turns=["USER COMMAND: Plan it", f"AGENT QUESTION: {THE_PLAN}"],
        ),
    ),
]

ANSWERS = [
    Scenario(
        "permission approved through Headspace",
        MAKE_IT,
        [*ASKED, replies(decision="allow"), shows("working"), touches("go"), shows("idle")],
        End(["completed: Make it"], ["USER COMMAND: Make it", "AGENT COMPLETION: I made it."]),
    ),
    Scenario(
        "permission denied through Headspace",
        MAKE_IT,
        [*ASKED, replies(decision="deny", message="use make"), shows("working", "idle")],
        End(["completed: Make it"], ["USER COMMAND: Make it", "AGENT COMPLETION: I made it."]),
    ),
    Scenario(
        "question answered through Headspace",
        {"Paint it": [reply(CHOOSE), reply(text("I painted it."))]},
        [
            *(starts(), shows("idle"), types("Paint it"), shows("working", "waiting: question")),
            *(replies(answers={"Which color?": "Blue"}), shows("working", "idle")),
        ],
        End(
            commands=["completed: Paint it"],
            turns=[
                "USER COMMAND: Paint it",
                "AGENT QUESTION: Which color?",
                "USER ANSWER: Which color? Blue",
                "AGENT COMPLETION: I painted it.",
            ],
        ),
    ),
]

BACKGROUND = [
    Scenario(
        "sub-agent with tools",
        {
            "Count the lines": [reply(helper("Run wc on shop", "count lines")), reply(text("I asked a helper."))],
            "Run wc on shop": [reply(bash(UNTIL_GO)), reply(text("It has 3 lines."))],
            "<task-notification>": [reply(text("The helper counted 3 lines."))],
        },
        [
            *(starts(*FREE), shows("idle"), types("Count the lines"), shows("working")),
            has(subagents__type=["general-purpose"], subagents__description=["count lines"]),
            *(finds("made"), has(subagents__tool__name=["Bash"])),
            *(touches("go"), shows("idle"), has(subagents=[])),
        ],
        End(
            commands=["completed: Count the lines"],
            turns=Each(
                old=["USER COMMAND: Count the lines", "AGENT COMPLETION: I asked a helper."],
                new=[
                    "USER COMMAND: Count the lines",
                    "AGENT PROGRESS: I asked a helper.",
                    "AGENT COMPLETION: The helper counted 3 lines.",
                ],
            ),
        ),
    ),
    Scenario(
        "two sub-agents at once",
        {
            "Count the lines": [
                reply(helper("Run wc on shop", "count shop"), helper("Run wc on docs", "count docs")),
                reply(text("I asked two helpers.")),
            ],
            "Run wc on shop": [reply(bash(UNTIL_GO)), reply(text("It has 3 lines."))],
            "Run wc on docs": [reply(bash(UNTIL_GO.replace("go", "go_on"))), reply(text("It has 4 lines."))],
            '<summary>Agent "count shop"': [reply(text("The first helper is done."), held="news")],
            '<summary>Agent "count docs"': [reply(text("The second helper is done."))],
        },
        [
            *(starts(*FREE), shows("idle"), types("Count the lines"), shows("working")),
            has(subagents__tool__name=["Bash", "Bash"]),
            # On the newer version the news of the second come while the model ponders those of the first.
            *(touches("go"), has(subagents__description=["count docs"])),
            *(touches("go_on"), has(subagents=[]), pauses(1.0), releases("news"), shows("idle")),
        ],
        End(
            commands=["completed: Count the lines"],
            turns=Each(
                old=["USER COMMAND: Count the lines", "AGENT COMPLETION: I asked two helpers."],
                new=[
                    "USER COMMAND: Count the lines",
                    "AGENT PROGRESS: I asked two helpers.",
                    "AGENT PROGRESS: The first helper is done.",
                    "AGENT COMPLETION: The second helper is done.",
                ],
            ),
        ),
    ),
    Scenario(
        "background shell at Stop",
        {
            "Serve it": [reply(bash(UNTIL_GO, run_in_background=True)), reply(text("It is being served."))],
            "<task-notification>": [reply(text("The server has ended."))],
        },
        [
            *(starts(*FREE), shows("idle"), types("Serve it"), shows("working", "idle")),
            *(
                finds("made"),
                has(background_tasks__kind=["shell"]),
                touches("go"),
                shows("working", "idle"),
                has(background_tasks=[]),
            ),
        ],
        End(
            commands=["completed: Serve it", "completed: "],
            turns=[
                "USER COMMAND: Serve it",
                "AGENT COMPLETION: It is being served.",
                "AGENT COMPLETION: The server has ended.",
            ],
        ),
    ),
]

HELLO = {"Say hello": [reply(text("Hello."))], "Say goodbye": [reply(text("Goodbye."))]}
GREETED = [starts(), shows("idle"), types("Say hello"), shows("working", "idle")]
HELLO_TURNS = ["USER COMMAND: Say hello", "AGENT COMPLETION: Hello."]
GOODBYE_TURNS = ["USER COMMAND: Say goodbye", "AGENT COMPLETION: Goodbye."]
HELLO_DONE = End(["completed: Say hello"], HELLO_TURNS)
BOTH_DONE = End(["completed: Say hello", "completed: Say goodbye"], [*HELLO_TURNS, *GOODBYE_TURNS])

SESSIONS = [
    Scenario(
        "compact",
        HELLO,
        [
            *(*GREETED, types("Say hello"), shows("working", "idle")),
            *(types("/compact"), shows("working", "idle"), has(session__ordinal=2, session__source="compact")),
            *(types("Say goodbye"), shows("working", "idle")),
        ],
        End(
            commands=["completed: Say hello", "completed: Say hello", "completed: Say goodbye"],
            turns=[*HELLO_TURNS, *HELLO_TURNS, *GOODBYE_TURNS],
        ),
    ),
    Scenario(
        "clear",
        HELLO,
        [
            *(*GREETED, types("/clear"), has(session__ordinal=2, session__source="clear")),
            *(types("Say goodbye"), shows("working", "idle")),
        ],
        BOTH_DONE,
    ),
    Scenario(
        "resume",
        HELLO,
        [
            *(*GREETED, types("/exit"), shows("ended"), starts("--continue"), shows("idle")),
            *(has(session__ordinal=2, session__source="resume"), types("Say goodbye"), shows("working", "idle")),
        ],
        BOTH_DONE,
    ),
    Scenario(
        "exit", HELLO, [*GREETED, types("/exit"), shows("ended"), has(end_reason="prompt_input_exit")], HELLO_DONE
    ),
    Scenario("kill -9", MAKE_IT, [*RUNNING, kills(), shows("ended")], CUT_SHORT),
    Scenario(
        "two clients in one directory",
        HELLO,
        [
            *(*GREETED, starts(), shows("idle", of=1)),
            *(types("Say goodbye"), shows("working", "idle", of=1)),
            *(types("Say hello", into=0), shows("working", "idle")),
        ],
        End(
            commands=["completed: Say hello", "completed: Say hello", "completed: Say goodbye"],
            turns=[*HELLO_TURNS, *HELLO_TURNS, *GOODBYE_TURNS],
        ),
    ),
    Scenario(
        "headless",
        HELLO,
        [runs("-p", "Say hello"), shows("idle", "working", "idle", "ended"), has(mode="headless")],
        HELLO_DONE,
    ),
    Scenario(
        "nested client",
        {
            "Ask another": [reply(bash("claude -p 'Say hello'")), reply(text("It said hello."))],
            "Say hello": [reply(text("Hello."))],
        },
        [
            *(starts(*FREE), shows("idle"), types("Ask another"), shows("working")),
            *(shows("idle", "working", "idle", "ended", of=1), has(of=1, mode="headless"), belongs(1, 0)),
            shows("idle"),
        ],
        End(
            commands=["completed: Ask another", "completed: Say hello"],
            turns=[
                "USER COMMAND: Ask another",
                "AGENT COMPLETION: It said hello.",
                "USER COMMAND: Say hello",
                "AGENT COMPLETION: Hello.",
            ],
        ),
    ),
]

DAEMON = [
    Scenario(
        "daemon killed and restarted in a turn",
        MAKE_IT,
        [*RUNNING, kills_daemon(), touches("go"), shows("idle"), starts_daemon(), shows("idle")],
        End(
            commands=["completed: Make it"],
            turns=["USER COMMAND: Make it", "AGENT COMPLETION: I made it."],
        ),
        own_daemon=True,
    ),
    Scenario("http hooks", HELLO, GREETED, HELLO_DONE, transport="http"),
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
            *(starts(*FREE), shows("idle"), types("Set the key"), shows("working", "idle")),
            *(lacks(".env"), reads("Headspace does not allow this: redirect writes"), reads("(rule protected-paths)")),
        ],
        End(
            commands=["completed: Set the key"],
            turns=[
                "USER COMMAND: Set the key",
                "AGENT PROGRESS: I write it.",
                "AGENT COMPLETION: I may not do that.",
            ],
        ),
    ),
    Scenario(
        "call that a rule asks about",
        {"Stop it": [reply(bash("pkill -l")), reply(bash("killall --version")), reply(text("I stopped it."))]},
        [
            *(starts(*FREE), shows("idle"), types("Stop it"), shows("working", "waiting: permission")),
            *(answers("Yes"), shows("working", "idle")),
        ],
        End(["completed: Stop it"], ["USER COMMAND: Stop it", "AGENT COMPLETION: I stopped it."]),
    ),
]

UNHEARD = [
    "text turn",
    "ending question",
    "API error",
    "queued prompt, the next turn",
    "permission approved",
    "permission rejected",
    "Esc while a tool runs",
    "Esc while the model speaks",
    "question answered",
    "sub-agent with tools",
    "background shell at Stop",
    "clear",
    "kill -9",
]
"""What is also played while no daemon runs, and must be understood afterwards all the same."""

SCENARIOS = [*TURNS, *PERMISSIONS, *INTERRUPTS, *QUESTIONS, *ANSWERS, *BACKGROUND, *SESSIONS, *DAEMON, *RULES]
