"""The model of efforts: task, effort, window, and their parts.

Rules
- An `Effort` contains everything that its next event needs, but no history: messages and ended windows are rows.
- All types are immutable; `evolve` replaces them. The lists of an effort are bounded.
- All are stored as JSON. A renamed field keeps its stored name.
"""

import hashlib
from enum import StrEnum
from typing import Any

import msgspec

from claude_headspace.kernel.envelope import Micros

MAX_FILES = 200
MAX_INJECTIONS = 32
MAX_WINDOWS = 64
MAX_LOG_ENTRIES = 20
"""How many of each an effort contains; the oldest are dropped."""

Metadata = dict[str, Any]


class Lifecycle(StrEnum):
    """An effort is either active or finished."""

    ACTIVE = "active"
    FINISHED = "finished"


class Delivery(StrEnum):
    """The delivery state of an injection; confirmed when the transcript shows it."""

    QUEUED = "queued"
    DELIVERED = "delivered"
    CONFIRMED = "confirmed"


class Task(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """A directory in which efforts run. It never finishes."""

    id: str
    host: str
    dir_path: str
    project_root: str
    title: str = ""
    keywords: tuple[str, ...] = ()
    effort_count: int = msgspec.field(default=0, name="efforts")
    """Number of efforts started so far; the next one gets the next ordinal."""


class Injection(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """A text that is added to the agent's context once."""

    id: str
    text: str
    at: Micros
    delivery: Delivery = Delivery.QUEUED


class Handover(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """The text and files that a session leaves for the next session of the effort."""

    text: str
    at: Micros
    session_id: str | None = None
    files: tuple[str, ...] = ()


class Window(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """A context window that works on the effort. A sub-agent has its own window."""

    id: str
    effort_id: str
    agent_id: str
    started_at: Micros
    subagent_id: str | None = None
    prev_session_id: str | None = None
    opened: bool = False
    """Whether the model knows about the effort: from the session start, or from `headspace effort open`."""
    heartbeat: int = 0
    """Tool calls since the last log entry."""
    context_usage: float | None = None
    loaded_files: tuple[str, ...] = ()
    offered_files: tuple[str, ...] = ()
    """Files that were already delivered; each is delivered once."""
    overflow_reported: bool = msgspec.field(default=False, name="overflow_told")
    """Whether a handover was requested because the context is nearly full."""
    pending_logs: int = msgspec.field(default=0, name="logs_on_the_way")
    """Log commands that started in this window and are not recorded yet."""
    handover: str | None = msgspec.field(default=None, name="dehydration")
    restart_reason: str | None = msgspec.field(default=None, name="spent")
    """Why the work should continue in a new window; a supervised client is then restarted."""
    ended_at: Micros | None = None
    end_reason: str | None = None


class Effort(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """One invocation of a skill. It outlives the context windows that work on it."""

    id: str
    task_id: str
    host: str
    task_dir: str
    project_root: str
    skill: str
    ordinal: int
    started_at: Micros
    mode: str = ""
    lifecycle: Lifecycle = Lifecycle.ACTIVE
    phase: str | None = None
    owner: str | None = None
    """The `AGENT_ID` that it was started for; in a fleet every pane has one."""
    holder: str | None = None
    """The agent that works on it."""
    manager: str | None = None
    """The effort that receives team signals: its `AGENT_ID`, agent or id."""
    skill_config: Metadata | None = None
    metadata: Metadata = {}
    preload: tuple[str, ...] = ()
    directives: tuple[str, ...] = ()
    """Instruction files that apply to the paths that were used."""
    loaded_files: tuple[str, ...] = ()
    """Files that its sub-agents loaded."""
    handover: Handover | None = msgspec.field(default=None, name="dehydrated")
    injections: tuple[Injection, ...] = ()
    windows: tuple[Window, ...] = ()
    """The open windows."""
    last_session_id: str | None = None
    log_count: int = msgspec.field(default=0, name="logged")
    recent_log: tuple[str, ...] = ()
    """The newest log entries since the last handover, for the next session."""
    finished_at: Micros | None = None

    @property
    def is_active(self) -> bool:
        """Whether it is not finished."""
        return self.lifecycle is Lifecycle.ACTIVE

    def window(self, session_id: str | None, subagent_id: str | None = None) -> Window | None:
        """The open window of a session, or of a sub-agent in it."""
        searched = window_id(session_id, subagent_id) if session_id else None
        return next((window for window in self.windows if window.id == searched), None)


class Message(msgspec.Struct, frozen=True, kw_only=True):
    """An entry in the history of an effort: a log entry, dialogue, phase, failure or signal."""

    id: str
    effort_id: str
    at: Micros
    kind: str
    text: str
    session_id: str | None = None


class EffortChange(msgspec.Struct):
    """The result of one event: the effort after it, and the rows to store."""

    effort: Effort
    task: Task | None = None
    windows: list[Window] = []
    messages: list[Message] = []


class EffortOutcome(msgspec.Struct, frozen=True):
    """The effort of an event after it, with the window and the messages of the event."""

    effort: Effort
    window: Window | None = None
    messages: tuple[Message, ...] = ()


def window_id(session_id: str, subagent_id: str | None) -> str:
    """The id of a window: the session id, with the sub-agent's id appended."""
    return f"{session_id}/{subagent_id}" if subagent_id else session_id


def task_id(host: str, dir_path: str) -> str:
    """The id of a task: a hash of the host and the directory."""
    return hashlib.blake2b(f"{host}\0{dir_path}".encode("utf-8", "replace"), digest_size=8).hexdigest()


ARTIFACTS = {"log": "LOG", "plan": "PLAN", "debrief": "DEBRIEF"}


def artifact_paths(effort: Effort) -> dict[str, str]:
    """The paths of an effort's documents. The names contain its ordinal, so that every effort has its own."""
    stem = "".join(character if character.isalnum() else "_" for character in effort.skill).upper()
    return {kind: f"{effort.task_dir}/{effort.ordinal}_{stem}_{name}.md" for kind, name in ARTIFACTS.items()}


def merge_files(known: tuple[str, ...], new: tuple[str, ...]) -> tuple[str, ...]:
    """Both without duplicates, new files last; only the last `MAX_FILES`."""
    return tuple(dict.fromkeys((*known, *new)))[-MAX_FILES:]
