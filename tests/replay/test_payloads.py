"""Recorded hooks of the real Claude Code: each is decoded, and sequences of them give the expected board.

`payloads/` has the hooks of the client (2.1.325, two of them 2.1.197), with replaced paths. A scenario below is the
order in which the client sends them. Session, prompt and call ids are rewritten so that the hooks of one scenario
belong together.
"""

import json
from pathlib import Path

import msgspec
import pytest

from claude_headspace.clients.decode import decode
from claude_headspace.kernel.facts import Event
from tests.kernel.story import Payload, Story, envelope

PAYLOADS = Path(__file__).with_name("payloads")

MEANINGS = """
ConfigChange                        Observed
CwdChanged                          DirectoryChanged
DirectoryAdded                      Observed
InstructionsLoaded                  Observed
MessageDisplay                      Observed
MessageDisplay.partial              Observed
Notification.agent_needs_input      AttentionRequested
Notification.idle_prompt            AttentionRequested
Notification.permission_prompt      AttentionRequested
Notification.question               AttentionRequested
PermissionDenied                    ToolRefused
PermissionRequest.AskUserQuestion   PermissionAsked
PermissionRequest.Bash              PermissionAsked
PermissionRequest.ExitPlanMode      PermissionAsked
PermissionRequest.Write             PermissionAsked
PermissionRequest.subagent          PermissionAsked
PostCompact                         CompactionFinished
PostModelSwitch                     ModelSwitched
PostToolBatch                       StepFinished
PostToolUse.Agent                   ToolFinished
PostToolUse.Agent.background        ToolFinished
PostToolUse.AskUserQuestion         ToolFinished
PostToolUse.Bash                    ToolFinished
PostToolUse.Bash.background         ToolFinished
PostToolUse.ExitPlanMode            ToolFinished
PostToolUse.TaskUpdate              ToolFinished
PostToolUse.Write                   ToolFinished
PostToolUse.subagent                ToolFinished
PostToolUseFailure                  ToolFailed
PreCompact                          CompactionStarted
PreModelSwitch                      Observed
PreToolUse.Agent                    ToolStarted
PreToolUse.AskUserQuestion          ToolStarted
PreToolUse.Bash                     ToolStarted
PreToolUse.ExitPlanMode             ToolStarted
PreToolUse.Write                    ToolStarted
PreToolUse.subagent                 ToolStarted
SessionEnd.clear                    SessionEnded
SessionEnd.exit                     SessionEnded
SessionEnd.other                    SessionEnded
SessionEnd.resume                   SessionEnded
SessionStart.clear                  SessionStarted
SessionStart.compact                SessionStarted
SessionStart.resume                 SessionStarted
SessionStart.startup                SessionStarted
Stop                                TurnStopped
Stop.background                     TurnStopped
Stop.hook-active                    TurnStopped
Stop.subagent-running               TurnStopped
StopFailure.400                     TurnFailed
StopFailure.429                     TurnFailed
StopFailure.529                     TurnFailed
SubagentStart                       SubagentStarted
SubagentStop                        SubagentStopped
SubagentStop.compact                Observed
SubagentStop.suggestion             Observed
TaskCompleted                       TodoDone
TaskCreated                         TodoAdded
UserPromptExpansion                 Observed
UserPromptSubmit                    PromptSubmitted
UserPromptSubmit.task-notification  PromptSubmitted
"""
TABLE = [tuple(row.split()) for row in MEANINGS.split("\n")[1:-1]]


def recorded(name: str) -> Payload:
    """A recorded payload."""
    payload: Payload = json.loads((PAYLOADS / f"{name}.json").read_text(encoding="utf-8"))
    return payload


def understood(name: str) -> Event:
    """A recorded hook, decoded from its bytes."""
    return decode(envelope(name.partition(".")[0], 1, (PAYLOADS / f"{name}.json").read_bytes()))


def test_every_recording_has_a_row() -> None:
    """The table has exactly the existing files."""
    assert sorted(path.stem for path in PAYLOADS.glob("*.json")) == sorted(name for name, _ in TABLE)


@pytest.mark.parametrize(("name", "meaning"), TABLE)
def test_a_recorded_hook_is_decoded(name: str, meaning: str) -> None:
    """A real payload has the fact of the table and its session, without anomalies."""
    event, payload = understood(name), recorded(name)
    assert (type(event.fact).__name__, event.anomaly) == (meaning, None)
    assert (event.meta.session_id, event.meta.prompt_id) == (payload["session_id"], payload.get("prompt_id"))
    assert payload["hook_event_name"] == name.partition(".")[0]


# --- scenarios --------------------------------------------------------------------------------------------------------
#
# A line is a recorded hook, the board after it (the state, or `wait:` with its kind), and the state of the command.

START = "SessionStart.startup                 idle             -"
PROMPT = "UserPromptSubmit                     working          PROCESSING"

SCENARIOS = {
    "a plain turn": f"""
        {START}
        {PROMPT}
        MessageDisplay                       working          PROCESSING
        Stop                                 idle             COMPLETE
        Notification.idle_prompt             idle             COMPLETE
        """,
    "a permission that is approved": f"""
        {START}
        {PROMPT}
        PreToolUse.Bash                      working          PROCESSING
        PermissionRequest.Bash               wait:permission  AWAITING_INPUT
        Notification.permission_prompt       wait:permission  AWAITING_INPUT
        PostToolUse.Bash                     working          PROCESSING
        PostToolBatch                        working          PROCESSING
        Stop                                 idle             COMPLETE
        """,
    "a permission to write a file, with all edits allowed": f"""
        {START}
        {PROMPT}
        PreToolUse.Write                     working          PROCESSING
        PermissionRequest.Write              wait:permission  AWAITING_INPUT
        PostToolUse.Write                    working          PROCESSING
        PostToolBatch                        working          PROCESSING
        Stop                                 idle             COMPLETE
        """,
    "a permission that is denied with a reason": f"""
        {START}
        {PROMPT}
        PreToolUse.Bash                      working          PROCESSING
        PermissionRequest.Bash               wait:permission  AWAITING_INPUT
        PostToolBatch                        working          PROCESSING
        Stop                                 idle             COMPLETE
        """,
    "a question": f"""
        {START}
        {PROMPT}
        PreToolUse.AskUserQuestion           wait:question    AWAITING_INPUT
        PermissionRequest.AskUserQuestion    wait:question    AWAITING_INPUT
        Notification.question                wait:question    AWAITING_INPUT
        PostToolUse.AskUserQuestion          working          PROCESSING
        PostToolBatch                        working          PROCESSING
        Stop                                 idle             COMPLETE
        """,
    "a plan": f"""
        {START}
        {PROMPT}
        PreToolUse.ExitPlanMode              wait:plan        AWAITING_INPUT
        PermissionRequest.ExitPlanMode       wait:plan        AWAITING_INPUT
        PostToolUse.ExitPlanMode             working          PROCESSING
        PostToolBatch                        working          PROCESSING
        Stop                                 idle             COMPLETE
        """,
    "a tool that fails": f"""
        {START}
        {PROMPT}
        PreToolUse.Bash                      working          PROCESSING
        PostToolUseFailure                   working          PROCESSING
        PostToolBatch                        working          PROCESSING
        Stop                                 idle             COMPLETE
        """,
    "a tool call that auto mode refuses": f"""
        {START}
        {PROMPT}
        PreToolUse.Bash                      working          PROCESSING
        PermissionDenied                     working          PROCESSING
        PostToolBatch                        working          PROCESSING
        Stop                                 idle             COMPLETE
        """,
    "a dialog that only a notification reports": f"""
        {START}
        {PROMPT}
        PreToolUse.Bash                      working          PROCESSING
        Notification.agent_needs_input       wait:dialog      AWAITING_INPUT
        PostToolUse.Bash                     working          PROCESSING
        Stop                                 idle             COMPLETE
        """,
    "a shell in the background": f"""
        {START}
        {PROMPT}
        PreToolUse.Bash                      working          PROCESSING
        PostToolUse.Bash.background          working          PROCESSING
        PostToolBatch                        working          PROCESSING
        Stop.background                      idle             COMPLETE
        UserPromptSubmit.task-notification   working          PROCESSING
        Stop                                 idle             COMPLETE
        """,
    "a sub-agent on 2.1.325": f"""
        {START}
        {PROMPT}
        PreToolUse.Agent                     working          PROCESSING
        PostToolUse.Agent.background         working          PROCESSING
        SubagentStart                        working          PROCESSING
        PostToolBatch                        working          PROCESSING
        Stop.subagent-running                working          PROCESSING
        PreToolUse.subagent                  working          PROCESSING
        PermissionRequest.subagent           wait:permission  AWAITING_INPUT
        PostToolUse.subagent                 working          PROCESSING
        SubagentStop                         working          PROCESSING
        UserPromptSubmit.task-notification   working          PROCESSING
        Stop                                 idle             COMPLETE
        """,
    "a sub-agent on 2.1.197": f"""
        {START}
        {PROMPT}
        PreToolUse.Agent                     working          PROCESSING
        SubagentStart                        working          PROCESSING
        PreToolUse.subagent                  working          PROCESSING
        PostToolUse.subagent                 working          PROCESSING
        SubagentStop                         working          PROCESSING
        PostToolUse.Agent                    working          PROCESSING
        Stop                                 idle             COMPLETE
        """,
    "an API error (400)": f"""
        {START}
        {PROMPT}
        StopFailure.400                      error            COMPLETE
        """,
    "an API error (429)": f"""
        {START}
        {PROMPT}
        StopFailure.429                      error            COMPLETE
        Notification.idle_prompt             error            COMPLETE
        """,
    "an API error (529) and a retry": f"""
        {START}
        {PROMPT}
        StopFailure.529                      error            COMPLETE
        UserPromptSubmit                     working          PROCESSING
        Stop                                 idle             COMPLETE
        """,
    "/compact": f"""
        {START}
        {PROMPT}
        Stop                                 idle             COMPLETE
        PreCompact                           working          COMPLETE
        SubagentStop.compact                 working          COMPLETE
        SessionStart.compact                 idle             COMPLETE
        PostCompact                          idle             COMPLETE
        """,
    "a prompt suggestion after the turn": f"""
        {START}
        {PROMPT}
        Stop                                 idle             COMPLETE
        SubagentStop.suggestion              idle             COMPLETE
        """,
    "a Stop hook that blocks the stop": f"""
        {START}
        {PROMPT}
        Stop                                 idle             COMPLETE
        Stop.hook-active                     idle             COMPLETE
        """,
    "/clear": f"""
        {START}
        {PROMPT}
        Stop                                 idle             COMPLETE
        SessionEnd.clear                     idle             COMPLETE
        SessionStart.clear                   idle             COMPLETE
        {PROMPT}
        """,
    "/resume inside": f"""
        {START}
        SessionEnd.resume                    idle             -
        SessionStart.resume                  idle             -
        {PROMPT}
        """,
    "exit and --continue": f"""
        {START}
        {PROMPT}
        Stop                                 idle             COMPLETE
        SessionEnd.exit                      ended            COMPLETE
        SessionStart.resume                  idle             COMPLETE
        """,
    "terminated in the middle of a tool": f"""
        {START}
        {PROMPT}
        PreToolUse.Bash                      working          PROCESSING
        SessionEnd.other                     ended            COMPLETE
        """,
    "local commands": f"""
        {START}
        InstructionsLoaded                   idle             -
        PreModelSwitch                       idle             -
        PostModelSwitch                      idle             -
        DirectoryAdded                       idle             -
        ConfigChange                         idle             -
        """,
    "a slash command with a task list": f"""
        {START}
        UserPromptExpansion                  idle             -
        {PROMPT}
        TaskCreated                          working          PROCESSING
        PostToolUse.TaskUpdate               working          PROCESSING
        TaskCompleted                        working          PROCESSING
        CwdChanged                           working          PROCESSING
        Stop                                 idle             COMPLETE
        """,
}

NEW_SESSION = ("SessionStart.clear", "SessionStart.resume")
NEW_TURN = ("UserPromptSubmit", "UserPromptSubmit.task-notification")


class Replay:
    """Replays recorded hooks as hooks of one client, two seconds apart."""

    def __init__(self) -> None:
        self.story = Story()
        self.session, self.turn, self.call = 1, 0, 0
        self.input: object = None

    def fire(self, name: str) -> None:
        """Replay a recorded hook with the ids of this scenario."""
        self.session += name in NEW_SESSION
        self.turn += name in NEW_TURN
        self.call += name.startswith("PreToolUse")
        payload = self.rewritten(recorded(name))
        at = self.story.now + (0.05 if name.startswith("PermissionRequest") else 2)
        self.story.hook(name.partition(".")[0], at=at, **payload)

    def rewritten(self, payload: Payload) -> Payload:
        """A payload with the ids of this scenario: session, turn, call, sub-agent and background task."""
        text = json.dumps(payload | {"session_id": f"session-{self.session}"})
        for known, ours in (("abc2bbf9ef5878462", "sub-1"), ("a1b57bc2ba6363ba8", "sub-1"), ("b7dv2rglw", "sub-1")):
            text = text.replace(known, ours)
        ours = json.loads(text)
        if "prompt_id" in ours:
            ours["prompt_id"] = f"prompt-{self.turn}"
        if "tool_use_id" in ours:
            ours["tool_use_id"] = self.call_id(ours)
        if "tool_calls" in ours:
            ours["tool_calls"] = [{"tool_name": "Bash", "tool_use_id": f"call-{self.call}"}]
        if ours["hook_event_name"] == "PreToolUse":
            self.input = ours["tool_input"]
        elif ours["hook_event_name"] == "PermissionRequest":
            ours["tool_input"] = self.input  # a dialog repeats the input of its call
        return {name: value for name, value in ours.items() if name != "hook_event_name"}

    def call_id(self, payload: Payload) -> str:
        """The id of a call. The Agent call ends after the calls of its sub-agent."""
        return f"call-{1 if payload['tool_name'] == 'Agent' else self.call}"

    @property
    def board(self) -> tuple[str, str]:
        """The board in the format of a scenario line."""
        agent, command = self.story.agent, self.story.agent.command
        shown = f"wait:{agent.waiting_for}" if agent.waiting_for else agent.state.value
        return shown, command.state.value if command else "-"


def steps(scenario: str) -> list[tuple[str, tuple[str, str]]]:
    """The lines of a scenario: the hook, and the board after it."""
    lines = [line.split() for line in scenario.strip().split("\n")]
    return [(name, (state, command)) for name, state, command in lines]


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_a_recorded_scenario_gives_its_board(scenario: str) -> None:
    """After every hook the board shows the expected state, without anomalies."""
    replay = Replay()
    for name, expected in steps(SCENARIOS[scenario]):
        replay.fire(name)
        assert (name, replay.board) == (name, expected)
    assert [change.anomalies for change in replay.story.changes if change.anomalies] == []
    assert msgspec.json.decode(msgspec.json.encode(replay.story.agent))["id"] == "agent-1"
