"""Scenarios around turns: background work, sessions that end and continue, several clients, nested clients."""

from tests.real_client.model import bash, helper, reply, text
from tests.real_client.scenario import (
    Expected,
    PerVersion,
    Scenario,
    creates_file,
    has,
    has_file,
    is_child,
    kills_client,
    kills_daemon,
    pauses,
    releases,
    runs_headless,
    shows,
    starts,
    starts_daemon,
    starts_with,
    types,
)
from tests.real_client.turn_scenarios import ALLOWED, CUT_SHORT, MADE, MAKE_IT, RUNNING, SCENARIOS, UNTIL_GO

BACKGROUND = [
    Scenario(
        "sub-agent with tools",
        {
            "Count the lines": [reply(helper("Run wc on shop", "count lines")), reply(text("I asked a helper."))],
            "Run wc on shop": [reply(bash(UNTIL_GO)), reply(text("It has 3 lines."))],
            "<task-notification>": [reply(text("The helper counted 3 lines."))],
        },
        [
            *starts_with("Count the lines", *ALLOWED),
            has(subagents__type=["general-purpose"], subagents__description=["count lines"]),
            *(has_file("made"), has(subagents__tool__name=["Bash"])),
            *(creates_file("go"), shows("idle"), has(subagents=[])),
        ],
        Expected(
            commands=["completed: Count the lines"],
            turns=PerVersion(
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
            '<summary>Agent "count shop"': [reply(text("The first helper is done."), held="first")],
            '<summary>Agent "count docs"': [reply(text("The second helper is done."))],
        },
        [
            *(*starts_with("Count the lines", *ALLOWED), has(subagents__tool__name=["Bash", "Bash"])),
            # On the newer version the second notification arrives while the model processes the first.
            *(creates_file("go"), has(subagents__description=["count docs"])),
            *(creates_file("go_on"), has(subagents=[]), pauses(1.0), releases("first"), shows("idle")),
        ],
        Expected(
            commands=["completed: Count the lines"],
            turns=PerVersion(
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
            *(
                *starts_with("Serve it", *ALLOWED),
                shows("idle"),
                has_file("made"),
                has(background_tasks__kind=["shell"]),
            ),
            *(creates_file("go"), shows("working", "idle"), has(background_tasks=[])),
        ],
        Expected(
            commands=["completed: Serve it", "completed: "],
            turns=[
                "USER COMMAND: Serve it",
                "AGENT COMPLETION: It is being served.",
                "AGENT COMPLETION: The server has ended.",
            ],
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
    Scenario(
        "compact",
        GREETINGS,
        [
            *(*GREETED, types("Say hello"), shows("working", "idle")),
            *(types("/compact"), shows("working", "idle"), has(session__ordinal=2, session__source="compact")),
            *GOODBYE,
        ],
        THREE_DONE,
    ),
    Scenario(
        "clear",
        GREETINGS,
        [*GREETED, types("/clear"), has(session__ordinal=2, session__source="clear"), *GOODBYE],
        BOTH_DONE,
    ),
    Scenario(
        "resume",
        GREETINGS,
        [
            *(*GREETED, types("/exit"), shows("ended"), starts("--continue"), shows("idle")),
            *(has(session__ordinal=2, session__source="resume"), *GOODBYE),
        ],
        BOTH_DONE,
    ),
    Scenario(
        "exit", GREETINGS, [*GREETED, types("/exit"), shows("ended"), has(end_reason="prompt_input_exit")], HELLO_DONE
    ),
    Scenario("kill -9", MAKE_IT, [*RUNNING, kills_client(), shows("ended")], CUT_SHORT),
]

CLIENTS = [
    Scenario(
        "two clients in one directory",
        GREETINGS,
        [
            *(*GREETED, starts(), shows("idle", of=1), types("Say goodbye"), shows("working", "idle", of=1)),
            *(types("Say hello", into=0), shows("working", "idle")),
        ],
        THREE_DONE,
    ),
    Scenario(
        "headless",
        GREETINGS,
        [runs_headless("-p", "Say hello"), shows("idle", "working", "idle", "ended"), has(mode="headless")],
        HELLO_DONE,
    ),
    Scenario(
        "nested client",
        {"Ask another": [reply(bash("claude -p 'Say hello'")), reply(text("It replied hello."))], **GREETINGS},
        [
            *(*starts_with("Ask another", *ALLOWED), shows("idle", "working", "idle", "ended", of=1)),
            *(has(of=1, mode="headless"), is_child(1, 0), shows("idle")),
        ],
        Expected(
            commands=["completed: Ask another", "completed: Say hello"],
            turns=["USER COMMAND: Ask another", "AGENT COMPLETION: It replied hello.", *HELLO_TURNS],
        ),
    ),
]

DAEMON = [
    Scenario(
        "daemon killed and restarted in a turn",
        MAKE_IT,
        [*RUNNING, kills_daemon(), creates_file("go"), shows("idle"), starts_daemon(), shows("idle")],
        MADE,
        own_daemon=True,
    ),
    Scenario("http hooks", GREETINGS, GREETED, HELLO_DONE, transport="http"),
]

ALL = [*SCENARIOS, *BACKGROUND, *SESSIONS, *CLIENTS, *DAEMON]

WITHOUT_DAEMON = [
    "text turn",
    "ending question",
    "API error",
    "queued prompt, the next turn",
    "permission approved",
    "permission rejected",
    "Esc while a tool runs",
    "Esc while the model replies",
    "question answered",
    "sub-agent with tools",
    "background shell at Stop",
    "clear",
    "kill -9",
]
"""The scenarios that also run without a daemon. A daemon started afterwards must record the same commands and turns."""
