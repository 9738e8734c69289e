"""The nouns: an agent and what belongs to it.

An `Agent` is everything that is needed to understand the next event, no history: turns and finished commands leave it
as rows. Its parts are immutable; `evolve` copies the agent once per event and replaces parts in the copy.

The agent's state is never set, it follows from the parts (`state_of`): who is ended, who waits, what runs. Two moments
decide whether the turn runs, the newest sign of work (`busy_at`) and the newest end (`settled_at`); because both are
compared by the time the event was fired, a late or doubled event cannot bring back what is over.
"""

from enum import StrEnum

import msgspec

from claude_headspace.kernel.envelope import SECOND, Micros
from claude_headspace.kernel.facts import RateLimit
from claude_headspace.kernel.mission.model import Mission, News
from claude_headspace.kernel.notify.notification import Notice
from claude_headspace.kernel.policy.verdict import Ruling
from claude_headspace.kernel.state_machine import Actor, CommandState, Intent
from claude_headspace.kernel.wait_request import Field, Question

NEWS: Micros = 5 * SECOND
"""So soon after its end the news of a background sub-agent come to the agent."""


INTERACTIVE = "interactive"
"""The mode of a session that nobody gave another one."""


class AgentState(StrEnum):
    """The canonical states; every dialect is a view of them."""

    STARTING = "starting"
    IDLE = "idle"
    WORKING = "working"
    WAITING = "waiting"
    ERROR = "error"
    ENDED = "ended"


class Trigger(StrEnum):
    """What started a command."""

    PROMPT = "prompt"
    QUEUED = "queued_prompt"
    NOTIFICATION = "task_notification"
    SHELL = "shell_command"
    """A `!` command: no hook tells it."""
    UNANNOUNCED = "unannounced"
    """No prompt was heard: the hook was lost, or it was a `!` command."""


class Outcome(StrEnum):
    """How a command ended."""

    COMPLETED = "completed"
    INTERRUPTED = "interrupted"
    FAILED = "failed"
    SUPERSEDED = "superseded"


class Confidence(StrEnum):
    """How sure we are: told by a hook, read from what the client leaves behind, or concluded."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


class Evidence(msgspec.Struct, frozen=True):
    """Why a state is believed."""

    source: str
    confidence: Confidence
    at: Micros
    why: str


class Project(msgspec.Struct, frozen=True):
    """A repository or directory."""

    id: str
    name: str
    root: str


class Session(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """One context window. `client_id` is Claude's session id: resume and compaction keep it."""

    id: str
    agent_id: str
    ordinal: int
    client_id: str
    source: str
    started_at: Micros
    prev_session_id: str | None = None
    transcript_path: str | None = None
    ended_at: Micros | None = None
    end_reason: str | None = None


class Command(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """A unit of work, from what started it to its outcome."""

    id: str
    agent_id: str
    session_id: str
    state: CommandState
    trigger: Trigger
    started_at: Micros
    text: str = ""
    prompt_id: str | None = None
    ended_at: Micros | None = None
    outcome: Outcome | None = None


class Turn(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """One utterance."""

    id: str
    agent_id: str
    project_id: str
    command_id: str
    actor: Actor
    intent: Intent
    text: str
    at: Micros
    timestamp_source: str = "server"
    reason: str = ""
    """Why the intent is believed."""


class Heard(msgspec.Struct, frozen=True, array_like=True, kw_only=True):
    """A recent turn, remembered so that hook and transcript never make two of one utterance."""

    turn_id: str
    command_id: str
    actor: Actor
    intent: Intent
    mark: str
    at: Micros
    prompt_id: str | None = None
    from_transcript: bool = False
    text: str = ""
    """The words, kept only while the prompt is queued."""


class ToolCall(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """A call that has begun and not come to its end."""

    id: str
    tool: str
    digest: str
    summary: str
    started_at: Micros
    subagent_id: str | None = None


class FinishedCall(msgspec.Struct, frozen=True, array_like=True, kw_only=True):
    """A call that is over, remembered so that a late start or dialog does not open it again."""

    id: str
    tool: str
    digest: str
    at: Micros
    subagent_id: str | None = None


class Answered(msgspec.Struct, frozen=True, omit_defaults=True):
    """Who answered a wait through us: what, from where, when."""

    words: str
    by: str
    via: str
    at: Micros
    event_id: str = ""
    """The `WaitAnswered` event, which has the complete answer. Empty in waits of older versions."""


class Wait(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """An open need for a human."""

    id: str
    agent_id: str
    kind: str
    text: str
    opened_at: Micros
    questions: tuple[Question, ...] = ()
    form: tuple[Field, ...] = ()
    tool: str | None = None
    summary: str = ""
    call_id: str | None = None
    digest: str | None = None
    subagent_id: str | None = None
    suggestions: str = ""
    asked_in_text: bool = False
    """The last words of the turn were a question: no dialog is open, only a prompt answers it."""
    held_until: Micros = 0
    """Until when the client takes an answer through us; 0: it does not."""
    answered: Answered | None = None
    """An answer that the client has yet to take up, or has taken up."""
    closed_at: Micros | None = None
    resolution: str | None = None


class Subagent(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """A child session inside the agent. Kept for a while after its end, so that a late start does not revive it."""

    id: str
    type: str = ""
    started_at: Micros = 0
    stopped_at: Micros = 0
    last_active_at: Micros = 0
    step_at: Micros = 0
    began_at: Micros = 0
    background: bool = False
    description: str = ""

    @property
    def heard_at(self) -> Micros:
        """The newest sign that it runs."""
        return max(self.started_at, self.last_active_at)

    @property
    def running(self) -> bool:
        """Whether the newest thing heard of it is not its end."""
        return self.heard_at > self.stopped_at


class BackgroundTask(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """Work that outlives the turn: a shell (sub-agents have their own type)."""

    id: str
    kind: str
    description: str
    started_at: Micros
    seen_at: Micros = 0
    """The newest list that it stood on."""
    ended_at: Micros = 0

    @property
    def heard_at(self) -> Micros:
        """The newest sign that it runs."""
        return max(self.started_at, self.seen_at)

    @property
    def running(self) -> bool:
        """Whether it was last seen running."""
        return self.heard_at > self.ended_at


class Judged(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """A call that a rule spoke about."""

    event_id: str
    ruling: Ruling
    at: Micros
    rule: str | None = None
    reason: str | None = None
    enforced: bool = True
    tool: str = ""
    summary: str = ""


class Supervision(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """Somebody starts the agent's client anew when its context window is spent."""

    restarts: int = 0
    restarted_at: Micros = 0
    reason: str = ""
    """Why it was started anew the last time."""
    under_way: bool = False
    """The old client is being ended, and the new one has not reported yet."""
    ended: str = ""
    """Why nobody starts it anew any more."""


class EarlyEnd(msgspec.Struct, frozen=True):
    """The end of a session that was not in use as far as we knew: its start may still be on its way."""

    client_id: str
    at: Micros
    reason: str


class Note(msgspec.Struct, frozen=True):
    """What an agent says that it is at."""

    text: str
    at: Micros


class Briefed(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """What the context window in use began with."""

    at: Micros
    files: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    problem: str = ""


class Agent(msgspec.Struct, omit_defaults=True, kw_only=True):
    """One worker that a person would point at; survives `/clear`, compaction, resume and restarts."""

    id: str
    name: str
    host: str
    client: str
    project: Project
    created_at: Micros
    cwd: str | None = None
    branch: str | None = None
    pid: int | None = None
    pid_started_at: Micros | None = None
    tmux_session: str | None = None
    tmux_pane: str | None = None
    headspace_id: str | None = None
    wrapper_pid: int | None = None
    """The process that started its client and stays with it."""
    wrapper_started_at: Micros | None = None
    supervision: Supervision | None = None
    parent_id: str | None = None
    role: str | None = None
    mode: str = INTERACTIVE
    mission: Mission | None = None
    """What it was sent to do."""
    news: tuple[News, ...] = ()
    """What it is to be told of its workers."""
    note: Note | None = None
    briefed: Briefed | None = None
    imported_from: str | None = None
    """The host whose journal the agent's log was brought in from."""
    # what it is
    state: AgentState = AgentState.STARTING
    waiting_for: str | None = None
    state_since: Micros = 0
    evidence: Evidence | None = None
    last_active_at: Micros = 0
    seen_at: Micros = 0
    """When somebody last looked at it through Headspace."""
    # the moments that decide
    alive_at: Micros = 0
    """The newest hook that was not an end."""
    busy_at: Micros = 0
    settled_at: Micros = 0
    stopped_at: Micros = 0
    """The newest end that was told; `settled_at` may be a later one that was only seen."""
    stop_mark: str = ""
    """Recognises the newest end when it is told twice."""
    step_at: Micros = 0
    """All calls and dialogs of the main thread that began before are over."""
    began_at: Micros = 0
    """The newest start of a call of the main thread."""
    undisturbed_at: Micros = 0
    """All dialogs that opened before are over: the client was seen at work after."""
    listed_at: Micros = 0
    """Sub-agents and background work of which nothing was heard since are over: the client listed all that runs."""
    ended_at: Micros | None = None
    end_reason: str | None = None
    compacting_at: Micros = 0
    compacted_at: Micros = 0
    tool_finished_at: Micros = 0
    # what is going on
    session: Session | None = None
    past_sessions: tuple[str, ...] = ()
    early_end: EarlyEnd | None = None
    command: Command | None = None
    turn_ids: tuple[str, ...] = ()
    """The client's ids of further turns of the command: an answer begins one, and a task that comes back."""
    past_commands: tuple[Command, ...] = ()
    calls: tuple[ToolCall, ...] = ()
    finished_calls: tuple[FinishedCall, ...] = ()
    waits: tuple[Wait, ...] = ()
    queued: tuple[Heard, ...] = ()
    returning: tuple[str, ...] = ()
    """Background work that is over, and whose news waits for the turn to end."""
    returned: tuple[str, ...] = ()
    """Background work whose news came."""
    heard: tuple[Heard, ...] = ()
    subagents: tuple[Subagent, ...] = ()
    background: tuple[BackgroundTask, ...] = ()
    notices: tuple[Notice, ...] = ()
    """Who was called about it, and what came of that."""
    verdicts: tuple[Judged, ...] = ()
    """The newest calls that a rule spoke about."""
    error: str | None = None
    last_tool: str | None = None
    """The newest tool of the main thread, running or not."""
    todos: tuple[str, ...] = ()
    todos_done: tuple[str, ...] = ()
    last_words: str = ""
    """How the running turn ends, as far as the transcript shows; empty again when the turn is closed."""
    last_words_turn: str = ""
    # what it costs
    permission_mode: str | None = None
    model: str | None = None
    context_window: int | None = None
    """How much the model can take in, where that was told."""
    measured_at: Micros = 0
    context_percent: float | None = None
    tokens: int | None = None
    cost_usd: float | None = None
    rate_limits: tuple[RateLimit, ...] = ()
    # what it was told of itself
    told_level: int = 0
    """The highest level of its context that it was told of in this context window, in percent."""
    reminded_at: Micros = 0
    """When it was asked for a note."""

    @property
    def turn_runs(self) -> bool:
        """Whether the newest sign of work is newer than the newest end."""
        return self.busy_at > self.settled_at

    @property
    def is_unseen(self) -> bool:
        """Whether it came to something that a person would want to know, and nobody has looked since."""
        if self.seen_at and self.state_since <= self.seen_at:
            return False
        done = self.state is AgentState.IDLE and self.command is not None and self.command.outcome is Outcome.COMPLETED
        return done or self.state in (AgentState.WAITING, AgentState.ERROR)

    @property
    def restarts(self) -> bool:
        """Whether its client is being replaced by another one."""
        return self.supervision is not None and self.supervision.under_way

    @property
    def compacts(self) -> bool:
        """Whether nothing was heard since compaction began."""
        return self.compacting_at > max(self.compacted_at, self.busy_at, self.settled_at)

    @property
    def working_subagents(self) -> tuple[Subagent, ...]:
        """The sub-agents that still run."""
        return tuple(sub for sub in self.subagents if sub.running)

    def goes_on_by_itself(self, at: Micros) -> bool:
        """Whether the client is about to begin a turn that nobody has to start: something waited for the last one."""
        queued = self.command is not None and self.command.trigger is Trigger.QUEUED and not self.command.prompt_id
        comes_back = any(
            sub.background and 0 <= at - sub.stopped_at < NEWS and sub.id not in self.returned for sub in self.subagents
        )
        return bool(self.queued or self.returning) or queued or comes_back

    @property
    def running_background(self) -> tuple[BackgroundTask, ...]:
        """The background work that still runs."""
        return tuple(task for task in self.background if task.running)


def state_of(agent: Agent) -> tuple[AgentState, str | None]:
    """The state that follows from the parts, and what is waited for."""
    if agent.ended_at is not None:
        return AgentState.ENDED, None
    if agent.restarts:
        return AgentState.STARTING, None
    if agent.waits:
        return AgentState.WAITING, agent.waits[-1].kind
    if agent.turn_runs or agent.compacts or any(sub.running for sub in agent.subagents):
        return AgentState.WORKING, None
    if agent.error:
        return AgentState.ERROR, None
    return (AgentState.IDLE if agent.session else AgentState.STARTING), None
