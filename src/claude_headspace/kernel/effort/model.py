"""The nouns of the engine: task, effort, window, and what belongs to them.

An `Effort` is everything that is needed to understand its next event, no history: messages and windows leave it as
rows. All are immutable; `evolve` replaces them. Lists that an effort carries are bounded.
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
"""How many of each an effort carries; the oldest are forgotten."""

Metadata = dict[str, Any]


class Lifecycle(StrEnum):
    """An effort is under way or over; nothing between."""

    ACTIVE = "active"
    FINISHED = "finished"


class Delivery(StrEnum):
    """How far an injection came."""

    QUEUED = "queued"
    DELIVERED = "delivered"
    CONFIRMED = "confirmed"


class Task(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """A directory in which efforts are made. It never finishes."""

    id: str
    host: str
    dir_path: str
    project_root: str
    title: str = ""
    keywords: tuple[str, ...] = ()
    effort_count: int = msgspec.field(default=0, name="efforts")
    """How many were begun: the next one has the number after it."""


class Injection(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """A text for the agent, to be put into its context once."""

    id: str
    text: str
    at: Micros
    delivery: Delivery = Delivery.QUEUED


class Handover(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """What a window handed over before it was full."""

    text: str
    at: Micros
    session_id: str | None = None
    files: tuple[str, ...] = ()


class Window(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """A context window that works on the effort; a sub-agent has one of its own."""

    id: str
    effort_id: str
    agent_id: str
    started_at: Micros
    subagent_id: str | None = None
    prev_session_id: str | None = None
    opened: bool = False
    """Whether its start was answered, or somebody opened it: it knows what it works on."""
    heartbeat: int = 0
    """Tool calls since the last log."""
    context_usage: float | None = None
    loaded_files: tuple[str, ...] = ()
    offered_files: tuple[str, ...] = ()
    """What it was given or named to read: that is done once."""
    overflow_reported: bool = msgspec.field(default=False, name="overflow_told")
    pending_logs: int = msgspec.field(default=0, name="logs_on_the_way")
    """Log commands that began here and did not arrive yet."""
    handover: str | None = msgspec.field(default=None, name="dehydration")
    restart_reason: str | None = msgspec.field(default=None, name="spent")
    """Why the work should go on in another window: who supervises the client starts it anew."""
    ended_at: Micros | None = None
    end_reason: str | None = None


class Effort(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """One invocation of a skill. It survives the context windows that work on it."""

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
    """The `AGENT_ID` that it was begun for: in a fleet each pane has one."""
    holder: str | None = None
    """The agent that works on it."""
    manager: str | None = None
    """Who is told when a teammate is idle or done: the `AGENT_ID` or the agent of another effort."""
    skill_config: Metadata | None = None
    metadata: Metadata = {}
    preload: tuple[str, ...] = ()
    directives: tuple[str, ...] = ()
    """Instruction files that belong to the paths that were touched."""
    loaded_files: tuple[str, ...] = ()
    """What its sub-agents loaded, merged back."""
    handover: Handover | None = msgspec.field(default=None, name="dehydrated")
    injections: tuple[Injection, ...] = ()
    windows: tuple[Window, ...] = ()
    """The open ones."""
    last_session_id: str | None = None
    log_count: int = msgspec.field(default=0, name="logged")
    recent_log: tuple[str, ...] = ()
    """The newest entries, for whoever takes over."""
    finished_at: Micros | None = None

    @property
    def is_active(self) -> bool:
        """Whether it is under way."""
        return self.lifecycle is Lifecycle.ACTIVE

    def window(self, session_id: str | None, subagent_id: str | None = None) -> Window | None:
        """The open window of a session, or of a sub-agent in it."""
        wanted = window_id(session_id, subagent_id) if session_id else None
        return next((window for window in self.windows if window.id == wanted), None)


class Message(msgspec.Struct, frozen=True, kw_only=True):
    """Something worth keeping of an effort: a log entry, a dialogue, a phase, a failure, a signal."""

    id: str
    effort_id: str
    at: Micros
    kind: str
    text: str
    session_id: str | None = None


class EffortChange(msgspec.Struct):
    """What one event does to one effort: the effort afterwards, and the rows that came of it."""

    effort: Effort
    task: Task | None = None
    windows: list[Window] = []
    messages: list[Message] = []


class EffortOutcome(msgspec.Struct, frozen=True):
    """What came of an event for the effort that it belongs to."""

    effort: Effort
    window: Window | None = None
    messages: tuple[Message, ...] = ()


def window_id(session_id: str, subagent_id: str | None) -> str:
    """The name of a window: the session's own, or the sub-agent's in it."""
    return f"{session_id}/{subagent_id}" if subagent_id else session_id


def task_id(host: str, dir_path: str) -> str:
    """A task is its directory."""
    return hashlib.blake2b(f"{host}\0{dir_path}".encode("utf-8", "replace"), digest_size=8).hexdigest()


ARTIFACTS = {"log": "LOG", "plan": "PLAN", "debrief": "DEBRIEF"}


def artifact_paths(effort: Effort) -> dict[str, str]:
    """Where an effort's papers belong: named by its number, so that the next effort has its own."""
    stem = "".join(each if each.isalnum() else "_" for each in effort.skill).upper()
    return {kind: f"{effort.task_dir}/{effort.ordinal}_{stem}_{name}.md" for kind, name in ARTIFACTS.items()}


def merge_files(known: tuple[str, ...], more: tuple[str, ...]) -> tuple[str, ...]:
    """Both, each once, the newest last and not too many."""
    return tuple(dict.fromkeys((*known, *more)))[-MAX_FILES:]
