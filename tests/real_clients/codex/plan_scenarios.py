"""Scenarios of Codex in its plan mode, each with every state that must be shown: questions, and plans to approve."""

from collections.abc import Sequence
from contextlib import suppress

from claude_headspace.outputs.codex_answers import ONLY_PERMISSIONS
from tests.real_client.client import RETRY_SECONDS, TRIES
from tests.real_client.model import reply, text, tool
from tests.real_client.run import Run
from tests.real_client.scenario import (
    Expected,
    Scenario,
    Step,
    answers,
    has,
    pauses,
    presses,
    reaches,
    releases,
    shows,
    starts,
    types,
)
from tests.real_clients.codex.daemon_scenarios import ends_codex
from tests.real_clients.codex.embedded_scenarios import sees
from tests.support import wait_until


def enters_plan_mode() -> Step:
    """Switch to the plan mode; again if the client was still starting and forgot it."""

    def step(run: Run) -> None:
        for _ in range(TRIES):
            run.client.write("/plan")
            run.client.send()
            with suppress(AssertionError):
                wait_until(lambda: "Plan mode (shift+tab" in run.client.screen, "the plan mode", limit=RETRY_SECONDS)
                return
        raise AssertionError("the client stays in its other mode")

    return step


QUESTION = tool(
    "request_user_input",
    questions=[
        {
            "id": "colour",
            "header": "Colour",
            "question": "Which colour?",
            "options": [
                {"label": "Red (Recommended)", "description": "warm"},
                {"label": "Blue", "description": "cool"},
            ],
        }
    ],
)
STEPS = "# Paint\n\n1. Buy paint.\n2. Paint it.\n"
PLAN = reply(text(f"<proposed_plan>\n{STEPS}</proposed_plan>"), held="begun")
ASKS = {"Paint it": [reply(QUESTION, held="begun"), reply(text("I take it."), held="answered")]}
PLANS = {
    "Paint it": [PLAN],
    "Implement the plan": [reply(text("I painted it."), held="answered")],
    "Another colour": [reply(text("I changed it."), held="answered")],
}
BEGUN: list[Step] = [
    *(enters_plan_mode(), types("Paint it")),
    *(shows("working"), reaches("begun"), releases("begun")),
]
CONTINUED: list[Step] = [shows("working"), reaches("answered"), releases("answered"), shows("idle")]
IS_EXPLAINED = has(waits__obstacle=[ONLY_PERMISSIONS])
"""Every surface says why it cannot be answered through Headspace."""
ASKED: list[Step] = [*BEGUN, shows("waiting: question"), IS_EXPLAINED, sees("enter to submit")]
PLANNED: list[Step] = [*BEGUN, shows("waiting: plan"), IS_EXPLAINED, sees("Implement this plan?")]
QUESTION_TURNS = ["USER COMMAND: Paint it", "AGENT QUESTION: Which colour?"]
PLAN_TURNS = ["USER COMMAND: Paint it", f"AGENT QUESTION: {STEPS}"]


def scenarios(client: str, first: Sequence[Step], last: Sequence[Step]) -> list[Scenario]:
    """The scenarios, named after the client, with the steps of its start and its end."""
    return [
        Scenario(
            f"{client}: question answered",
            ASKS,
            [*first, *ASKED, presses("2"), pauses(0.5), presses("Enter"), *CONTINUED, *last],
            Expected(["completed: Paint it"], [*QUESTION_TURNS, "USER ANSWER: Blue", "AGENT COMPLETION: I take it."]),
        ),
        Scenario(
            f"{client}: question, Esc",
            ASKS,
            [*first, *ASKED, presses("Escape"), shows("idle"), *last],
            Expected(["interrupted: Paint it"], QUESTION_TURNS),
        ),
        Scenario(
            f"{client}: plan approved",
            PLANS,
            [*first, *PLANNED, answers("Yes"), *CONTINUED, *last],
            Expected(
                ["completed: Paint it", "completed: Implement the plan."],
                [*PLAN_TURNS, "USER COMMAND: Implement the plan.", "AGENT COMPLETION: I painted it."],
            ),
        ),
        Scenario(
            f"{client}: plan not approved",
            PLANS,
            [*first, *PLANNED, answers("No"), types("Another colour"), *CONTINUED, *last],
            Expected(
                ["completed: Paint it", "completed: Another colour"],
                [*PLAN_TURNS, "USER COMMAND: Another colour", "AGENT COMPLETION: I changed it."],
            ),
        ),
    ]


EMBEDDED = scenarios("Codex", [starts()], [])
IN_DAEMON = scenarios("Codex with its daemon", [starts(), shows("idle")], [ends_codex(), shows("ended")])
