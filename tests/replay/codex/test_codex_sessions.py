"""Recorded turns of the real Codex give the same board, commands and turns from any source, in any order.

The result differs only where the missing source is the only one with the information.
"""

import pytest

from claude_headspace.kernel.envelope import SECOND, Origin
from claude_headspace.kernel.facts import ClientVanished
from tests.kernel.story import START, Story
from tests.replay.codex.recordings import orders, recorded, replay, scenarios, states
from tests.replay.recordings import commands, turns

EXPECTED: dict[str, tuple[str, str, str, str]] = {
    "api_error": (
        "working error",
        "error",
        "prompt / err / failed",
        """
        USER COMMAND err
        AGENT END_OF_TASK scripted error
        """,
    ),
    "apply_patch": (
        "working idle",
        "idle",
        "prompt / patch / completed",
        """
        USER COMMAND patch
        AGENT COMPLETION Patched-ok.
        """,
    ),
    "compact_question_plan": (
        "working idle working waiting:question working waiting:plan",
        "waiting:plan",
        "prompt / q / completed",
        """
        USER COMMAND q
        AGENT QUESTION Which colour?
        USER ANSWER Red (Recommended)
        AGENT QUESTION # Plan
        """,
    ),
    "esc_before_stream": (
        "working idle",
        "idle",
        "prompt / slow / interrupted",
        """
        USER COMMAND slow
        """,
    ),
    "esc_stream": (
        "working idle",
        "idle",
        "prompt / stream / interrupted",
        """
        USER COMMAND stream
        """,
    ),
    "exec": (
        "working idle ended",
        "ended",
        "prompt / headless / completed",
        """
        USER COMMAND headless
        AGENT COMPLETION Exec-ok.
        """,
    ),
    "first_turn": (
        "working idle",
        "idle",
        "prompt / list the files / completed",
        """
        USER COMMAND list the files
        AGENT PROGRESS Looking.
        AGENT COMPLETION Here they are.
        """,
    ),
    "kill9": (
        "working",
        "working",
        "prompt / kill / None",
        """
        USER COMMAND kill
        """,
    ),
    "permission_approved": (
        "working waiting:permission working idle",
        "idle",
        "prompt / ask me 1 / completed",
        """
        USER COMMAND ask me 1
        AGENT COMPLETION Approved-done.
        """,
    ),
    "permission_rejected": (
        "working waiting:permission idle",
        "idle",
        "prompt / ask me 2 / interrupted",
        """
        USER COMMAND ask me 2
        """,
    ),
    "resume_esc_tool": (
        "ended working idle",
        "idle",
        "prompt / tool / interrupted",
        """
        USER COMMAND tool
        """,
    ),
    "subagent": (
        "working idle",
        "idle",
        "prompt / sub / completed",
        """
        USER COMMAND sub
        AGENT COMPLETION Spawned-ok.
        """,
    ),
    "terminal_killed": (
        "working idle ended",
        "ended",
        "prompt / run on / completed",
        """
        USER COMMAND run on
        AGENT COMPLETION Ran on without a terminal.
        """,
    ),
    "tool_fail": (
        "working idle",
        "idle",
        "prompt / fail / completed",
        """
        USER COMMAND fail
        AGENT COMPLETION Failed-ok.
        """,
    ),
    "typed_while_working": (
        "working idle",
        "idle",
        "prompt / long / completed",
        """
        USER COMMAND long
        USER ANSWER typed meanwhile
        AGENT COMPLETION Long-ok.
        """,
    ),
}
"""By scenario: all states with a running daemon, the last state, the command, and the turns."""

ONLY_IN_ROLLOUT = ("api_error", "compact_question_plan")
"""Scenarios whose end only the rollout reports: an API error, a plan to approve."""
ONLY_IN_HOOKS = ("exec", "terminal_killed")
"""Scenarios whose end only a hook reports: the end of the client."""


def outcome(story: Story) -> tuple[str, list[str], list[str]]:
    """The result of a story in the format of the table."""
    board = ":".join(part for part in story.board if part)
    done = [" / ".join(str(part) for part in command) for command in commands(story)]
    return board, done, [" ".join(turn) for turn in turns(story)]


def test_every_recording_has_an_expectation() -> None:
    """Every recording is tested."""
    assert set(EXPECTED) == set(scenarios())


@pytest.mark.parametrize("scenario", scenarios())
def test_all_states_are_right(scenario: str) -> None:
    """With a running daemon there are exactly these states, in this order."""
    assert states(recorded(scenario)) == EXPECTED[scenario][0]


@pytest.mark.parametrize("order", list(orders([])))
@pytest.mark.parametrize("scenario", scenarios())
def test_the_result_does_not_depend_on_sources_or_order(scenario: str, order: str) -> None:
    """State, commands, outcomes and turns are the same for every order of events."""
    _, board, done, said = EXPECTED[scenario]
    if order == "hooks alone" and scenario in ONLY_IN_ROLLOUT:
        pytest.skip("only the rollout reports it")
    if order == "the rollout alone" and scenario in ONLY_IN_HOOKS:
        board = "idle"
    story = replay(orders(recorded(scenario))[order])
    expected = [line.strip() for line in said.strip().splitlines()]
    if order == "hooks alone":
        expected = [line for line in expected if "PROGRESS" not in line]
    assert outcome(story) == (board, [done], expected)
    if scenario != "kill9":
        assert (story.open_calls, story.agent.running_subagents) == ([], ())


def test_the_agent_works_while_a_sub_agent_runs() -> None:
    """The turn of the parent ends before its sub-agent. The agent is idle when the sub-agent ended."""
    events = recorded("subagent")
    stopped = next(each.arrived for each in events if each.envelope.name == "Stop")
    story = replay([each for each in events if each.arrived <= stopped + SECOND])
    assert story.board == ("working", None)
    assert [sub.type for sub in story.agent.running_subagents] == ["default"]
    assert [command[-1] for command in commands(story)] == ["completed"]
    assert replay(events).board == ("idle", None)


def test_the_end_of_the_process_ends_the_agent() -> None:
    """After `kill -9` no hook fires: the missing process ends the agent and its command."""
    story = replay(recorded("kill9"))
    story.report(ClientVanished(4711), origin=Origin.PROCESS, at=(story.agent.last_active_at - START) / SECOND + 3)
    assert story.board == ("ended", None)
    assert commands(story)[-1][-1] == "interrupted"


def test_usage_is_measured() -> None:
    """Model, tokens and the size of the context window come from the rollout."""
    agent = replay(recorded("first_turn")).agent
    assert (agent.model, agent.tokens, agent.context_window, agent.context_percent) == ("lab-model", 1242, 258_400, 0.5)


def test_a_headless_client_is_recognised() -> None:
    """`codex exec` is no interactive session."""
    assert replay(recorded("exec")).agent.mode == "headless"


def test_a_compaction_is_one_new_context() -> None:
    """The rollout shows it at once; the hook reports it again with the next prompt."""
    story = replay(recorded("compact_question_plan"))
    assert [session.source for session in story.sessions.values()].count("compact") == 1
