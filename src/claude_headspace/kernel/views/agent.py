"""The view of an agent, and what changed in it. The stream sends these changes."""

from collections.abc import Callable
from operator import attrgetter

import msgspec

from claude_headspace.kernel.agent import Agent, AgentState, Project, RuledCall, Wait
from claude_headspace.kernel.facts import RateLimit
from claude_headspace.kernel.mission.model import Mission
from claude_headspace.kernel.notify.notification import Notification
from claude_headspace.kernel.pending_prompts import PendingPrompt
from claude_headspace.kernel.text import Time, iso, optional_iso
from claude_headspace.kernel.views.dialects import Dialects, dialects
from claude_headspace.kernel.views.fields import view_of
from claude_headspace.kernel.views.work import (
    BackgroundTaskView,
    CommandView,
    SessionView,
    SubagentView,
    TodoView,
    ToolView,
    background_views,
    command_view,
    newest_tool,
    session_view,
    subagent_views,
)
from claude_headspace.kernel.wait.views import GrantView, WaitView, grant_view, wait_view


class TmuxView(msgspec.Struct, frozen=True):
    """The tmux session and pane of the agent."""

    session: str | None
    pane: str | None


class EvidenceView(msgspec.Struct, frozen=True):
    """Why the agent has its state."""

    source: str
    confidence: str
    at: Time
    why: str


class NoteView(msgspec.Struct, frozen=True):
    """What an agent says it is working on."""

    text: str
    at: Time


class BriefedView(msgspec.Struct, frozen=True):
    """The files that the current context window started with, the files left out and why, and what went wrong."""

    at: Time
    files: tuple[str, ...]
    left_out: tuple[str, ...]
    problem: str


class NoticeView(msgspec.Struct, frozen=True):
    """A notification: need, channel and status."""

    need: str
    kind: str
    channel: str
    status: str
    """`sending`, `delivered`, `failed` or `over`."""
    title: str
    begun_at: Time
    attempts: int
    settled_at: Time | None
    failure: str
    over_at: Time | None
    outcome: str


class MissionView(msgspec.Struct, frozen=True):
    """A mission and its result."""

    id: str
    goal: str
    started_by: str
    conversation_id: str | None
    report: str
    answer: str
    outcome: str | None
    words: str
    started_at: Time
    ended_at: Time | None


class JudgedView(msgspec.Struct, frozen=True):
    """A tool call with a verdict of the policy."""

    event_id: str
    timestamp: Time
    ruling: str
    """`warn`, `ask` or `deny`."""
    rule: str | None
    reason: str | None
    enforced: bool
    """False if the verdict was only recorded."""
    tool: str
    summary: str


class NewsView(msgspec.Struct, frozen=True):
    """The result of a worker that the agent has not received yet."""

    mission_id: str
    goal: str
    at: Time
    woken: bool


class PendingPromptView(msgspec.Struct, frozen=True):
    """A prompt that is sent when the agent is idle."""

    id: str
    summary: str
    at: Time
    by: str
    via: str
    status: str
    """`waiting`, `sending`, or `failed`: it is not sent again."""
    not_before: Time | None
    """When it is sent at the earliest."""
    after_error: bool
    """Whether it continues a turn that an error stopped."""
    reason: str
    """Why it waits although the agent is idle, or why it failed."""


class SupervisionView(msgspec.Struct, frozen=True):
    """`headspace run --supervise` restarts the client when its context window is full."""

    restarts: int
    restarted_at: Time | None
    reason: str
    """Why it was restarted the last time."""
    under_way: bool
    ended: str
    """Why it is not restarted any more; empty while it is supervised."""


class WorktreeView(msgspec.Struct, frozen=True):
    """The git worktree that an agent works in, and how far its branch is from its base."""

    root: str
    base: str | None
    """The branch that the work is merged into; null if it is not known. Then there is no distance."""
    ahead: int
    behind: int
    uncommitted: int
    """Files with changes that are not committed."""
    removed: bool


class AgentView(msgspec.Struct, frozen=True, kw_only=True):
    """An agent as every surface shows it."""

    id: str
    name: str
    project: Project
    cwd: str | None
    branch: str | None
    worktree: WorktreeView | None
    """The worktree that it works in, if that is not the main one of its repository."""
    host: str
    client: str
    pid: int | None
    tmux: TmuxView
    tmux_session: str | None
    session_id: str | None
    session: SessionView | None
    parent_id: str | None
    state: AgentState
    waiting_for: str | None
    state_since: Time
    last_active_at: Time
    unseen: bool
    evidence: EvidenceView | None
    tool: ToolView | None
    last_tool: str | None
    command: CommandView | None
    waits: tuple[WaitView, ...]
    subagents: tuple[SubagentView, ...]
    background_tasks: tuple[BackgroundTaskView, ...]
    notices: tuple[NoticeView, ...]
    todo: TodoView | None
    verdicts: tuple[JudgedView, ...]
    """The newest tool calls with a verdict, newest last."""
    grants: tuple[GrantView, ...]
    """Permissions that were granted through Headspace, newest last."""
    error: str | None
    model: str | None
    context_percent: float | None
    context_warning_level: int
    """The highest context level that was reported to the session in this context window, in percent; 0: none."""
    tokens: int | None
    cost_usd: float | None
    """The cost of the current session."""
    total_cost_usd: float | None
    """The cost of all its sessions."""
    rate_limits: tuple[RateLimit, ...]
    permission_mode: str | None
    role: str | None
    mode: str
    mission: MissionView | None
    """The mission that it works on."""
    news: tuple[NewsView, ...]
    """Results of its workers that it receives with its next prompt."""
    pending_prompts: tuple[PendingPromptView, ...]
    """Prompts that Headspace sends when the agent is idle, oldest first."""
    note: NoteView | None
    briefed: BriefedView | None
    supervision: SupervisionView | None
    imported_from: str | None
    wrapper_id: str | None
    """The id that the program that started the client gave it (`CLAUDE_SESSION_ID`)."""
    wrapper_pid: int | None
    """The process that starts the client. Before its first report, only this process is known."""
    fleet_id: str | None
    """The `AGENT_ID` of the client."""
    dialects: Dialects
    created_at: Time
    ended_at: Time | None
    end_reason: str | None
    crashed: bool
    """Whether its client ended without reporting it, or with an error. `headspace restart` resumes it."""
    archived: bool
    """Whether a person took it off the board after its end."""


def evidence_view(agent: Agent) -> EvidenceView | None:
    """Why the agent has its state."""
    evidence = agent.evidence
    return EvidenceView(evidence.source, evidence.confidence, iso(evidence.at), evidence.why) if evidence else None


UNINFORMATIVE = ("dialog open",)
"""Texts of dialogs that say no more than the kind of the wait."""


def _wait_view(agent: Agent, wait: Wait) -> WaitView:
    """A wait. The text of a dialog without a call of its own is the call during which it opened, if there is one."""
    view = wait_view(wait)
    if wait.kind != "dialog" or wait.tool is not None or wait.text not in ("", *UNINFORMATIVE):
        return view
    call = newest_tool(agent.calls, wait.subagent_id)
    text = ": ".join(filter(None, (call.name, call.summary))) if call is not None else ""
    return msgspec.structs.replace(view, text=text)


def _briefed_view(agent: Agent) -> BriefedView | None:
    found = agent.session_context
    return BriefedView(iso(found.at), found.files, found.left_out, found.problem) if found else None


def _supervision_view(agent: Agent) -> SupervisionView | None:
    found = agent.supervision
    if found is None:
        return None
    return SupervisionView(
        found.restarts, optional_iso(found.restarted_at or None), found.reason, found.under_way, found.ended
    )


def _worktree_view(agent: Agent) -> WorktreeView | None:
    found = agent.worktree
    return view_of(WorktreeView, found) if found is not None else None


_DERIVED: dict[str, tuple[tuple[str, ...], Callable[[Agent], object]]] = {
    "tmux": (("tmux_session", "tmux_pane"), lambda agent: TmuxView(agent.tmux_session, agent.tmux_pane)),
    "session_id": (("session",), lambda agent: agent.session.client_id if agent.session else None),
    "session": (("session",), lambda agent: session_view(agent.session) if agent.session else None),
    "state_since": (("state_since",), lambda agent: iso(agent.state_since)),
    "last_active_at": (("last_active_at",), lambda agent: iso(agent.last_active_at or agent.created_at)),
    "unseen": (("state", "state_since", "seen_at", "command"), lambda agent: agent.is_unseen),
    "evidence": (("evidence",), evidence_view),
    "tool": (("calls",), lambda agent: newest_tool(agent.calls, None)),
    "command": (("command",), lambda agent: command_view(agent.command) if agent.command else None),
    "waits": (("waits", "calls"), lambda agent: tuple(_wait_view(agent, wait) for wait in agent.waits)),
    "subagents": (("subagents", "calls"), subagent_views),
    "background_tasks": (("background",), background_views),
    "notices": (("notices",), lambda agent: tuple(notice_view(notice) for notice in agent.notices)),
    "todo": (("todos", "todos_done"), lambda a: TodoView(len(a.todos_done), len(a.todos)) if a.todos else None),
    "verdicts": (("verdicts",), lambda agent: tuple(verdict_view(each) for each in agent.verdicts)),
    "grants": (("grants",), lambda agent: tuple(grant_view(each) for each in agent.grants)),
    "mission": (("mission",), lambda agent: mission_view(agent.mission)),
    "news": (
        ("worker_reports",),
        lambda a: tuple(NewsView(n.mission_id, n.goal, iso(n.at), n.woken) for n in a.worker_reports),
    ),
    "pending_prompts": (("pending_prompts",), lambda a: tuple(pending_prompt_view(each) for each in a.pending_prompts)),
    "dialects": (("state", "state_since", "seen_at", "waiting_for", "calls", "command"), dialects),
    "context_warning_level": (("context_level_reported",), lambda agent: agent.context_level_reported),
    "note": (("note",), lambda agent: NoteView(agent.note.text, iso(agent.note.at)) if agent.note else None),
    "briefed": (("session_context",), _briefed_view),
    "supervision": (("supervision",), _supervision_view),
    "worktree": (("worktree",), _worktree_view),
    "wrapper_id": (("headspace_id",), attrgetter("headspace_id")),
    "total_cost_usd": (("usage", "cost_usd"), attrgetter("total_cost_usd")),
    "created_at": (("created_at",), lambda agent: iso(agent.created_at)),
    "ended_at": (("ended_at",), lambda agent: optional_iso(agent.ended_at)),
    "crashed": (("end_reason",), lambda agent: agent.has_crashed),
    "archived": (("ended_at", "archived_at"), lambda agent: agent.is_archived),
}
"""Fields that are computed: from which fields of the agent, and how. All others are the field of the same name."""

_FIELDS = {name: _DERIVED.get(name, ((name,), attrgetter(name))) for name in AgentView.__struct_fields__}

_PARTS = Agent.__struct_fields__

_PARTIAL = {
    "archived",
    "background_tasks",
    "command",
    "crashed",
    "dialects",
    "session",
    "session_id",
    "subagents",
    "todo",
    "tool",
    "total_cost_usd",
    "unseen",
    "waits",
}
"""Computed fields that can stay equal when the fields of the agent differ."""

_DEPENDENT = {part: [name for name, (parts, _) in _FIELDS.items() if part in parts] for part in _PARTS}


def agent_view(agent: Agent) -> AgentView:
    """The agent as every surface shows it."""
    return AgentView(**{name: make(agent) for name, (_, make) in _FIELDS.items()})


def view_changes(before: Agent, after: Agent) -> dict[str, object]:
    """The changed fields of the view with their new value. Compares only fields that `evolve` replaced."""
    old, new = msgspec.structs.astuple(before), msgspec.structs.astuple(after)
    replaced = [p for p, was, now in zip(_PARTS, old, new, strict=True) if was is not now and was != now]
    changes: dict[str, object] = {}
    for name in dict.fromkeys(name for part in replaced for name in _DEPENDENT[part]):
        make = _FIELDS[name][1]
        value = make(after)
        if name not in _PARTIAL or value != make(before):
            changes[name] = value
    return changes


def verdict_view(judged: RuledCall) -> JudgedView:
    """A tool call with a verdict of the policy."""
    return view_of(JudgedView, judged, timestamp=iso(judged.at))


def pending_prompt_view(prompt: PendingPrompt) -> PendingPromptView:
    """A pending prompt."""
    status = "failed" if prompt.problem else "sending" if prompt.typed_at else "waiting"
    return view_of(
        PendingPromptView,
        prompt,
        at=iso(prompt.at),
        not_before=optional_iso(prompt.not_before or None),
        status=status,
        reason=prompt.problem or prompt.obstacle,
    )


def mission_view(mission: Mission | None) -> MissionView | None:
    """A mission."""
    if mission is None:
        return None
    started_at, ended_at = iso(mission.started_at), optional_iso(mission.ended_at)
    return view_of(MissionView, mission, words=mission.reason, started_at=started_at, ended_at=ended_at)


def notice_view(notice: Notification) -> NoticeView:
    """A notification."""
    return view_of(
        NoticeView,
        notice,
        begun_at=iso(notice.started_at),
        settled_at=optional_iso(notice.completed_at or None),
        over_at=optional_iso(notice.closed_at or None),
    )
