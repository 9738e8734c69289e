"""Views: the types that surfaces show, as pure functions of the agent, and the states of other tools (dialects).

The API returns these types as JSON, its schema is generated from them, and the stream sends their changes.
"""

import html
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from itertools import chain
from operator import attrgetter
from typing import Any, TypeVar

import msgspec

from claude_headspace.kernel.agent import (
    Agent,
    AgentState,
    Answered,
    Command,
    Project,
    RuledCall,
    Session,
    ToolCall,
    Turn,
    Wait,
)
from claude_headspace.kernel.envelope import SECOND, Micros
from claude_headspace.kernel.facts import RateLimit
from claude_headspace.kernel.grants import Grant, Suggestion
from claude_headspace.kernel.hidden_characters import HiddenCharacter, find_hidden
from claude_headspace.kernel.mission.model import Mission
from claude_headspace.kernel.notify.notification import Notification
from claude_headspace.kernel.state_machine import CommandState
from claude_headspace.kernel.text import strings_in
from claude_headspace.kernel.wait_request import Field, Question

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

APPROVALS = ("plan", "permission")
"""The waits that plate-spinner calls an approval. Every other wait is an input."""

Time = str
"""ISO 8601, UTC."""

_View = TypeVar("_View", bound=msgspec.Struct)


def iso(time: Micros) -> Time:
    """A time as ISO 8601. Times outside the calendar are clamped."""
    seconds, micros = divmod(time, SECOND)
    return f"{_second(seconds)}.{micros:06d}+00:00"


def optional_iso(time: Micros | None) -> Time | None:
    """A time as ISO 8601; None stays None."""
    return iso(time) if time is not None else None


@lru_cache(maxsize=4096)
def _second(seconds: int) -> str:
    """Cached, because many events share a second."""
    try:
        return (_EPOCH + timedelta(seconds=seconds)).isoformat()[:19]
    except OverflowError:
        return "9999-12-31T23:59:59" if seconds > 0 else "0001-01-01T00:00:00"


class Dialects(msgspec.Struct, frozen=True):
    """The state in the terms of the tools that Headspace replaces or works with."""

    headspace: str
    plate: str
    fleet: str
    claude_os: str


_DIALECTS = {
    AgentState.STARTING: Dialects("IDLE", "starting", "working", "active"),
    AgentState.IDLE: Dialects("IDLE", "idle", "done", "idle"),
    AgentState.WORKING: Dialects("PROCESSING", "running", "working", "active"),
    AgentState.WAITING: Dialects("AWAITING_INPUT", "awaiting_input", "attention", "active"),
    AgentState.ERROR: Dialects("COMPLETE", "error", "error", "idle"),
    AgentState.ENDED: Dialects("COMPLETE", "closed", "done", "ended"),
}
_COMMANDED = Dialects("COMMANDED", "running", "working", "active")
_TOOL_ACTIVE = Dialects("PROCESSING", "running", "working", "tool_active")
_APPROVAL = Dialects("AWAITING_INPUT", "awaiting_approval", "attention", "active")

_CHECKED = {
    waiting: msgspec.structs.replace(waiting, fleet="checked") for waiting in (_APPROVAL, _DIALECTS[AgentState.WAITING])
}
"""The state after a person looked at the agent."""


def dialects(agent: Agent) -> Dialects:
    """The state in every dialect."""
    if agent.state is AgentState.WAITING:
        waiting = _APPROVAL if agent.waiting_for in APPROVALS else _DIALECTS[agent.state]
        return waiting if agent.is_unseen else _CHECKED[waiting]
    if agent.state is AgentState.WORKING:
        if any(call.subagent_id is None for call in agent.calls):
            return _TOOL_ACTIVE
        if agent.command is not None and agent.command.state is CommandState.COMMANDED:
            return _COMMANDED
    return _DIALECTS[agent.state]


class TmuxView(msgspec.Struct, frozen=True):
    """The tmux session and pane of the agent."""

    session: str | None
    pane: str | None


class SessionView(msgspec.Struct, frozen=True):
    """The current context window."""

    id: str
    ordinal: int
    source: str
    started_at: Time
    prev_session_id: str | None
    transcript_path: str | None


class EvidenceView(msgspec.Struct, frozen=True):
    """Why the agent has its state."""

    source: str
    confidence: str
    at: Time
    why: str


class ToolView(msgspec.Struct, frozen=True):
    """The running tool call."""

    name: str
    summary: str
    since: Time


class CommandView(msgspec.Struct, frozen=True):
    """The command of the agent, with its state and outcome."""

    id: str
    state: CommandState
    text: str
    trigger: str
    started_at: Time
    ended_at: Time | None
    outcome: str | None


class SubagentView(msgspec.Struct, frozen=True):
    """A running sub-agent."""

    id: str
    type: str
    description: str
    started_at: Time
    tool: ToolView | None


class BackgroundTaskView(msgspec.Struct, frozen=True):
    """Background work that continues after the turn."""

    id: str
    kind: str
    description: str
    started_at: Time


class TodoView(msgspec.Struct, frozen=True):
    """The agent's to-do list: entries done and in total."""

    done: int
    total: int


class AnsweredView(msgspec.Struct, frozen=True):
    """An answer through Headspace: what, by whom, from where, when, and how long the wait was open."""

    words: str
    by: str
    via: str
    at: Time
    after_seconds: float
    grants: tuple[Grant, ...]
    """What it grants beyond this call."""


class GrantView(msgspec.Struct, frozen=True):
    """A permission that the agent was granted through Headspace: what, where it is stored, by whom, when."""

    words: str
    kind: str
    """`rule`, `mode` or `directory`."""
    destination: str
    by: str
    via: str
    at: Time


class WaitFields(msgspec.Struct, frozen=True, kw_only=True):
    """What every view of a wait has."""

    id: str
    agent_id: str
    kind: str
    text: str
    questions: tuple[Question, ...]
    form: tuple[Field, ...]
    """The fields of an MCP server's form."""
    tool: str | None
    summary: str
    subagent_id: str | None
    opened_at: Time
    held_until: Time | None
    """Until when it can be answered through Headspace; null: only in the terminal."""
    answered: AnsweredView | None
    """The answer given through Headspace. While the wait is open, the client has not applied it yet."""
    closed_at: Time | None
    resolution: str | None
    undelivered: AnsweredView | None
    """An answer given through Headspace that the client did not receive: answer again, in the terminal."""


class WaitView(WaitFields, frozen=True, kw_only=True):
    """A wait: the agent needs a person."""

    suggestions: list[dict[str, Any]]
    """The permission rules that the client suggests, as the client sent them."""


class RequestView(msgspec.Struct, frozen=True, kw_only=True):
    """What the agent requests, in full. Secrets are redacted."""

    text: str
    """The command, the plan, the question, the name of the edited file, or the arguments as lines."""
    diff: str = ""
    """The change of the file as a unified diff; empty if the request edits no file."""
    arguments: dict[str, Any] = {}
    """The named arguments of the tool."""
    complete: bool = True
    """False if something is left out."""
    left_out: int = 0
    """How many characters are left out of `text`, `diff` and `arguments`."""


class WaitDetailsView(WaitFields, frozen=True, kw_only=True):
    """A wait with the complete request."""

    request: RequestView
    hidden_characters: tuple[HiddenCharacter, ...]
    """Hidden characters in `request.text`; those in other parts and entities in a plan have position -1."""
    suggestions: tuple[Suggestion, ...]
    """What can be granted together with the answer."""


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


class TurnView(msgspec.Struct, frozen=True):
    """One message in a command."""

    turn_id: str
    agent_id: str
    project_id: str
    command_id: str
    actor: str
    intent: str
    text: str
    timestamp: Time
    timestamp_source: str
    reason: str


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
    """The result of a worker that the agent has not been told yet."""

    mission_id: str
    goal: str
    at: Time
    woken: bool


class SupervisionView(msgspec.Struct, frozen=True):
    """`headspace run --supervise` restarts the client when its context window is full."""

    restarts: int
    restarted_at: Time | None
    reason: str
    """Why it was restarted the last time."""
    under_way: bool
    ended: str
    """Why it is not restarted any more; empty while it is supervised."""


class AgentView(msgspec.Struct, frozen=True, kw_only=True):
    """An agent as every surface shows it."""

    id: str
    name: str
    project: Project
    cwd: str | None
    branch: str | None
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
    """The highest context level that the session was told in this context window, in percent; 0: none."""
    tokens: int | None
    cost_usd: float | None
    rate_limits: tuple[RateLimit, ...]
    permission_mode: str | None
    role: str | None
    mode: str
    mission: MissionView | None
    """The mission that it works on."""
    news: tuple[NewsView, ...]
    """Results of its workers that it is told with its next prompt."""
    note: NoteView | None
    briefed: BriefedView | None
    supervision: SupervisionView | None
    imported_from: str | None
    dialects: Dialects
    created_at: Time
    ended_at: Time | None
    end_reason: str | None


def evidence_view(agent: Agent) -> EvidenceView | None:
    """Why the agent has its state."""
    evidence = agent.evidence
    return EvidenceView(evidence.source, evidence.confidence, iso(evidence.at), evidence.why) if evidence else None


def _subagent_views(agent: Agent) -> tuple[SubagentView, ...]:
    if not agent.subagents:
        return ()
    return tuple(
        SubagentView(sub.id, sub.type, sub.description, iso(sub.started_at), _tool_of(agent.calls, sub.id))
        for sub in agent.running_subagents
    )


def _background_views(agent: Agent) -> tuple[BackgroundTaskView, ...]:
    return tuple(
        BackgroundTaskView(task.id, task.kind, task.description, iso(task.started_at))
        for task in agent.running_background
    )


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


_DERIVED: dict[str, tuple[tuple[str, ...], Callable[[Agent], object]]] = {
    "tmux": (("tmux_session", "tmux_pane"), lambda agent: TmuxView(agent.tmux_session, agent.tmux_pane)),
    "session_id": (("session",), lambda agent: agent.session.client_id if agent.session else None),
    "session": (("session",), lambda agent: session_view(agent.session) if agent.session else None),
    "state_since": (("state_since",), lambda agent: iso(agent.state_since)),
    "last_active_at": (("last_active_at",), lambda agent: iso(agent.last_active_at or agent.created_at)),
    "unseen": (("state", "state_since", "seen_at", "command"), lambda agent: agent.is_unseen),
    "evidence": (("evidence",), evidence_view),
    "tool": (("calls",), lambda agent: _tool_of(agent.calls, None)),
    "command": (("command",), lambda agent: command_view(agent.command) if agent.command else None),
    "waits": (("waits",), lambda agent: tuple(wait_view(wait) for wait in agent.waits)),
    "subagents": (("subagents", "calls"), _subagent_views),
    "background_tasks": (("background",), _background_views),
    "notices": (("notices",), lambda agent: tuple(notice_view(notice) for notice in agent.notices)),
    "todo": (("todos", "todos_done"), lambda a: TodoView(len(a.todos_done), len(a.todos)) if a.todos else None),
    "verdicts": (("verdicts",), lambda agent: tuple(verdict_view(each) for each in agent.verdicts)),
    "grants": (("grants",), lambda a: tuple(view_of(GrantView, each, at=iso(each.at)) for each in a.grants)),
    "mission": (("mission",), lambda agent: mission_view(agent.mission)),
    "news": (
        ("worker_reports",),
        lambda a: tuple(NewsView(n.mission_id, n.goal, iso(n.at), n.woken) for n in a.worker_reports),
    ),
    "dialects": (("state", "state_since", "seen_at", "waiting_for", "calls", "command"), dialects),
    "context_warning_level": (("context_level_reported",), lambda agent: agent.context_level_reported),
    "note": (("note",), lambda agent: NoteView(agent.note.text, iso(agent.note.at)) if agent.note else None),
    "briefed": (("session_context",), _briefed_view),
    "supervision": (("supervision",), _supervision_view),
    "created_at": (("created_at",), lambda agent: iso(agent.created_at)),
    "ended_at": (("ended_at",), lambda agent: optional_iso(agent.ended_at)),
}
"""Fields that are computed: from which fields of the agent, and how. All others are the field of the same name."""

_FIELDS = {name: _DERIVED.get(name, ((name,), attrgetter(name))) for name in AgentView.__struct_fields__}
_PARTS = Agent.__struct_fields__
_PARTIAL = {
    "background_tasks",
    "command",
    "dialects",
    "session",
    "session_id",
    "subagents",
    "todo",
    "tool",
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


def view_of(kind: type[_View], source: msgspec.Struct, **computed: object) -> _View:
    """A view with these computed fields; all others are the fields of the same name of the source."""
    return kind(**{name: getattr(source, name) for name in kind.__struct_fields__ if name not in computed}, **computed)


def verdict_view(judged: RuledCall) -> JudgedView:
    """A tool call with a verdict of the policy."""
    return view_of(JudgedView, judged, timestamp=iso(judged.at))


def mission_view(mission: Mission | None) -> MissionView | None:
    """A mission."""
    if mission is None:
        return None
    started_at, ended_at = iso(mission.started_at), optional_iso(mission.ended_at)
    return view_of(MissionView, mission, words=mission.reason, started_at=started_at, ended_at=ended_at)


def _tool_of(calls: tuple[ToolCall, ...], subagent_id: str | None) -> ToolView | None:
    """The newest open call of a thread."""
    for call in reversed(calls):
        if call.subagent_id == subagent_id:
            return ToolView(call.tool, call.summary, iso(call.started_at))
    return None


def session_view(session: Session) -> SessionView:
    """A context window."""
    return view_of(SessionView, session, started_at=iso(session.started_at))


def command_view(command: Command) -> CommandView:
    """A command."""
    started_at, ended_at = iso(command.started_at), optional_iso(command.ended_at)
    return view_of(CommandView, command, started_at=started_at, ended_at=ended_at)


def wait_view(wait: Wait) -> WaitView:
    """A wait with its options."""
    return _wait_view(WaitView, wait, suggestions=_suggestions(wait.suggestions))


def wait_details_view(wait: Wait, request: RequestView, suggestions: tuple[Suggestion, ...]) -> WaitDetailsView:
    """A wait with the complete request."""
    options = strings_in(msgspec.json.decode(msgspec.json.encode((wait.questions, wait.form))))
    formatted = (html.unescape(request.text),) if wait.kind == "plan" else ()
    hidden = find_hidden_in_request(request, *formatted, *options)
    return _wait_view(WaitDetailsView, wait, request=request, hidden_characters=hidden, suggestions=suggestions)


def find_hidden_in_request(request: RequestView, *options: str) -> tuple[HiddenCharacter, ...]:
    """The hidden characters of the text, then each kind that is only in the other parts or the options, once."""
    found = find_hidden(request.text)
    known = {each.code for each in found}
    parts = (request.diff, *_texts(request.arguments), *options)
    others = {each.code: each for part in parts for each in find_hidden(part)}
    return (*found, *(msgspec.structs.replace(each, at=-1) for code, each in others.items() if code not in known))


def _texts(arguments: dict[str, Any]) -> Iterator[str]:
    return chain(arguments, strings_in(arguments))


def _wait_view(kind: type[_View], wait: Wait, **computed: object) -> _View:
    return view_of(
        kind,
        wait,
        opened_at=iso(wait.opened_at),
        held_until=optional_iso(wait.held_until or None),
        answered=_answered(wait, wait.answered),
        undelivered=_answered(wait, wait.undelivered),
        closed_at=optional_iso(wait.closed_at),
        **computed,
    )


def _answered(wait: Wait, done: Answered | None) -> AnsweredView | None:
    if done is None:
        return None
    after = round((done.at - wait.opened_at) / SECOND, 3)
    return AnsweredView(done.words, done.by, done.via, iso(done.at), after, done.grants)


def _suggestions(stored: str) -> list[dict[str, object]]:
    """The client's suggestions; empty if they cannot be decoded."""
    try:
        return msgspec.json.decode(stored, type=list[dict[str, object]]) if stored else []
    except (msgspec.DecodeError, RecursionError):
        return []


def notice_view(notice: Notification) -> NoticeView:
    """A notification."""
    return view_of(
        NoticeView,
        notice,
        begun_at=iso(notice.started_at),
        settled_at=optional_iso(notice.completed_at or None),
        over_at=optional_iso(notice.closed_at or None),
    )


def turn_view(turn: Turn) -> TurnView:
    """A turn, as the API and the stream show it."""
    return view_of(TurnView, turn, turn_id=turn.id, timestamp=iso(turn.at))
