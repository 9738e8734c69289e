"""Recorded sessions of the real Claude Code give the same board, commands and turns from any source, in any order.

The result is the same if the daemon was down and received no hooks, if it read the files only afterwards, or if hooks
came late. It differs only where the missing source is the only one with the information.
"""

import pytest

from claude_headspace.kernel.agent import Confidence
from claude_headspace.kernel.envelope import SECOND, Origin
from claude_headspace.kernel.facts import ClientVanished
from tests.kernel.story import Story
from tests.replay.recordings import (
    VERSIONS,
    RecordedEvent,
    commands,
    key_press,
    orders,
    recorded,
    replay,
    scenarios,
    turns,
    without_end,
)

# Just before the client ends: the board, the commands (trigger / text / outcome), and the turns.
EXPECTED: dict[str, tuple[str, list[str], str]] = {
    "api_error": (
        "error",
        ["prompt / go / failed"],
        """
        USER COMMAND go
        AGENT END_OF_TASK API Error: 400 scripted invalid_request_error
        """,
    ),
    "ask_answer": (
        "idle",
        ["prompt / go / completed"],
        """
        USER COMMAND go
        AGENT QUESTION Which colour?
        USER ANSWER Which colour? Red
        AGENT COMPLETION Thanks for answering.
        """,
    ),
    "ask_esc": (
        "idle",
        ["prompt / go / interrupted", "prompt / again / completed"],
        """
        USER COMMAND go
        AGENT QUESTION Which colour?
        USER COMMAND again
        AGENT COMPLETION Still here.
        """,
    ),
    "background_bash": (
        "idle",
        ["prompt / go / completed", "task_notification /  / completed"],
        """
        USER COMMAND go
        AGENT COMPLETION It runs in the background.
        AGENT END_OF_TASK All steps are done.
        """,
    ),
    "clear": (
        "idle",
        ["prompt / hello / completed", "prompt / fresh / completed"],
        """
        USER COMMAND hello
        AGENT COMPLETION Hi.
        USER COMMAND fresh
        AGENT COMPLETION Fresh.
        """,
    ),
    "compact": (
        "idle",
        ["prompt / hello / completed", "prompt / go / completed", "prompt / after / completed"],
        """
        USER COMMAND hello
        AGENT COMPLETION Hi.
        USER COMMAND go
        AGENT COMPLETION Ran.
        USER COMMAND after
        AGENT COMPLETION Compacted.
        """,
    ),
    "ending_question": (
        "waiting:question",
        ["prompt / hello / None"],
        """
        USER COMMAND hello
        AGENT QUESTION I looked at it. Shall I delete the old files?
        """,
    ),
    "esc_before_stream": (
        "idle",
        ["prompt / go / interrupted", "prompt / again / completed"],
        """
        USER COMMAND go
        USER COMMAND again
        AGENT COMPLETION Still here.
        """,
    ),
    "esc_stream": (
        "idle",
        ["prompt / go / interrupted", "prompt / again / completed"],
        """
        USER COMMAND go
        AGENT PROGRESS thinking aloud.
        USER COMMAND again
        AGENT COMPLETION Still here.
        """,
    ),
    "esc_tool": (
        "idle",
        ["prompt / go / interrupted", "prompt / again / completed"],
        """
        USER COMMAND go
        AGENT PROGRESS Running.
        USER COMMAND again
        AGENT COMPLETION Still here.
        """,
    ),
    "headless": (
        "idle",
        ["prompt / hello / completed"],
        """
        USER COMMAND hello
        AGENT COMPLETION Hi.
        """,
    ),
    "kill9": (
        "idle",
        ["prompt / go / interrupted", "prompt / again / completed"],
        """
        USER COMMAND go
        USER COMMAND again
        AGENT COMPLETION Continued.
        """,
    ),
    "parallel_question": (
        "idle",
        ["prompt / go / completed"],
        """
        USER COMMAND go
        AGENT QUESTION Which colour?
        USER ANSWER Which colour? Red
        AGENT END_OF_TASK Done both.
        """,
    ),
    "perm_approve": (
        "idle",
        ["prompt / go / completed"],
        """
        USER COMMAND go
        AGENT COMPLETION After the tool.
        """,
    ),
    "perm_esc": (
        "idle",
        ["prompt / go / interrupted", "prompt / again / completed"],
        """
        USER COMMAND go
        USER COMMAND again
        AGENT COMPLETION Still here.
        """,
    ),
    "perm_feedback": (
        "idle",
        ["prompt / go / completed"],
        """
        USER COMMAND go
        USER ANSWER use another name
        AGENT COMPLETION After the tool.
        """,
    ),
    "plain": (
        "idle",
        ["prompt / hello / completed", "prompt / more / completed"],
        """
        USER COMMAND hello
        AGENT COMPLETION Hi there.
        USER COMMAND more
        AGENT COMPLETION Fuller.
        """,
    ),
    "plan_reject": (
        "idle",
        ["prompt / plan it / interrupted", "prompt / again / completed"],
        """
        USER COMMAND plan it
        AGENT QUESTION 1. Do x
        USER COMMAND again
        AGENT COMPLETION Still here.
        """,
    ),
    "queued": (
        "idle",
        ["prompt / go / completed", "prompt / slow / completed", "queued_prompt / and then / completed"],
        """
        USER COMMAND go
        USER ANSWER also this
        AGENT COMPLETION Second answer.
        USER COMMAND slow
        USER COMMAND and then
        AGENT PROGRESS thinking aloud.
        AGENT COMPLETION Slow answer.
        AGENT COMPLETION Third answer.
        """,
    ),
    "resume": (
        "idle",
        ["prompt / hello / completed", "prompt / again / completed"],
        """
        USER COMMAND hello
        AGENT COMPLETION Hi.
        USER COMMAND again
        AGENT COMPLETION Resumed.
        """,
    ),
    "shell_command": (
        "idle",
        ["shell_command / ! echo from-user / completed"],
        """
        USER COMMAND ! echo from-user
        AGENT COMPLETION Hello from the scripted model.
        """,
    ),
    "slash_command": (
        "idle",
        ["prompt / /greet Ann / completed"],
        """
        USER COMMAND /greet Ann
        AGENT COMPLETION Greetings.
        """,
    ),
    "subagent.2.1.197": (
        "idle",
        ["prompt / go / completed"],
        """
        USER COMMAND go
        AGENT COMPLETION Main done.
        """,
    ),
    "subagent.2.1.325": (
        "idle",
        ["prompt / go / completed"],
        """
        USER COMMAND go
        AGENT PROGRESS Main done.
        AGENT END_OF_TASK All steps are done.
        """,
    ),
    "tool_fail": (
        "idle",
        ["prompt / go / completed"],
        """
        USER COMMAND go
        AGENT COMPLETION It failed.
        """,
    ),
}

ORDERS = list(orders([]))
WITHOUT_REGISTRY = [name for name in ORDERS if name not in ("as it happened", "no hooks")]


def expected(scenario: str, version: str) -> tuple[str, list[str], list[str]]:
    """The expected result of a recording."""
    board, done, expected_turns = EXPECTED.get(scenario) or EXPECTED[f"{scenario}.{version}"]
    return board, done, [line.strip() for line in expected_turns.strip().splitlines()]


def outcome(story: Story) -> tuple[str, list[str], list[str]]:
    """The result of a story in the format of the table."""
    board = ":".join(part for part in story.board if part)
    done = [" / ".join(str(part) for part in command) for command in commands(story)]
    return board, done, [" ".join(turn) for turn in turns(story)]


def test_every_recording_has_an_expectation() -> None:
    """Every recording is tested."""
    assert {name.split(".")[0] for name in EXPECTED} == set(scenarios())


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("scenario", scenarios())
def test_the_result_does_not_depend_on_sources_or_order(scenario: str, order: str, version: str) -> None:
    """State, commands, outcomes and turns are the same for every order of events."""
    board, done, expected_turns = expected(scenario, version)
    if scenario == "esc_before_stream" and order in WITHOUT_REGISTRY:
        done = [done[0].replace("interrupted", "superseded"), *done[1:]]  # only the registry shows this interrupt
    if scenario == "headless" and order in ("the transcript alone", "no hooks"):
        pytest.skip("with -p only the Stop hook or the end of the client shows that the turn ended")
    story = replay(orders(without_end(recorded(scenario, version)))[order])
    assert outcome(story) == (board, done, expected_turns)
    assert (story.open_calls, story.agent.running_subagents) == ([], ())


@pytest.mark.parametrize("version", VERSIONS)
def test_the_end_of_a_headless_client_completes_its_command(version: str) -> None:
    """With `-p` no transcript line ends the turn. The end of the client after its message completes it."""
    story = replay(orders(without_end(recorded("headless", version)))["the transcript alone"])
    assert story.board == ("working", None)
    story.report(ClientVanished(), origin=Origin.PROCESS, at=story.agent.last_active_at / 1e6)
    assert commands(story)[-1][-1] == "completed"
    assert story.agent.mode == "headless"


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("scenario", [name for name in scenarios() if name not in ("kill9", "resume")])
def test_the_end_of_the_client_ends_the_agent(scenario: str, version: str) -> None:
    """All recordings end with SessionEnd. Files that are read afterwards do not resume the agent."""
    assert replay(recorded(scenario, version)).board == ("ended", None)


STATES = {
    "perm_esc": "idle working waiting:permission idle working idle",
    "esc_tool": "idle working idle working idle",
    "esc_stream": "idle working idle working idle",
    "esc_before_stream": "idle working idle working idle",
    "ask_esc": "idle working waiting:question idle working idle",
    "plan_reject": "idle working waiting:plan idle working idle",
    "perm_approve": "idle working waiting:permission working idle",
    "parallel_question": "idle working waiting:question working idle",
    "ending_question": "idle working waiting:question",
    "api_error": "idle working error",
    "background_bash": "idle working idle working idle",
}
"""All states in order, with a running daemon."""


def states(events: list[RecordedEvent]) -> list[str]:
    """The states of a session in order."""
    changes = replay(events).changes
    boards = [":".join(filter(None, (change.agent.state, change.agent.waiting_for))) for change in changes]
    return [board for number, board in enumerate(boards) if boards[number - 1 : number] != [board]]


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("scenario", STATES)
def test_all_states_are_right(scenario: str, version: str) -> None:
    """Including those without a hook: Esc in a tool, in the stream, before it, at a dialog, a question or a plan."""
    assert " ".join(states(without_end(recorded(scenario, version)))) == STATES[scenario]


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("scenario", [name for name, way in STATES.items() if "esc" in name or "reject" in name])
def test_an_interrupt_is_shown_within_a_second(scenario: str, version: str) -> None:
    """The registry entry arrives a tenth of a second after the key press."""
    events, pressed_at = without_end(recorded(scenario, version)), key_press(scenario, version)
    before = [each for each in events if each.arrived <= pressed_at]
    assert replay(before).board[0] in ("working", "waiting")
    after = [each for each in events if each.arrived <= pressed_at + SECOND]
    assert replay(after).board == ("idle", None)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("scenario", scenarios())
def test_states_without_hooks_have_lower_confidence(scenario: str, version: str) -> None:
    """Without hooks no state has high confidence."""
    story = replay(orders(without_end(recorded(scenario, version)))["no hooks"])
    assert all(
        change.agent.evidence is not None and change.agent.evidence.confidence is not Confidence.HIGH
        for change in story.changes
    )


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("scenario", scenarios())
def test_turns_get_the_times_of_the_transcript(scenario: str, version: str) -> None:
    """Every turn in the transcript has its exact time."""
    story = replay(without_end(recorded(scenario, version)))
    from_server = [turn.text for turn in story.turn_rows.values() if turn.timestamp_source != "jsonl"]
    reported_by_hooks = ("Which colour?", "1. Do x", "API Error")
    assert [text for text in from_server if not text.startswith(reported_by_hooks)] == []


def test_usage_is_measured() -> None:
    """Model, tokens and context usage come from the last reply, the cost from the client."""
    agent = replay(without_end(recorded("plain", "2.1.325"))).agent
    assert (agent.model, agent.tokens, agent.context_percent) == ("claude-opus-5-5", 21_200, 2.1)
    assert agent.cost_usd == pytest.approx(0.01928)
    older = replay(without_end(recorded("plain", "2.1.197"))).agent
    assert (older.model, older.context_percent, older.cost_usd) == ("claude-opus-4-8[1m]", 2.1, None)


@pytest.mark.parametrize("version", VERSIONS)
def test_contexts_follow_each_other(version: str) -> None:
    """`/clear` starts a session with a new id, compaction and resume start one with the same id."""
    for scenario, sources in (("clear", "startup clear"), ("compact", "startup compact"), ("resume", "startup resume")):
        story = replay(without_end(recorded(scenario, version)))
        opened = {session.id: session.source for session in story.sessions.values()}
        assert " ".join(opened.values()) == sources
