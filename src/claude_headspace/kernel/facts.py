"""Facts: the decoded meaning of events, named in the past tense.

`clients.decode` turns an envelope into a fact, and `evolve` applies facts to an agent. A fact contains what was
reported, not what follows from it.

Events are trees without cycles, and replays make many: `gc=False` spares the garbage collector visiting them.
"""

import msgspec

from claude_headspace.kernel.acts import Act
from claude_headspace.kernel.envelope import NO_DECISIONS, NO_OBSERVATIONS, Decisions, Micros, Observations, Origin
from claude_headspace.kernel.hooks import HookKind
from claude_headspace.kernel.mission.model import Mission
from claude_headspace.kernel.tools import ToolText, ToolUse
from claude_headspace.kernel.usage import ModelUsage
from claude_headspace.kernel.wait.request import Ask


class Meta(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The metadata of a fact: when, from which source, of which session and thread."""

    event_id: str
    name: str
    origin: Origin
    at: Micros
    received_at: Micros
    host: str = ""
    """The host on which it happened; empty if unknown."""
    session_id: str = ""
    """The client's session id; empty if the source does not know it."""
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
    with_prompt: bool = False
    """Whether a prompt follows at once: the client reports a session only then."""


class SessionEnded(msgspec.Struct, frozen=True):
    """A context window closed."""

    reason: str


class PromptSubmitted(msgspec.Struct, frozen=True):
    """A prompt was submitted. `finished_task` is set if the client submitted the result of background work."""

    text: str
    finished_task: str | None = None
    joins_turn: bool = False
    """Whether the running turn has taken it in, if there is one: the client reports a typed prompt only then."""


class ToolStarted(msgspec.Struct, frozen=True):
    """A tool is about to run. Some tools ask the user (`ask`)."""

    call_id: str
    tool: str
    digest: str
    summary: str
    ask: Ask | None = None


class PermissionAsked(msgspec.Struct, frozen=True):
    """The client shows a dialog for a call. If it does not name the call, tool and input identify it."""

    tool: str
    digest: str
    summary: str
    ask: Ask
    suggestions: str = ""
    """The client's own suggestions of rules, as JSON."""
    call_id: str = ""
    request_id: str = ""
    """The client's id of the dialog. A client that sends it also reports the end of the dialog (`DialogClosed`)."""
    may_be_granted: bool = False
    """Whether an earlier answer may allow the call: then no dialog opens, and the call runs at once."""


class DialogAssumed(msgspec.Struct, frozen=True):
    """A call that may be granted (`PermissionAsked`) has not ended for a while: its dialog is open."""


class DialogClosed(msgspec.Struct, frozen=True):
    """A dialog was answered. Its call runs now, or its own end follows.

    It is known by its request id; without one, by its call.
    """

    request_id: str
    resolution: str = "answered"
    answer: str = ""
    """What the user answered, for tools that ask."""
    call_id: str = ""


class ToolFinished(msgspec.Struct, frozen=True):
    """A call ended. Its input may differ from the start: answers are added to a question."""

    call_id: str | None
    tool: str
    digest: str = ""
    answer: str = ""
    """What the user answered, for tools that ask."""
    background_task: Task | None = None
    background_subagent: str | None = None


class ToolFailed(msgspec.Struct, frozen=True):
    """A call failed."""

    call_id: str | None
    tool: str
    digest: str = ""
    error: str = ""


class ToolRefused(msgspec.Struct, frozen=True):
    """A call was refused without a dialog."""

    call_id: str | None
    tool: str
    digest: str = ""
    reason: str = ""


class ToolRejected(msgspec.Struct, frozen=True):
    """The user rejected a call, perhaps with feedback."""

    call_id: str | None
    feedback: str = ""


class StepFinished(msgspec.Struct, frozen=True):
    """All calls of one step ended."""

    call_ids: tuple[str, ...]


class ElicitationAsked(msgspec.Struct, frozen=True):
    """An MCP server asks the user."""

    id: str
    ask: Ask


class ElicitationAnswered(msgspec.Struct, frozen=True):
    """An MCP server got its answer."""

    id: str
    action: str = ""


class AttentionRequested(msgspec.Struct, frozen=True):
    """The client sent a notification. `ask` is the dialog that it implies; None for the reminder that it is idle."""

    kind: str
    message: str
    ask: Ask | None = None


class SubagentStarted(msgspec.Struct, frozen=True):
    """A sub-agent started (`meta.subagent_id`)."""


class SubagentDescribed(msgspec.Struct, frozen=True):
    """Type and purpose of a sub-agent, from the file beside its transcript."""

    type: str
    description: str


class SubagentStopped(msgspec.Struct, frozen=True):
    """A sub-agent ended."""

    message: str = ""


class TeammateStopped(msgspec.Struct, frozen=True):
    """A teammate finished its turn and has nothing to do: a sub-agent, or the client that reports it."""

    name: str
    is_sub_agent: bool = False
    """Whether the client that reports it leads the team, so that the teammate runs inside it."""


class TurnStopped(msgspec.Struct, frozen=True):
    """The turn ended. `background` lists the running tasks; None if the client did not list them."""

    message: str | None = None
    background: tuple[Task, ...] | None = None
    continued_before: bool = False
    """Whether a hook kept the turn from ending before."""
    leaves_subagents: bool = False
    """Whether sub-agents may run on, without a turn that continues when they end."""
    ask: Ask | None = None
    """What the client asks now that the turn ended, such as whether to follow a plan. A prompt answers it."""


class TurnEndReported(msgspec.Struct, frozen=True):
    """The client reports that a turn ended, but not how: completed, interrupted or failed. The transcript shows that.

    `message` has all words of the turn; empty if there are none.
    """

    message: str = ""


class TurnEndAssumed(msgspec.Struct, frozen=True):
    """The transcript has not shown how a reported end of a turn came about. It counts as completed."""


class TurnContinued(msgspec.Struct, frozen=True):
    """The reply to the Stop hook kept the turn from ending."""

    message: str = ""


class TurnFailed(msgspec.Struct, frozen=True):
    """The turn ended in an API error."""

    error: str
    message: str = ""


class TurnInterrupted(msgspec.Struct, frozen=True):
    """The user interrupted the turn. No hook reports it."""


class CompactionStarted(msgspec.Struct, frozen=True):
    """The context is being compacted."""

    trigger: str


class CompactionFinished(msgspec.Struct, frozen=True):
    """The context was compacted."""

    trigger: str


class ModelSwitched(msgspec.Struct, frozen=True):
    """The model changed."""

    model: str | None


class DirectoryChanged(msgspec.Struct, frozen=True):
    """The working directory changed."""

    cwd: str | None


class TodoAdded(msgspec.Struct, frozen=True):
    """The agent added an entry to its to-do list."""

    task_id: str


class TodoDone(msgspec.Struct, frozen=True):
    """The agent completed an entry of its to-do list."""

    task_id: str


class AgentWrote(msgspec.Struct, frozen=True):
    """The transcript shows a message of the agent: between tool calls, or at the end of the turn (`final`)."""

    text: str
    final: bool = False


class UserWrote(msgspec.Struct, frozen=True):
    """The transcript shows a prompt, whether or not a hook reported it. `queued` if it waited for the previous turn."""

    text: str
    queued: bool = False
    joins_turn: bool = False
    """Whether the running turn has taken it in, if there is one."""


class PromptQueued(msgspec.Struct, frozen=True):
    """A prompt is queued behind the running turn. With `finished_task` it is the result of background work."""

    text: str
    finished_task: str | None = None


class PromptUnqueued(msgspec.Struct, frozen=True):
    """A queued prompt was removed: the running turn included it, or the user withdrew it. Empty text: all."""

    text: str
    finished_task: str | None = None


class TurnClosed(msgspec.Struct, frozen=True):
    """The transcript closes a turn. `pending` sub-agents continue. `end` is how it ended, if the line says so."""

    pending: int = 0
    end: TurnStopped | None = None


class RateLimit(msgspec.Struct, frozen=True):
    """How much of an account limit is used, and when it resets (seconds since 1970)."""

    name: str
    used_percent: float
    resets_at: int | None = None


class ContextAdded(msgspec.Struct, frozen=True):
    """Text was added to the model's context: injections of Headspace, by their marks, or files."""

    marks: tuple[str, ...]
    files: tuple[str, ...] = ()


class UsageMeasured(msgspec.Struct, frozen=True, kw_only=True):
    """Context usage and cost of the session, as far as reported."""

    model: str | None = None
    tokens: int | None = None
    window: int | None = None
    cost_usd: float | None = None
    limits: tuple[RateLimit, ...] = ()
    totals: tuple[ModelUsage, ...] = ()
    """What the session has used so far, by model."""
    added: ModelUsage | None = None
    """What one message used."""


class ClientReported(msgspec.Struct, frozen=True):
    """The client's registry entry. `status` is busy, idle, shell or waiting; empty if the entry has none."""

    status: str
    ask: Ask | None = None
    headless: bool = False
    """A program started it (`-p`): no person uses it."""


class ClientVanished(msgspec.Struct, frozen=True):
    """The client's process is gone."""

    pid: int | None = None


class AgentRegistered(msgspec.Struct, frozen=True, kw_only=True):
    """A client is about to be started, with an id for the agent and perhaps a name, a role and a mode.

    `wrapper_pid` is the process that starts the client and stays with it; it may also supervise it.
    """

    headspace_id: str | None = None
    name: str = ""
    role: str | None = None
    mode: str | None = None
    branch: str | None = None
    worktree_root: str | None = None
    """The root of the worktree that it starts in, if that is not the main one."""
    tmux_session: str | None = None
    tmux_pane: str | None = None
    mission: Mission | None = None
    wrapper_pid: int | None = None
    wrapper_started_at: Micros | None = None
    supervised: bool = False
    forked_session: str = ""


class AgentResumed(msgspec.Struct, frozen=True, kw_only=True):
    """The session of an ended agent is about to be opened again, in this terminal."""

    headspace_id: str | None = None
    tmux_session: str | None = None
    tmux_pane: str | None = None
    wrapper_pid: int | None = None
    wrapper_started_at: Micros | None = None


class WrapperVanished(msgspec.Struct, frozen=True):
    """The process that started the client is gone."""

    pid: int | None = None


class RemoteActionStep(msgspec.Struct, frozen=True):
    """A remote action, which only the agent's host can do, was requested, accepted, given up or done (`step`)."""

    id: str
    step: str


class Observed(msgspec.Struct, frozen=True):
    """An event without further meaning: it only shows that the client is alive."""


class Several(msgspec.Struct, frozen=True):
    """Several facts of one event, in this order."""

    facts: "tuple[Fact, ...]"


Fact = (
    SessionStarted
    | SessionEnded
    | PromptSubmitted
    | ToolStarted
    | PermissionAsked
    | DialogAssumed
    | DialogClosed
    | ToolFinished
    | ToolFailed
    | ToolRefused
    | ToolRejected
    | StepFinished
    | ElicitationAsked
    | ElicitationAnswered
    | AttentionRequested
    | SubagentStarted
    | SubagentDescribed
    | SubagentStopped
    | TeammateStopped
    | TurnStopped
    | TurnEndReported
    | TurnEndAssumed
    | TurnContinued
    | TurnFailed
    | TurnInterrupted
    | CompactionStarted
    | CompactionFinished
    | ModelSwitched
    | DirectoryChanged
    | TodoAdded
    | TodoDone
    | AgentWrote
    | UserWrote
    | PromptQueued
    | PromptUnqueued
    | TurnClosed
    | ContextAdded
    | UsageMeasured
    | ClientReported
    | ClientVanished
    | Act
    | AgentRegistered
    | AgentResumed
    | WrapperVanished
    | RemoteActionStep
    | Observed
    | Several
)


class TeamSignal(msgspec.Struct, frozen=True):
    """A teammate became idle or completed a task."""

    member: str = ""
    team: str = ""
    task: str | None = None
    """The completed task; None if the teammate is idle."""


class Event(msgspec.Struct, frozen=True, gc=False):
    """A decoded event: metadata, fact, observations, decisions, and an anomaly if there was one."""

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
    """Whether only its session id identifies its agent, never its directory."""
