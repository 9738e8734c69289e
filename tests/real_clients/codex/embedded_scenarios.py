"""Scenarios of Codex without its shared daemon, each with every state that must be shown.

Codex reports a session with its first prompt, so an agent is shown from then on. With the options `ALLOWED` it runs
commands without a sandbox and without asking. `asking` is a command that needs a permission in any case. `UNTIL_GO`
creates the file `made` and runs until the file `go` exists.
"""

from tests.real_client.client import Client
from tests.real_client.model import Block, refusal, reply, text, tool
from tests.real_client.scenario import (
    Expected,
    Scenario,
    Step,
    answers,
    creates_file,
    has,
    has_file,
    has_no_file,
    kills_client,
    model_receives,
    pauses,
    presses,
    reaches,
    releases,
    runs_headless,
    shows,
    starts,
    types,
)
from tests.real_clients.homes import OLDER_MODEL
from tests.real_clients.models import cell, codex_agent, patch
from tests.support import wait_until

UNTIL_GO = "touch made; until [ -e go ]; do sleep 0.05; done"
ALLOWED = ("-c", 'sandbox_mode="danger-full-access"')
PATCH = "*** Begin Patch\n*** Add File: notes.txt\n+hello\n*** End Patch\n"
SECOND_PATCH = "*** Begin Patch\n*** Update File: notes.txt\n@@\n-hello\n+goodbye\n*** End Patch\n"


def shell(command: str) -> Block:
    """A call of the shell tool."""
    return tool("exec_command", cmd=command, yield_time_ms=30_000)


def asking(command: str) -> Block:
    """A call of the shell tool that needs a permission."""
    block = shell(command)
    block["input"] |= {"sandbox_permissions": "require_escalated", "justification": "May I?"}
    return block


def sees(words: str) -> Step:
    """Wait until the newest client shows a text. Without a daemon, nothing else shows that a turn has ended."""
    return lambda run: wait_until_seen(run.client, words)


def with_headspace(step: Step) -> Step:
    """A check of what Headspace shows."""
    return lambda run: step(run) if run.has_daemon else None


def shows_tool(name: str) -> Step:
    """Headspace shows a running tool."""
    return with_headspace(has(tool__name=name))


def wait_until_seen(client: Client, words: str) -> None:
    """Wait until a client shows a text."""
    wait_until(lambda: words in client.screen, f"{words!r} on the screen")


def begins_with(prompt: str, *options: str) -> list[Step]:
    """The beginning of most scenarios. The first prompt starts the session."""
    return [starts(*options), types(prompt), shows("working")]


MAKE_IT = {"Make it": [reply(shell(UNTIL_GO)), reply(text("I made it."))]}
ASK_FIRST = {"Make it": [reply(asking(UNTIL_GO)), reply(text("I made it."))]}
RUNNING = [*begins_with("Make it", *ALLOWED), has_file("made"), shows_tool("Bash"), pauses(1.0)]
ASKED = [*begins_with("Make it"), shows("waiting: permission")]
MADE = Expected(["completed: Make it"], ["USER COMMAND: Make it", "AGENT COMPLETION: I made it."])
ASKED_TO_NOTE = [*begins_with("Note it"), shows("waiting: permission")]
NOTED = Expected(["completed: Note it"], ["USER COMMAND: Note it", "AGENT COMPLETION: I noted it."])
CUT_SHORT = Expected(["interrupted: Make it"], ["USER COMMAND: Make it"])

FIRST_VERSION = ("-c", f'model="{OLDER_MODEL}"')
"""A model that uses the first version of sub-agents."""
SPAWN = tool("spawn_agent", message="Run wc on shop", task_name="count") | {"namespace": "collaboration"}
COUNTED = Expected(
    ["completed: Count the lines"], ["USER COMMAND: Count the lines", "AGENT COMPLETION: I asked a helper."]
)
SUMMARY = {"CONTEXT CHECKPOINT COMPACTION": [reply(text("The user said hello."), held="summary")]}

GREETINGS = {"Say hello": [reply(text("Hello."))], "Say goodbye": [reply(text("Goodbye."))]}
GREETED = [*begins_with("Say hello"), sees("Worked for"), shows("idle")]
HELLO = ["USER COMMAND: Say hello", "AGENT COMPLETION: Hello."]
GOODBYE = ["USER COMMAND: Say goodbye", "AGENT COMPLETION: Goodbye."]
HELLO_DONE = Expected(["completed: Say hello"], HELLO)
BOTH_DONE = Expected(["completed: Say hello", "completed: Say goodbye"], [*HELLO, *GOODBYE])

TURNS = [
    Scenario("Codex: text turn", GREETINGS, GREETED, HELLO_DONE),
    Scenario("Codex: tool", MAKE_IT, [*RUNNING, creates_file("go"), sees("I made it."), shows("idle")], MADE),
    Scenario(
        "Codex: calls at the same time",
        {"Make it": [reply(cell("touch made; sleep 1", "sleep 1")), reply(text("I made it."))]},
        [*begins_with("Make it", *ALLOWED), has_file("made"), sees("I made it."), shows("idle"), pauses(1.0)],
        MADE,
    ),
    Scenario(
        "Codex: failing tool",
        {"Test it": [reply(text("I run the tests."), shell("exit 3")), reply(text("The tests fail."))]},
        [*begins_with("Test it", *ALLOWED), shows("idle")],
        Expected(
            ["completed: Test it"],
            ["USER COMMAND: Test it", "AGENT PROGRESS: I run the tests.", "AGENT COMPLETION: The tests fail."],
        ),
    ),
    Scenario(
        "Codex: patch",
        {"Note it": [reply(patch(PATCH)), reply(text("I noted it."))]},
        [*begins_with("Note it", *ALLOWED), shows("idle"), has_file("notes.txt")],
        NOTED,
    ),
    Scenario(
        "Codex: permission approved",
        ASK_FIRST,
        [*ASKED, answers("Yes"), has_file("made"), creates_file("go"), sees("I made it."), shows("working", "idle")],
        MADE,
    ),
    Scenario(
        "Codex: patch approved",
        {"Note it": [reply(patch(PATCH)), reply(text("I noted it."), held="next")]},
        [*ASKED_TO_NOTE, answers("Yes"), shows("working"), reaches("next"), releases("next"), shows("idle")],
        NOTED,
    ),
    Scenario(
        "Codex: further patches of the same files",
        {"Note it": [reply(patch(PATCH)), reply(patch(SECOND_PATCH)), reply(text("I noted it."), held="next")]},
        [
            *(*ASKED_TO_NOTE, answers("a"), shows("working"), reaches("next"), pauses(2)),
            *(releases("next"), shows("idle")),
        ],
        NOTED,
    ),
    Scenario(
        "Codex: permission denied",
        ASK_FIRST,
        [*ASKED, answers("No"), sees("Conversation interrupted"), shows("idle")],
        CUT_SHORT,
    ),
    Scenario(
        "Codex: permission, Esc",
        ASK_FIRST,
        [*ASKED, answers("Escape"), sees("Conversation interrupted"), shows("idle")],
        CUT_SHORT,
    ),
    Scenario(
        "Codex: Esc while streaming",
        {"Make it": [reply(text("I made it."), streams="words")]},
        [*begins_with("Make it"), reaches("words"), presses("Escape"), shows("idle"), releases("words")],
        CUT_SHORT,
    ),
    Scenario(
        "Codex: Esc before the first word",
        {"Make it": [reply(text("I made it."), held="words")]},
        [*begins_with("Make it"), reaches("words"), presses("Escape"), shows("idle"), releases("words")],
        CUT_SHORT,
    ),
    Scenario(
        "Codex: Esc in a tool",
        MAKE_IT,
        [*RUNNING, presses("Escape"), sees("Conversation interrupted"), shows("idle"), creates_file("go")],
        CUT_SHORT,
    ),
    Scenario(
        "Codex: API error",
        {"Fix the login": [refusal(400)], "Try again": [reply(text("I fixed the login."))]},
        [
            *(*begins_with("Fix the login"), sees("scripted failure"), shows("error")),
            *(types("Try again"), sees("I fixed the login."), shows("working", "idle")),
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
        "Codex: prompt during a turn",
        {
            "Fix the login": [reply(shell(UNTIL_GO)), reply(text("I fixed the login."))],
            "And the logout": [reply(text("I fixed both."))],
        },
        [
            *begins_with("Fix the login", *ALLOWED),
            has_file("made"),
            types("And the logout"),
            creates_file("go"),
            shows("idle"),
        ],
        Expected(
            ["completed: Fix the login"],
            ["USER COMMAND: Fix the login", "USER ANSWER: And the logout", "AGENT COMPLETION: I fixed both."],
        ),
    ),
    Scenario(
        "Codex: denied by a rule",
        {
            "Clean up": [
                reply(shell("rm -rf /etc; touch made")),
                reply(shell("sudo touch made")),
                reply(text("I could not.")),
            ]
        },
        [
            *(*begins_with("Clean up", *ALLOWED), shows("idle"), has_no_file("made")),
            *(model_receives("rule system-delete"), model_receives("Codex cannot ask")),
        ],
        Expected(["completed: Clean up"], ["USER COMMAND: Clean up", "AGENT COMPLETION: I could not."]),
    ),
    Scenario(
        "Codex: sub-agent",
        {
            "Count the lines": [reply(codex_agent("Run wc on shop")), reply(text("I asked a helper."))],
            "Run wc on shop": [reply(shell(UNTIL_GO)), reply(text("It has 3 lines."))],
        },
        [
            *(*begins_with("Count the lines", *ALLOWED, *FIRST_VERSION), has_file("made"), sees("Worked for")),
            *(with_headspace(has(subagents__tool__name=["Bash"])), pauses(1.0), creates_file("go"), pauses(2.0)),
            *(shows("idle"), with_headspace(has(subagents=[]))),
        ],
        COUNTED,
    ),
    Scenario(
        "Codex: sub-agent of the second version",
        {"Count the lines": [reply(SPAWN), reply(text("I asked a helper."))]},
        [
            *(*begins_with("Count the lines", *ALLOWED), sees("Completed"), pauses(1.0), shows("idle")),
            with_headspace(has(subagents=[])),
        ],
        COUNTED,
    ),
]

SESSIONS = [
    Scenario(
        "Codex: new conversation",
        GREETINGS,
        [
            *(*GREETED, types("/new"), types("Say goodbye"), shows("working", "idle")),
            has(session__ordinal=2, session__source="startup"),
        ],
        BOTH_DONE,
    ),
    Scenario(
        "Codex: compact",
        GREETINGS | SUMMARY,
        [
            *(*GREETED, types("/compact"), reaches("summary"), shows("working"), releases("summary"), shows("idle")),
            *(has(session__ordinal=2, session__source="compact"), types("Say goodbye"), shows("working", "idle")),
            has(session__ordinal=2),
        ],
        BOTH_DONE,
    ),
    Scenario(
        "Codex: resume",
        GREETINGS,
        [
            *(*GREETED, types("/quit"), shows("ended"), starts("resume", "--last")),
            *(types("Say goodbye"), shows("working", "idle"), has(session__source="resume")),
        ],
        BOTH_DONE,
    ),
    Scenario("Codex: exit", GREETINGS, [*GREETED, types("/quit"), shows("ended")], HELLO_DONE),
    Scenario("Codex: kill -9", MAKE_IT, [*RUNNING, kills_client(), shows("ended")], CUT_SHORT),
    Scenario(
        "Codex: two in one directory",
        GREETINGS,
        [
            *GREETED,
            starts(),
            types("Say goodbye"),
            shows("working", "idle", of=1),
            types("Say hello", into=0),
            shows("working", "idle"),
        ],
        Expected(
            ["completed: Say hello", "completed: Say hello", "completed: Say goodbye"], [*HELLO, *HELLO, *GOODBYE]
        ),
    ),
    Scenario(
        "Codex: exec",
        GREETINGS,
        [runs_headless("exec", "--skip-git-repo-check", "Say hello"), shows("working", "idle", "ended")],
        HELLO_DONE,
    ),
]

ALL = [*TURNS, *SESSIONS]
WITHOUT_DAEMON = (
    "Codex: text turn",
    "Codex: permission approved",
    "Codex: permission, Esc",
    "Codex: Esc in a tool",
    "Codex: API error",
    "Codex: sub-agent",
    "Codex: kill -9",
)
"""Scenarios that also run while no Headspace runs."""
