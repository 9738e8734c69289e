"""Efforts as surfaces show them: the JSON shapes of the API. Pure."""

from collections.abc import Sequence

import msgspec

from claude_headspace.kernel.effort.advise import HEARTBEAT_LIMIT, pending_preloads
from claude_headspace.kernel.effort.model import Effort, Message, Metadata, Task, Window, artifact_paths
from claude_headspace.kernel.text import Time, iso, optional_iso
from claude_headspace.kernel.views.fields import view_of


class WindowView(msgspec.Struct, frozen=True):
    """A context window of an effort, open or ended."""

    id: str
    agent_id: str
    subagent_id: str | None
    prev_session_id: str | None
    heartbeat: int
    context_usage: float | None
    loaded_files: tuple[str, ...]
    dehydrated: bool
    spent: str | None
    """Why the work should continue in a new window; null if it should not."""
    started_at: Time
    ended_at: Time | None
    end_reason: str | None


class MessageView(msgspec.Struct, frozen=True):
    """A log entry, dialogue, phase, failure or signal."""

    id: str
    at: Time
    kind: str
    text: str
    session_id: str | None


class InjectionView(msgspec.Struct, frozen=True):
    """A text for the agent, with its delivery state."""

    id: str
    text: str
    at: Time
    delivery: str


class EffortView(msgspec.Struct, frozen=True, kw_only=True):
    """An effort with its open windows."""

    id: str
    skill: str
    ordinal: int
    mode: str
    lifecycle: str
    phase: str | None
    phases: tuple[str, ...]
    task_id: str
    task_dir: str
    project_root: str
    host: str
    owner: str | None
    agent_id: str | None
    manager: str | None
    heartbeat: int
    heartbeat_limit: int
    context_usage: float | None
    logged: int
    artifacts: dict[str, str]
    directives: tuple[str, ...]
    preload: tuple[str, ...]
    pending_preloads: tuple[str, ...]
    injections: tuple[InjectionView, ...]
    metadata: Metadata
    dehydrated: str | None
    sessions: tuple[WindowView, ...]
    started_at: Time
    finished_at: Time | None


class EffortStory(EffortView, frozen=True, kw_only=True):
    """An effort with all its windows and messages."""

    messages: tuple[MessageView, ...]


class TaskView(msgspec.Struct, frozen=True):
    """A directory with its efforts."""

    id: str
    dir_path: str
    project_root: str
    host: str
    title: str
    keywords: tuple[str, ...]
    efforts: int
    status: str
    """`active` while one of its efforts is active, otherwise `dormant`."""


def effort_story(effort: Effort, windows: Sequence[Window], messages: Sequence[Message]) -> EffortStory:
    """The view of an effort with all its windows and messages."""
    fields = msgspec.structs.asdict(effort_view(effort))
    sessions = tuple(window_view(window) for window in windows)
    return EffortStory(**{**fields, "sessions": sessions, "messages": tuple(message_view(each) for each in messages)})


def effort_view(effort: Effort) -> EffortView:
    """The view of an effort with its open windows."""
    main = next((window for window in reversed(effort.windows) if window.subagent_id is None), None)
    limit = effort.metadata.get("heartbeat_limit")
    return view_of(
        EffortView,
        effort,
        lifecycle=effort.lifecycle.value,
        phases=tuple((effort.skill_config or {}).get("phases", ())),
        agent_id=effort.holder,
        heartbeat=main.heartbeat if main else 0,
        heartbeat_limit=limit if isinstance(limit, int) else HEARTBEAT_LIMIT,
        context_usage=main.context_usage if main else None,
        logged=effort.log_count,
        artifacts=artifact_paths(effort),
        pending_preloads=pending_preloads(effort, main),
        injections=tuple(InjectionView(e.id, e.text, iso(e.at), e.delivery.value) for e in effort.injections),
        dehydrated=effort.handover.text if effort.handover else None,
        sessions=tuple(window_view(window) for window in effort.windows),
        started_at=iso(effort.started_at),
        finished_at=optional_iso(effort.finished_at),
    )


def window_view(window: Window) -> WindowView:
    """The view of a context window."""
    return view_of(
        WindowView,
        window,
        dehydrated=window.handover is not None,
        spent=window.restart_reason,
        started_at=iso(window.started_at),
        ended_at=optional_iso(window.ended_at),
    )


def message_view(message: Message) -> MessageView:
    """The view of a message."""
    return view_of(MessageView, message, at=iso(message.at))


def task_view(task: Task, *, active: bool) -> TaskView:
    """The view of a task. `active`: whether one of its efforts is active."""
    return view_of(TaskView, task, efforts=task.effort_count, status="active" if active else "dormant")
