"""Our own vocabulary: what can happen to an agent, in the past tense.

`decode` makes these of whatever arrived, `evolve` knows nothing else. Each fact is what is known, never what follows
from it.
"""

import msgspec

from claude_headspace.kernel.envelope import NO_DECISIONS, NO_OBSERVATIONS, Decisions, Micros, Observations, Origin
from claude_headspace.kernel.hooks import HookKind
from claude_headspace.kernel.mission.model import Mission
from claude_headspace.kernel.tools import ToolText, ToolUse
from claude_headspace.kernel.wait_request import Ask


class Meta(msgspec.Struct, frozen=True, kw_only=True):
    """What every fact comes with: when, from whom, of which session and thread."""

    event_id: str
    name: str
    origin: Origin
    at: Micros
    received_at: Micros
    host: str = ""
    """The machine on which it happened; empty when nobody says."""
    session_id: str = ""
    """The client's session id; empty when the source does not know."""
    cwd: str | None = None
    transcript_path: str | None = None
    prompt_id: str | None = None
    permission_mode: str | None = None
    subagent_id: str | None = None
    subagent_type: str | None = None


class Task(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """Background work as the client lists it."""

    id: str
    kind: str
    description: str = ""
    subagent_type: str = ""


class SessionStarted(msgspec.Struct, frozen=True):
    """A context window opened: startup, resume, clear or compact."""

    source: str
    model: str | None = None


class SessionEnded(msgspec.Struct, frozen=True):
    """A context window closed."""

    reason: str


class PromptSubmitted(msgspec.Struct, frozen=True):
    """The agent was given something to do; `finished_task` is set when nobody typed it: background work came back."""

    text: str
    finished_task: str | None = None


class ToolStarted(msgspec.Struct, frozen=True):
    """A tool is about to run; some tools ask the human (`ask`)."""

    call_id: str
    tool: str
    digest: str
    summary: str
    ask: Ask | None = None


class PermissionAsked(msgspec.Struct, frozen=True):
    """The client shows a dialog for a call that it does not name: tool and input tell which."""

    tool: str
    digest: str
    summary: str
    ask: Ask
    suggestions: str = ""
    """The client's own suggestions of rules, as JSON."""


class ToolFinished(msgspec.Struct, frozen=True):
    """A call came to its end. The input may have changed meanwhile: answers are added to a question."""

    call_id: str | None
    tool: str
    digest: str = ""
    answer: str = ""
    """What the human answered, for the tools that ask."""
    background_task: Task | None = None
    background_subagent: str | None = None


class ToolFailed(msgspec.Struct, frozen=True):
    """A call failed."""

    call_id: str | None
    tool: str
    digest: str = ""
    error: str = ""


class ToolRefused(msgspec.Struct, frozen=True):
    """A call was refused without asking anybody."""

    call_id: str | None
    tool: str
    digest: str = ""
    reason: str = ""


class ToolRejected(msgspec.Struct, frozen=True):
    """The human said no to a call, perhaps with a word of advice."""

    call_id: str | None
    feedback: str = ""


class StepFinished(msgspec.Struct, frozen=True):
    """All calls of one step are over."""

    call_ids: tuple[str, ...]


class ElicitationAsked(msgspec.Struct, frozen=True):
    """An MCP server asks the human."""

    id: str
    ask: Ask


class ElicitationAnswered(msgspec.Struct, frozen=True):
    """An MCP server has its answer."""

    id: str
    action: str = ""


class AttentionCalled(msgspec.Struct, frozen=True):
    """The client calls for attention; `ask` is the dialog that it implies, none for the reminder that it is idle."""

    kind: str
    message: str
    ask: Ask | None = None


class SubagentStarted(msgspec.Struct, frozen=True):
    """A sub-agent began (`meta.subagent_id`)."""


class SubagentDescribed(msgspec.Struct, frozen=True):
    """What kind of sub-agent it is, and what for: the client notes it beside the sub-agent's transcript."""

    type: str
    description: str


class SubagentStopped(msgspec.Struct, frozen=True):
    """A sub-agent ended."""

    message: str = ""


class TurnStopped(msgspec.Struct, frozen=True):
    """The agent's turn ended; `background` is None when the client did not list it."""

    message: str | None = None
    background: tuple[Task, ...] | None = None
    kept_on: bool = False
    """Whether a hook has kept the turn from ending before."""


class TurnWentOn(msgspec.Struct, frozen=True):
    """The turn would have ended, and the answer to its hook kept it on."""

    message: str = ""


class TurnFailed(msgspec.Struct, frozen=True):
    """The turn ended in an API error."""

    error: str
    message: str = ""


class TurnInterrupted(msgspec.Struct, frozen=True):
    """The human stopped the turn. No hook tells it."""


class CompactionStarted(msgspec.Struct, frozen=True):
    """The context is being compacted."""

    trigger: str


class CompactionFinished(msgspec.Struct, frozen=True):
    """The context was compacted."""

    trigger: str


class ModelSwitched(msgspec.Struct, frozen=True):
    """Another model answers from now on."""

    model: str | None


class DirectoryChanged(msgspec.Struct, frozen=True):
    """The agent works elsewhere now."""

    cwd: str | None


class TodoAdded(msgspec.Struct, frozen=True):
    """The agent put something on its list."""

    task_id: str


class TodoDone(msgspec.Struct, frozen=True):
    """The agent ticked something off its list."""

    task_id: str


class AgentSpoke(msgspec.Struct, frozen=True):
    """The agent said something between its tool calls, or at the end of the turn (`final`)."""

    text: str
    final: bool = False


class UserSpoke(msgspec.Struct, frozen=True):
    """The transcript shows a prompt, whether or not a hook told it; `queued` if it had waited for the turn before."""

    text: str
    queued: bool = False


class PromptQueued(msgspec.Struct, frozen=True):
    """A prompt waits for the turn to take it in, or to end; nobody typed it if a `finished_task` comes back with it."""

    text: str
    finished_task: str | None = None


class PromptUnqueued(msgspec.Struct, frozen=True):
    """A queued prompt will be no turn of its own: the running turn took it in, or it was withdrawn. Empty: all."""

    text: str
    finished_task: str | None = None


class TurnClosed(msgspec.Struct, frozen=True):
    """The transcript closes a turn. How it ended was told before; `pending` sub-agents go on without it."""

    pending: int = 0


class RateLimit(msgspec.Struct, frozen=True):
    """How much of a limit of the account is used up, and when it begins anew (seconds since 1970)."""

    name: str
    used_percent: float
    resets_at: int | None = None


class ContextArrived(msgspec.Struct, frozen=True):
    """Something is in the model's context: what Headspace sent, by its marks, or files that the client added."""

    marks: tuple[str, ...]
    files: tuple[str, ...] = ()


class UsageMeasured(msgspec.Struct, frozen=True, kw_only=True):
    """What the context holds and what the session has cost, as far as it is told."""

    model: str | None = None
    tokens: int | None = None
    window: int | None = None
    cost_usd: float | None = None
    limits: tuple[RateLimit, ...] = ()


class ClientReported(msgspec.Struct, frozen=True):
    """The client's own registry entry: busy, idle, shell or waiting; empty while it does not say."""

    status: str
    ask: Ask | None = None
    headless: bool = False
    """Nobody sits in front of it: a program started it (`-p`)."""


class ClientVanished(msgspec.Struct, frozen=True):
    """The client's process is gone."""

    pid: int | None = None


class AgentRegistered(msgspec.Struct, frozen=True, kw_only=True):
    """Somebody is about to start a client, and gave the agent its id, and perhaps a name, a role and a mode.

    `wrapper` is the process that starts it and stays with it; it may also supervise it.
    """

    headspace_id: str | None = None
    name: str = ""
    role: str | None = None
    mode: str | None = None
    branch: str | None = None
    tmux_session: str | None = None
    tmux_pane: str | None = None
    mission: Mission | None = None
    wrapper_pid: int | None = None
    wrapper_started_at: Micros | None = None
    supervised: bool = False


class MissionReported(msgspec.Struct, frozen=True):
    """A worker says what came of its mission."""

    text: str
    failed: bool = False


class MissionFinished(msgspec.Struct, frozen=True):
    """Somebody says how a mission ended."""

    outcome: str
    text: str = ""


class WorkerEnded(msgspec.Struct, frozen=True):
    """A worker of this conversation is back, with all that it is to be told."""

    mission_id: str
    goal: str
    text: str


class ConversationWoken(msgspec.Struct, frozen=True):
    """The conversation is about to be woken for its workers."""


class RestartBegun(msgspec.Struct, frozen=True):
    """Who supervises the client ends it now, and starts another one."""

    reason: str


class SupervisionEnded(msgspec.Struct, frozen=True):
    """Nobody starts the client anew any more."""

    reason: str


class WrapperVanished(msgspec.Struct, frozen=True):
    """The process that started the client is gone."""

    pid: int | None = None


class AgentSeen(msgspec.Struct, frozen=True):
    """Somebody has looked at the agent."""


class AgentClosed(msgspec.Struct, frozen=True):
    """Whoever started the client saw it end."""

    reason: str
    pid: int | None = None


class TextTyped(msgspec.Struct, frozen=True):
    """Somebody had a text typed into the agent's terminal."""

    text: str


class EscPressed(msgspec.Struct, frozen=True):
    """Somebody had Esc pressed in the agent's terminal."""


class TypingFailed(msgspec.Struct, frozen=True):
    """A text or key could not be typed after all."""

    reason: str


class ErrandMoved(msgspec.Struct, frozen=True):
    """An act that only the agent's machine can do was asked for there, taken up, given up or done."""

    id: str
    step: str


class WaitHeld(msgspec.Struct, frozen=True):
    """The client holds its question open for an answer through us, until a moment."""

    wait_id: str
    until: Micros


class WaitAnswered(msgspec.Struct, frozen=True):
    """A person answered what is held open. The client has yet to take it up."""

    wait_id: str
    words: str
    by: str
    via: str


class WaitTaken(msgspec.Struct, frozen=True):
    """The client has had the answer for a while, and shows no dialog."""

    wait_id: str


class WaitReleased(msgspec.Struct, frozen=True):
    """Nothing is held open any more; an answer that was on its way never arrived."""

    wait_id: str


class NoticeBegun(msgspec.Struct, frozen=True):
    """A person is about to be called: about which need, through what, in which words."""

    need: str
    kind: str
    channel: str
    title: str
    wait_id: str = ""


class NoticeSettled(msgspec.Struct, frozen=True):
    """The call went out, or it did not and why."""

    need: str
    channel: str
    failure: str = ""
    receipt: str = ""


class NoticeOver(msgspec.Struct, frozen=True):
    """Nobody has to be called about the need any more."""

    need: str
    why: str


class AgentRenamed(msgspec.Struct, frozen=True):
    """A person gave the agent another name."""

    name: str


class AgentNoted(msgspec.Struct, frozen=True):
    """Somebody, mostly the agent itself, said in a few words what it is at; no words take that back."""

    text: str


class ContextLoaded(msgspec.Struct, frozen=True):
    """What a context window began with: the files that it was given, those that it was not, and what went wrong."""

    files: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    problem: str = ""


class AgentImported(msgspec.Struct, frozen=True):
    """The agent's log was brought in from elsewhere."""

    host: str


class Observed(msgspec.Struct, frozen=True):
    """Something that only tells that the agent is there."""


class Several(msgspec.Struct, frozen=True):
    """More than one thing told at once, in this order."""

    facts: "tuple[Fact, ...]"


Fact = (
    SessionStarted
    | SessionEnded
    | PromptSubmitted
    | ToolStarted
    | PermissionAsked
    | ToolFinished
    | ToolFailed
    | ToolRefused
    | ToolRejected
    | StepFinished
    | ElicitationAsked
    | ElicitationAnswered
    | AttentionCalled
    | SubagentStarted
    | SubagentDescribed
    | SubagentStopped
    | TurnStopped
    | TurnWentOn
    | TurnFailed
    | TurnInterrupted
    | CompactionStarted
    | CompactionFinished
    | ModelSwitched
    | DirectoryChanged
    | TodoAdded
    | TodoDone
    | AgentSpoke
    | UserSpoke
    | PromptQueued
    | PromptUnqueued
    | TurnClosed
    | ContextArrived
    | UsageMeasured
    | ClientReported
    | ClientVanished
    | AgentRegistered
    | MissionReported
    | MissionFinished
    | WorkerEnded
    | ConversationWoken
    | RestartBegun
    | SupervisionEnded
    | WrapperVanished
    | AgentSeen
    | AgentClosed
    | TextTyped
    | EscPressed
    | TypingFailed
    | ErrandMoved
    | WaitHeld
    | WaitAnswered
    | WaitTaken
    | WaitReleased
    | NoticeBegun
    | NoticeSettled
    | NoticeOver
    | AgentRenamed
    | AgentNoted
    | ContextLoaded
    | AgentImported
    | Observed
    | Several
)


class TeamSignal(msgspec.Struct, frozen=True):
    """A teammate became idle or completed a task."""

    member: str = ""
    team: str = ""
    task: str | None = None
    """The completed task; None if the teammate is idle."""


class Event(msgspec.Struct, frozen=True):
    """A fact with its circumstances, and what was odd about how it arrived."""

    meta: Meta
    fact: Fact
    observations: Observations = NO_OBSERVATIONS
    decisions: Decisions = NO_DECISIONS
    anomaly: str | None = None
    hook: HookKind | None = None
    """The kind of hook that reported it."""
    tool: ToolUse | None = None
    """The tool use that a hook is about."""
    texts: tuple[ToolText, ...] = ()
    """Inputs and results of tools that search finds."""
    team_signal: TeamSignal | None = None
    session_only: bool = False
    """Whether only its session id tells which agent it belongs to, never its directory."""
