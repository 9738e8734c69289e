"""Starts efforts: on request, and when a person types a skill in a client (`/implement the cart`).

Rules
- A new effort takes its phases, files and limits from its skill, and limits that the skill does not set from the
  settings. What a request names itself comes first. All of it is stored with the act.
- Typing a skill starts an effort if the skill declares phases and the settings do not exclude it. An agent that works
  on an effort of that skill continues it.
- The model gets the introduction of a typed effort as a queued message, with its next step.
- A failure never affects the prompt.
"""

import asyncio
import os
from collections.abc import Callable
from pathlib import Path

import msgspec
import structlog

from claude_headspace.config import Settings
from claude_headspace.inputs.context.skills import find_skill, preload_paths
from claude_headspace.inputs.receive.receiver import new_id
from claude_headspace.kernel.agent import Agent
from claude_headspace.kernel.effort import acts
from claude_headspace.kernel.effort.advise import HEARTBEAT_LIMIT, HEARTBEAT_WARN, OVERFLOW_PERCENT
from claude_headspace.kernel.effort.messages import introduction
from claude_headspace.kernel.effort.model import Effort, Metadata
from claude_headspace.kernel.effort.resolve import is_within
from claude_headspace.kernel.effort.skill import Skill, gates_metadata, skill_metadata, starts_effort, typed_skill
from claude_headspace.kernel.facts import Event, PromptSubmitted
from claude_headspace.ports import Outcome, Reader, Recorder

log = structlog.get_logger(__name__)

BUILT_IN_LIMITS = {
    "heartbeat_limit": HEARTBEAT_LIMIT,
    "heartbeat_warn": HEARTBEAT_WARN,
    "overflow_at": OVERFLOW_PERCENT,
}


class NewEffort(msgspec.Struct, frozen=True, kw_only=True):
    """An effort to start. `task_dir` and `preload` are absolute paths."""

    skill: str
    project_root: str
    task_dir: str
    mode: str = ""
    title: str = ""
    keywords: tuple[str, ...] = ()
    phase: str | None = None
    owner: str | None = None
    manager: str | None = None
    metadata: Metadata = {}
    preload: tuple[str, ...] = ()


class EffortStarter:
    """Starts efforts on this host."""

    def __init__(
        self, recorder: Recorder, reader: Reader, settings: Settings, config_dirs: Callable[[], tuple[Path, ...]]
    ) -> None:
        self._recorder = recorder
        self._reader = reader
        self._settings = settings
        self._config_dirs = config_dirs

    async def start(self, wanted: NewEffort, agent: Agent | None) -> Effort:
        """Start an effort. `agent` is the agent that starts it for itself, if any."""
        return await self._start(wanted, await self._find_skill(wanted.skill, wanted.project_root), agent)

    async def prompted(self, event: Event, outcome: Outcome) -> None:
        """Start an effort if a prompt runs a skill that wants one."""
        fact = event.fact
        name = typed_skill(fact.text) if isinstance(fact, PromptSubmitted) and not outcome.duplicate else None
        if name is None or not _may_start(event, outcome.agent):
            return
        try:
            await self._start_typed(name, event, outcome.agent)
        except Exception:
            log.exception("effort_not_started", skill=name, agent=outcome.agent.id)

    async def _start_typed(self, name: str, event: Event, agent: Agent) -> None:
        root, owner = agent.root, event.observations.fleet_id
        if is_excluded(self._settings, name, root):
            return
        skill = await self._find_skill(name, root)
        if skill is None or not starts_effort(skill) or await asyncio.to_thread(self._works_on, name, agent, owner):
            return
        effort = await self._start(NewEffort(skill=name, project_root=root, task_dir=root, owner=owner), skill, agent)
        await self._recorder.record(acts.InjectionQueued(effort_id=effort.id, text=introduction(effort)))

    def _works_on(self, skill: str, agent: Agent, owner: str | None) -> bool:
        """Whether the agent already works on an effort of a skill."""
        active = [each for each in self._reader.efforts() if each.skill == skill and each.host == agent.host]
        return any(each.holder == agent.id or (owner is not None and each.owner == owner) for each in active)

    async def _find_skill(self, name: str, root: str) -> Skill | None:
        return await asyncio.to_thread(find_skill, name, root, self._config_dirs())

    async def _start(self, wanted: NewEffort, skill: Skill | None, agent: Agent | None) -> Effort:
        act = acts.EffortStarted(
            effort_id=new_id(),
            host=self._settings.host_name,
            task_dir=wanted.task_dir,
            project_root=wanted.project_root,
            skill=wanted.skill,
            ordinal=0,  # the task assigns the next number
            mode=wanted.mode,
            phase=wanted.phase or (skill.phases[0] if skill and skill.phases else None),
            title=wanted.title,
            keywords=wanted.keywords,
            owner=wanted.owner,
            holder=agent.id if agent else None,
            session_id=_open_session(agent),
            manager=wanted.manager,
            skill_config=msgspec.to_builtins(skill) if skill else None,
            metadata={**default_metadata(self._settings), **skill_metadata(skill), **wanted.metadata},
            preload=(*preload_paths(skill, wanted.project_root), *wanted.preload),
        )
        outcome = (await self._recorder.record(act)).effort
        assert outcome is not None
        return outcome.effort


def default_metadata(settings: Settings) -> Metadata:
    """The limits and gates from the settings. Built-in limits are left out."""
    limits = {name: getattr(settings, f"effort_{name}") for name in BUILT_IN_LIMITS}
    changed = {name: value for name, value in limits.items() if value != BUILT_IN_LIMITS[name]}
    return {**changed, **gates_metadata(settings.effort_gates)}


def is_excluded(settings: Settings, skill: str, root: str) -> bool:
    """Whether typing a skill in a project starts no effort, according to the settings."""
    return settings.effort_start == "off" or any(_excludes(entry, skill, root) for entry in settings.effort_except)


def _excludes(entry: str, skill: str, root: str) -> bool:
    if not entry.startswith(("/", "~")):
        return entry == skill
    directory, _, name = entry.partition(":")
    return is_within(root, os.path.normpath(Path(directory).expanduser())) and name in ("", skill)


def _may_start(event: Event, agent: Agent) -> bool:
    """Whether a prompt is of the agent's current session. A client that an agent started has no effort of its own."""
    session = agent.session
    is_current = session is not None and session.ended_at is None and session.client_id == event.meta.session_id
    is_own = agent.parent_id is None and event.meta.subagent_id is None
    return is_current and is_own and agent.ended_at is None and agent.root.startswith("/")


def _open_session(agent: Agent | None) -> str | None:
    session = agent.session if agent else None
    return session.id if session and not session.ended_at else None
