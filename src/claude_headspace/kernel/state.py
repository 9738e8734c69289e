"""The state of an agent: theory of operation, signals, rules.

No event sets the state. An event moves signals (timestamps) and changes lists (open waits, sub-agents, calls). After
every event `state_of` takes the first rule of `RULES` that applies.

1. A signal only moves forward. It is the newest time of one kind of evidence: `signal = max(signal, event time)`. The
   time is when the event fired, not when it arrived, so a late or duplicated event cannot undo newer evidence. The one
   exception is `ended_at`: it is removed when newer evidence shows that the agent is back.
2. Two signals decide whether the main thread works: `busy_at`, the newest sign of work, and `idle_at`, the newest sign
   that it stopped. `busy_at > idle_at` means working. At equal times idle wins: the event belongs to what ended.
3. Late events. A start at or before the end of its thread opens nothing. The end of the main thread is `idle_at` or
   `step_ended_at`, the end of a sub-agent `stopped_at` or its own `step_ended_at`. A late event of finished work only
   proves that earlier work ended, and completes the record of its own command.
4. Duplicates. The same prompt, end or dialog within `DUPLICATE_WINDOW` is one (`turn_end_fingerprint`, `recent_turns`,
   `finished_calls`), unless the turn ended or other work started in between. Hook and transcript report one message
   with different times (`SOURCE_TOLERANCE`).
5. Missing events. Later evidence closes what it proves to be finished: a new step closes the dialogs of the previous
   step, a prompt or a session start ends the previous turn, and the client's list of running tasks ends the sub-agents
   that are not on it. Work without a prompt starts an unannounced command.
6. A source overturns only what it can see. The registry's `idle` ends work and dialogs, but no error and no question in
   text. Only a hook, a prompt, a new client or `headspace resume` after `ended_at` brings an ended agent back.
7. Sub-agents are separate threads with their own calls, waits and end. Their events neither start nor end the turn of
   the agent, but while one runs the agent is working.
8. Why the rules have this order: an end overrides everything. A restart hides what the old client left open. A wait is
   shown before work, because the client can show a dialog while sub-agents run. Work is shown before an error: an error
   stays until the agent works again. An agent without a session has not started.

The evidence of a state is the event that changed it: source, time, confidence and reason (`Evidence`).

`SIGNALS` and `RULES` are data: the documentation shows them (docs/architecture.md), and tests/kernel/test_state.py
replays recorded sessions and checks that only the listed facts move a signal.
"""

from collections.abc import Callable

import msgspec

from claude_headspace.kernel.agent import Agent, AgentState


class Signal(msgspec.Struct, frozen=True):
    """A timestamp of an agent: what it proves, and which facts (of any source) move it."""

    meaning: str
    facts: tuple[str, ...]


class Rule(msgspec.Struct, frozen=True):
    """One rule: if it is the first that applies, the agent has its state."""

    name: str
    condition: str
    applies: Callable[[Agent], bool]
    state: AgentState


TURN_ENDS = ("TurnStopped", "TurnFailed", "TurnInterrupted", "TurnClosed", "ToolRejected")
SESSION_BOUNDARIES = ("SessionStarted", "SessionEnded", "AgentResumed", "ClientVanished")
CALL_ENDS = ("ToolFinished", "ToolFailed", "ToolRefused", "StepFinished", "ElicitationAnswered")
IDLE_OBSERVED = ("ClientReported", "AttentionRequested", "TeammateStopped")

REPORTED_ENDS = ("TurnEndReported", "TurnEndAssumed", "AgentWrote", "PromptSubmitted", "UserWrote")
"""An end that the client only reported: these confirm it, or prove that it took place."""

SIGNALS = {
    "last_hook_at": Signal("the client was alive: the newest hook that does not end the session", ()),
    "busy_at": Signal(
        "the main thread worked",
        (
            *("PromptSubmitted", "UserWrote", "AgentWrote", "ToolStarted", "PermissionAsked", "ElicitationAsked"),
            *CALL_ENDS,
            *("DialogClosed", "TurnStopped", "TurnContinued", "ClientReported", "SessionStarted"),
        ),
    ),
    "idle_at": Signal(
        "the main thread stopped, reported or observed",
        (*TURN_ENDS, *REPORTED_ENDS, *SESSION_BOUNDARIES, *IDLE_OBSERVED, "CompactionFinished"),
    ),
    "turn_ended_at": Signal(
        "a turn ended, reported by the client; `idle_at` may be newer",
        (*TURN_ENDS, *REPORTED_ENDS, *SESSION_BOUNDARIES),
    ),
    "step_ended_at": Signal(
        "calls and dialogs of the main thread that started before have ended",
        ("StepFinished", *REPORTED_ENDS, *TURN_ENDS, *SESSION_BOUNDARIES, *IDLE_OBSERVED),
    ),
    "call_started_at": Signal("the main thread started a tool call", ("ToolStarted",)),
    "call_ended_at": Signal("a tool call of the main thread ended", CALL_ENDS),
    "dialogs_closed_at": Signal("dialogs that opened before are closed: the client was seen busy", ("ClientReported",)),
    "answer_taken_at": Signal("the client had applied an answer given through Headspace", ("WaitTaken",)),
    "background_listed_at": Signal(
        "sub-agents and background work last seen before have ended: the client listed everything that runs",
        ("TurnStopped", "TurnClosed", *REPORTED_ENDS, "ClientReported", *SESSION_BOUNDARIES),
    ),
    "compaction_started_at": Signal("a manual compaction started", ("CompactionStarted",)),
    "compaction_ended_at": Signal(
        "no compaction that started before is running",
        ("CompactionFinished", "TurnInterrupted", "ToolRejected", *SESSION_BOUNDARIES, *IDLE_OBSERVED),
    ),
    "ended_at": Signal(
        "the client is gone",
        (*SESSION_BOUNDARIES, "AgentClosed", "AgentImported", "MissionFinished", "WrapperVanished"),
    ),
}
"""The signals, by the field of `Agent`. Every event of a hook moves `last_hook_at`, except the end of a session."""

RULES = (
    Rule("ended", "`ended_at` is set", lambda agent: agent.ended_at is not None, AgentState.ENDED),
    Rule(
        "restarting",
        "a supervised restart is in progress",
        lambda agent: agent.supervision is not None and agent.supervision.under_way,
        AgentState.STARTING,
    ),
    Rule("waiting", "a wait is open", lambda agent: agent.waits != (), AgentState.WAITING),
    Rule("in a turn", "`busy_at` > `idle_at`", lambda agent: agent.busy_at > agent.idle_at, AgentState.WORKING),
    Rule(
        "compacting",
        "`compaction_started_at` > `compaction_ended_at`, `busy_at` and `idle_at`",
        lambda agent: agent.is_compacting,
        AgentState.WORKING,
    ),
    Rule(
        "sub-agent running",
        "a sub-agent was seen running after its newest end",
        lambda agent: any(sub.is_running for sub in agent.subagents),
        AgentState.WORKING,
    ),
    Rule("failed", "the last turn ended in an API error", lambda agent: bool(agent.error), AgentState.ERROR),
    Rule("idle", "a session is known", lambda agent: agent.session is not None, AgentState.IDLE),
    Rule("not started", "otherwise", lambda _agent: True, AgentState.STARTING),
)
"""In order: the first rule that applies decides."""


def state_of(agent: Agent) -> tuple[AgentState, str | None]:
    """The state that follows from an agent's fields, and the kind of the newest open wait if it is waiting."""
    for rule in RULES:
        if rule.applies(agent):
            return rule.state, agent.waits[-1].kind if rule.state is AgentState.WAITING else None
    raise AssertionError("the last rule always applies")


def mermaid() -> str:
    """Draw `RULES` as a flowchart: the questions in order, and the state that each leads to."""
    lines = ["flowchart LR"]
    for number, rule in enumerate(RULES):
        if number + 1 < len(RULES):
            lines += [
                f'    r{number}{{"{rule.name}?"}} -- yes --> {rule.state}',
                f"    r{number} -- no --> r{number + 1}",
            ]
        else:
            lines.append(f'    r{number}["{rule.name}"] --> {rule.state}')
    return "\n".join(lines)
