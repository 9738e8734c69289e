"""The types of an agent and of everything that belongs to it.

An `Agent` holds what is needed to process the next event, and no history: turns and finished commands leave it as rows.
The parts of an agent are immutable. `evolve` copies the agent once per event and replaces parts in the copy.

The state is never set by an event. It follows from the other fields (`kernel/state.py`).

An agent is stored as one flat JSON object, in rows, snapshots and exported logs. Its JSON names and their order do not
change: other versions read them, and `verify` compares the text. A renamed field keeps its JSON name with
`msgspec.field(name=…)`. Why the fields are not nested: docs/decisions/0013-agent-stays-flat.md.
"""

from enum import StrEnum

import msgspec

from claude_headspace.kernel.envelope import SECOND, Micros
from claude_headspace.kernel.facts import RateLimit
from claude_headspace.kernel.mission.model import Mission, WorkerReport
from claude_headspace.kernel.notify.notification import Notification
from claude_headspace.kernel.pending_prompts import PendingPrompt
from claude_headspace.kernel.policy.verdict import Ruling
from claude_headspace.kernel.state_machine import Actor, CommandState, Intent
from claude_headspace.kernel.usage import Usage
from claude_headspace.kernel.wait.grants import Grant, GrantOption
from claude_headspace.kernel.wait.request import Field, Question

RESULT_DELAY: Micros = 5 * SECOND
"""The client reports the result of a background sub-agent to the model within this time after its end."""


VANISHED = "vanished"
"""The end reason of an agent whose client process is gone, without the end of its session."""

INTERACTIVE = "interactive"
"""The mode of a session without a declared mode."""


class AgentState(StrEnum):
    """The states of an agent. The states of other tools are views of them (`kernel/views/dialects.py`)."""

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
    """A `!` line: a shell command of the user. No hook reports it."""
    UNANNOUNCED = "unannounced"
    """No prompt was received: the hook was lost, or it was a `!` line."""


class Outcome(StrEnum):
    """How a command ended."""

    COMPLETED = "completed"
    INTERRUPTED = "interrupted"
    FAILED = "failed"
    SUPERSEDED = "superseded"


class Confidence(StrEnum):
    """How certain a state is: reported by a hook or a person, read from files or the process table, or inferred."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


class Evidence(msgspec.Struct, frozen=True):
    """Why an agent has its state: the event that last determined it."""

    source: str
    confidence: Confidence
    at: Micros
    why: str


class Project(msgspec.Struct, frozen=True):
    """A repository, or a directory outside of one."""

    id: str
    name: str
    root: str


class Session(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """One context window. `client_id` is the client's session id; resume and compaction keep it."""

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
    commit: str | None = None
    """The commit that was checked out at its start, if it started in a repository."""


class Command(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """A unit of work, from its trigger to its outcome."""

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
    """One message in a command: of the user or of the agent."""

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
    """Why it has this intent."""


class RecentTurn(msgspec.Struct, frozen=True, array_like=True, kw_only=True):
    """A recent turn. Used to recognise the same message when hook and transcript both report it."""

    turn_id: str
    command_id: str
    actor: Actor
    intent: Intent
    fingerprint: str
    at: Micros
    prompt_id: str | None = None
    from_transcript: bool = False
    text: str = ""
    """The text, only while the prompt is queued."""


class ToolCall(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """A tool call that has started and not ended."""

    id: str
    tool: str
    digest: str
    summary: str
    started_at: Micros
    subagent_id: str | None = None
    dialog: "Wait | None" = None
    """The wait that opens if the call does not end at once: the client asks about it, unless it is granted."""
    presents_plan: bool = False
    """Whether its dialog presents a plan. Only an approved plan lets the call end normally."""


class FinishedCall(msgspec.Struct, frozen=True, array_like=True, kw_only=True):
    """A tool call that ended. Kept so that a late start or dialog of it does not open it again."""

    id: str
    tool: str
    digest: str
    at: Micros
    subagent_id: str | None = None


UNANSWERED = ("rejected", "dismissed", "the turn ended", "the client ended")
"""Resolutions of a dialog whose answer, if any, the client did not apply."""


class Answered(msgspec.Struct, frozen=True, omit_defaults=True):
    """An answer to a wait given through Headspace: what, by whom, from where, when."""

    words: str
    """The answer in one line."""
    by: str
    via: str
    at: Micros
    event_id: str = ""
    """The `WaitAnswered` event, which has the complete answer. Empty in waits of older versions."""
    grants: tuple[GrantOption, ...] = ()
    problem: str = ""
    """Why the client did not receive it; empty if it did or if that is unknown."""


class Wait(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """The agent needs a person: a question, a plan, a permission, a form, a dialog."""

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
    request_id: str = ""
    """The client's id of the dialog. With it, other work does not prove that the dialog is closed."""
    asked_in_text: bool = False
    """The turn ended with a question in its text: no dialog is open, and only a prompt answers it."""
    held_until: Micros = 0
    """Until when the client accepts an answer through Headspace; 0: it does not."""
    answered: Answered | None = None
    """The answer given through Headspace. While the wait is open, the client has not applied it yet."""
    closed_at: Micros | None = None
    resolution: str | None = None
    undelivered: Answered | None = None
    """The newest answer given through Headspace that the client did not receive."""
    obstacle: str = ""
    """Why Headspace cannot answer it; empty if it can, or if nothing is known."""


class Subagent(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """A sub-agent: it has its own tool calls and waits. Kept after its end so that a late start does not revive it."""

    id: str
    type: str = ""
    started_at: Micros = 0
    stopped_at: Micros = 0
    last_active_at: Micros = 0
    step_ended_at: Micros = msgspec.field(default=0, name="step_at")
    call_started_at: Micros = msgspec.field(default=0, name="began_at")
    background: bool = False
    description: str = ""

    @property
    def last_seen_at(self) -> Micros:
        """The newest event that shows it running."""
        return max(self.started_at, self.last_active_at)

    @property
    def is_running(self) -> bool:
        """Whether it was seen running after its newest end."""
        return self.last_seen_at > self.stopped_at


class BackgroundTask(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """Work that continues after the turn, such as a shell. Sub-agents have their own type."""

    id: str
    kind: str
    description: str
    started_at: Micros
    listed_at: Micros = msgspec.field(default=0, name="seen_at")
    """The newest list of running tasks that contains it."""
    ended_at: Micros = 0

    @property
    def last_seen_at(self) -> Micros:
        """The newest event that shows it running."""
        return max(self.started_at, self.listed_at)

    @property
    def is_running(self) -> bool:
        """Whether it was seen running after its newest end."""
        return self.last_seen_at > self.ended_at


class RuledCall(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """A tool call that a policy rule warned about, asked about or denied."""

    event_id: str
    ruling: Ruling
    at: Micros
    rule: str | None = None
    reason: str | None = None
    enforced: bool = True
    tool: str = ""
    summary: str = ""


class Supervision(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """`headspace run --supervise` restarts the client when its context window is full."""

    restarts: int = 0
    restarted_at: Micros = 0
    reason: str = ""
    """Why it was restarted the last time."""
    under_way: bool = False
    """The old client is being ended, and the new one has not reported yet."""
    ended: str = ""
    """Why it is not restarted any more; empty while it is supervised."""


class EarlyEnd(msgspec.Struct, frozen=True):
    """The end of a session other than the current one. Its start may still arrive."""

    client_id: str
    at: Micros
    reason: str


class Note(msgspec.Struct, frozen=True):
    """What an agent works on, in its own words."""

    text: str
    at: Micros


class SessionContext(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """The files that the current context window started with."""

    at: Micros
    files: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    problem: str = ""


class ReportedEnd(msgspec.Struct, frozen=True, omit_defaults=True):
    """The end of a turn that the client reported and the transcript has not confirmed."""

    at: Micros
    message: str = ""


class Worktree(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """The git worktree that an agent works in, and how far its branch is from its base."""

    root: str
    base: str | None = None
    """The branch that the work is merged into. None if it is not known; then there is no distance."""
    ahead: int = 0
    """Commits that the base does not have."""
    behind: int = 0
    """Commits of the base that the branch does not have."""
    uncommitted: int = 0
    """Files with changes that are not committed."""
    removed: bool = False
    """Whether its directory was removed."""


class Agent(msgspec.Struct, omit_defaults=True, kw_only=True):
    """One coding agent, usually in a terminal. It survives `/clear`, compaction, resume and restarts."""

    # --- identity ---
    id: str
    name: str
    host: str
    client: str
    """The program, such as `claude-code`."""
    project: Project
    created_at: Micros
    # --- the client's directory, process and terminal ---
    cwd: str | None = None
    branch: str | None = None
    pid: int | None = None
    pid_started_at: Micros | None = None
    tmux_session: str | None = None
    tmux_pane: str | None = None
    headspace_id: str | None = None
    """The id that a wrapper put into the client's environment."""
    wrapper_pid: int | None = None
    """The process that started the client and stays with it (`headspace run`)."""
    wrapper_started_at: Micros | None = None
    supervision: Supervision | None = None
    # --- role and mission ---
    parent_id: str | None = None
    """The agent whose client started this client."""
    role: str | None = None
    mode: str = INTERACTIVE
    mission: Mission | None = None
    worker_reports: tuple[WorkerReport, ...] = msgspec.field(default=(), name="news")
    """Results of its workers that have not been reported to it yet."""
    note: Note | None = None
    session_context: SessionContext | None = msgspec.field(default=None, name="briefed")
    imported_from: str | None = None
    """The host whose log the agent was imported from."""
    # --- the state, derived after every event (`kernel/state.py`) ---
    state: AgentState = AgentState.STARTING
    waiting_for: str | None = None
    state_since: Micros = 0
    evidence: Evidence | None = None
    last_active_at: Micros = 0
    seen_at: Micros = 0
    """When a person last looked at it through Headspace."""
    # --- signals: the timestamps that decide the state (`SIGNALS` in `kernel/state.py`) ---
    last_hook_at: Micros = msgspec.field(default=0, name="alive_at")
    busy_at: Micros = 0
    idle_at: Micros = msgspec.field(default=0, name="settled_at")
    turn_ended_at: Micros = msgspec.field(default=0, name="stopped_at")
    turn_end_fingerprint: str = msgspec.field(default="", name="stop_mark")
    """Recognises the newest end of a turn when it is reported twice."""
    step_ended_at: Micros = msgspec.field(default=0, name="step_at")
    call_started_at: Micros = msgspec.field(default=0, name="began_at")
    dialogs_closed_at: Micros = msgspec.field(default=0, name="undisturbed_at")
    background_listed_at: Micros = msgspec.field(default=0, name="listed_at")
    ended_at: Micros | None = None
    end_reason: str | None = None
    compaction_started_at: Micros = msgspec.field(default=0, name="compacting_at")
    compaction_ended_at: Micros = msgspec.field(default=0, name="compacted_at")
    call_ended_at: Micros = msgspec.field(default=0, name="tool_finished_at")
    # --- current work ---
    session: Session | None = None
    past_sessions: tuple[str, ...] = ()
    early_end: EarlyEnd | None = None
    command: Command | None = None
    turn_ids: tuple[str, ...] = ()
    """The client's ids of further turns of the command: an answer starts one, and so does a finished task."""
    past_commands: tuple[Command, ...] = ()
    calls: tuple[ToolCall, ...] = ()
    finished_calls: tuple[FinishedCall, ...] = ()
    waits: tuple[Wait, ...] = ()
    queued_prompts: tuple[RecentTurn, ...] = msgspec.field(default=(), name="queued")
    pending_results: tuple[str, ...] = msgspec.field(default=(), name="returning")
    """Background work that ended and whose result the model gets when the turn ends."""
    delivered_results: tuple[str, ...] = msgspec.field(default=(), name="returned")
    """Background work whose result the model got."""
    recent_turns: tuple[RecentTurn, ...] = msgspec.field(default=(), name="heard")
    subagents: tuple[Subagent, ...] = ()
    background: tuple[BackgroundTask, ...] = ()
    notices: tuple[Notification, ...] = ()
    """Notifications about the agent, with their result. Stored as `notices`; session notices are something else."""
    verdicts: tuple[RuledCall, ...] = ()
    grants: tuple[Grant, ...] = ()
    """Permissions that people granted through Headspace, newest last."""
    """The newest tool calls with a verdict, newest last."""
    error: str | None = None
    """The API error that ended the last turn."""
    last_tool: str | None = None
    """The newest tool of the main thread, running or not."""
    todos: tuple[str, ...] = ()
    todos_done: tuple[str, ...] = ()
    final_text: str = msgspec.field(default="", name="last_words")
    """The last text of the turn in the transcript; empty again when the turn is closed."""
    final_text_turn_id: str = msgspec.field(default="", name="last_words_turn")
    # --- usage ---
    permission_mode: str | None = None
    model: str | None = None
    context_window: int | None = None
    """The size of the model's context window in tokens, if reported."""
    measured_at: Micros = 0
    context_percent: float | None = None
    tokens: int | None = None
    cost_usd: float | None = None
    """The cost of the current session."""
    rate_limits: tuple[RateLimit, ...] = ()
    # --- session notices ---
    context_level_reported: int = msgspec.field(default=0, name="told_level")
    """The highest context level that was reported to the session in this context window, in percent."""
    note_requested_at: Micros = msgspec.field(default=0, name="reminded_at")
    """When the session was asked for a note."""
    unauthenticated: bool = False
    """Whether only requests without the ingest token have reported it."""
    fleet_id: str | None = None
    """`AGENT_ID`: in a fleet, the name of the client's place."""
    question_closed_at: Micros = 0
    """When a sign of work closed a question in text; 0: none did, or the prompt that followed is known."""
    answer_taken_at: Micros = 0
    """The newest time at which the client had applied an answer given through Headspace."""
    reported_end: ReportedEnd | None = None
    """The newest end of a turn that waits for the transcript to confirm it."""
    forked_session: str = ""
    """The session of another agent that its client continued as a new one."""
    stop_requested_at: Micros = 0
    """When a person last ended its client through Headspace."""
    archived_at: Micros = 0
    """When a person last took it off the board; 0 if it is back."""
    usage: Usage | None = None
    """Cost and tokens of all its sessions."""
    pending_prompts: tuple[PendingPrompt, ...] = ()
    """Prompts that Headspace sends when the agent is idle, oldest first. `queued_prompts` are in the client."""

    @property
    def total_cost_usd(self) -> float | None:
        """The cost of all its sessions; None if it is not known."""
        return self.cost_usd if self.usage is None or self.usage.cost_usd is None else self.usage.cost_usd

    worktree: Worktree | None = None
    """The worktree that it works in, if that is not the main one of its repository, which is its project."""

    @property
    def root(self) -> str:
        """The root of the checkout that it works in: of its worktree, or else of its project."""
        return self.worktree.root if self.worktree is not None else self.project.root

    @property
    def is_in_turn(self) -> bool:
        """Whether the newest evidence of work is newer than the newest evidence of an idle agent."""
        return self.busy_at > self.idle_at

    @property
    def is_unseen(self) -> bool:
        """Whether it waits, failed or completed a command, and no person has looked at it since."""
        if self.seen_at and self.state_since <= self.seen_at:
            return False
        done = self.state is AgentState.IDLE and self.command is not None and self.command.outcome is Outcome.COMPLETED
        return done or self.state in (AgentState.WAITING, AgentState.ERROR)

    @property
    def is_archived(self) -> bool:
        """Whether a person took it off the board after its end. A client that runs again puts it back."""
        return self.ended_at is not None and self.archived_at > 0

    @property
    def has_crashed(self) -> bool:
        """Whether its client ended without reporting it, or its wrapper reported another exit code than 0."""
        reason = self.end_reason or ""
        return reason == VANISHED or (reason.startswith("exited with ") and reason != "exited with 0")

    @property
    def is_restarting(self) -> bool:
        """Whether a supervised restart of its client is in progress."""
        return self.supervision is not None and self.supervision.under_way

    @property
    def is_compacting(self) -> bool:
        """Whether a manual compaction started, and no newer event shows that it ended."""
        return self.compaction_started_at > max(self.compaction_ended_at, self.busy_at, self.idle_at)

    @property
    def running_subagents(self) -> tuple[Subagent, ...]:
        """The sub-agents that run now."""
        return tuple(sub for sub in self.subagents if sub.is_running)

    def continues_by_itself(self, at: Micros) -> bool:
        """Whether the client will start another turn without a prompt: something waits for the turn to end."""
        queued = self.command is not None and self.command.trigger is Trigger.QUEUED and not self.command.prompt_id
        result_expected = any(
            sub.background and 0 <= at - sub.stopped_at < RESULT_DELAY and sub.id not in self.delivered_results
            for sub in self.subagents
        )
        return bool(self.queued_prompts or self.pending_results) or queued or result_expected

    @property
    def running_background(self) -> tuple[BackgroundTask, ...]:
        """The background work that runs now."""
        return tuple(task for task in self.background if task.is_running)
