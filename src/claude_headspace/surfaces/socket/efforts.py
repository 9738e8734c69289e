"""The effort commands of the socket: `effort.*`, `session.finish`, `agent.directives.discover`.

The sender is identified by the environment of the request: `AGENT_ID` in a fleet, `CLAUDE_CODE_SESSION_ID` inside a
client. `effort_requests` defines the arguments, `read/efforts` finds the effort, and `COMMANDS` lists all commands.
"""

import asyncio
import os
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from claude_headspace.engine.writer import Engine
from claude_headspace.errors import BadRequest
from claude_headspace.inputs.context.instruction_files import discover
from claude_headspace.inputs.context.skills import files_of, find_skill
from claude_headspace.inputs.receive.receiver import Surroundings, new_id
from claude_headspace.kernel.agent import Agent
from claude_headspace.kernel.effort import acts
from claude_headspace.kernel.effort.messages import introduction, recovery
from claude_headspace.kernel.effort.model import Effort
from claude_headspace.kernel.effort.skill import Skill
from claude_headspace.kernel.effort.views import effort_view
from claude_headspace.surfaces.read.efforts import EffortQueries
from claude_headspace.surfaces.socket.effort_requests import (
    DiscoverInstructions,
    EffortReference,
    EffortText,
    FinishEffort,
    Handover,
    ListEfforts,
    SetMetadata,
    SetPhase,
    StartEffort,
)

Env = Mapping[str, str]

MAX_PATHS = 200


class Efforts:
    """The commands about efforts."""

    def __init__(
        self,
        engine: Engine,
        model: EffortQueries,
        host: str,
        surroundings: Surroundings,
        config_dirs: Callable[[], tuple[Path, ...]],
    ) -> None:
        self._engine = engine
        self._model = model
        self._host = host
        self._surroundings = surroundings
        self._config_dirs = config_dirs

    async def __call__(self, name: str, args: msgspec.Raw, env: Env) -> object:
        """Run an effort command."""
        command = COMMANDS[name]
        try:
            given = msgspec.json.decode(args, type=command.takes)
        except (msgspec.DecodeError, RecursionError, UnicodeError) as error:
            raise BadRequest(
                "bad_arguments",
                f"The arguments of {name} are not valid: {error}.",
                "docs/engine.md lists the arguments of each command.",
            ) from error
        return await command.run(self, given, env)

    # --- acts ---

    async def start(self, given: StartEffort, env: Env) -> object:
        """Start an effort."""
        root, task_dir = await self._places(given)
        agent = await self._sender(env)
        skill_name = given.skill.removeprefix("/")
        skill = await asyncio.to_thread(find_skill, skill_name, root, self._config_dirs())
        act = acts.EffortStarted(
            effort_id=new_id(),
            host=self._host,
            task_dir=task_dir,
            project_root=root,
            skill=skill_name,
            ordinal=0,  # the task assigns the next number
            mode=given.mode,
            phase=given.phase or _first_phase(skill),
            title=given.title,
            keywords=given.keywords,
            owner=given.owner or env.get("AGENT_ID") or None,
            holder=agent.id if agent else None,
            session_id=_open_session(agent),
            manager=given.manager,
            skill_config=msgspec.to_builtins(skill) if skill else None,
            metadata=given.metadata,
            preload=(*files_of(skill, root), *(absolute_path(root, path) for path in given.preload)),
        )
        return await self._do(act)

    async def _places(self, given: StartEffort) -> tuple[str, str]:
        """The root of the project and the directory of the task."""
        root = (await self._surroundings(given.cwd)).project_root or ""
        task_dir = absolute_path(given.cwd or root, given.task_dir) if given.task_dir else root
        if not root.startswith("/") or not task_dir.startswith("/"):
            raise BadRequest("bad_directory", "An effort needs a directory.", "Send `cwd` as an absolute path.")
        return root, task_dir

    async def phase(self, given: SetPhase, env: Env) -> object:
        """Set the phase."""
        effort = await self._find(given, env)
        return await self._do(acts.PhaseSet(effort_id=effort.id, phase=given.phase))

    async def log(self, given: EffortText, env: Env) -> object:
        """Add a log entry. It resets the heartbeat."""
        effort, holder = await self._find(given, env), await self._sender_id(env)
        return await self._do(acts.EffortLogged(effort_id=effort.id, text=given.text, holder=holder))

    async def inject(self, given: EffortText, env: Env) -> object:
        """Queue a message for the agent."""
        effort = await self._find(given, env)
        return await self._do(acts.InjectionQueued(effort_id=effort.id, text=given.text))

    async def set(self, given: SetMetadata, env: Env) -> object:
        """Change the metadata."""
        effort = await self._find(given, env)
        return await self._do(acts.MetadataSet(effort_id=effort.id, metadata=given.metadata))

    async def open(self, given: EffortReference, env: Env) -> object:
        """Open the session; the introduction and the handover."""
        effort, holder = await self._find(given, env), await self._sender_id(env)
        await self._do(acts.SessionOpened(effort_id=effort.id, holder=holder))
        return {"effortId": effort.id, "context": introduction(effort), "dehydratedContext": recovery(effort)}

    async def dehydrate(self, given: Handover, env: Env) -> object:
        """Store the handover to the next session."""
        return await self._hand_over(given, env, finish=False)

    async def finish_session(self, given: Handover, env: Env) -> object:
        """Store the handover and end this session."""
        return await self._hand_over(given, env, finish=True)

    async def _hand_over(self, given: Handover, env: Env, *, finish: bool) -> object:
        effort, holder = await self._find(given, env), await self._sender_id(env)
        files = tuple(absolute_path(given.cwd or effort.project_root, path) for path in given.files)
        return await self._do(
            acts.Dehydrated(effort_id=effort.id, text=given.text, files=files, holder=holder, finish=finish)
        )

    async def finish(self, given: FinishEffort, env: Env) -> object:
        """Finish an effort."""
        effort = await self._find(given, env)
        return await self._do(acts.EffortFinished(effort_id=effort.id, text=given.text))

    # --- reading ---

    async def list(self, given: ListEfforts, _env: Env) -> object:
        """All efforts and tasks."""
        return await asyncio.to_thread(self._model.list_all, only_active=not given.all)

    async def show(self, given: EffortReference, env: Env) -> object:
        """One effort with its sessions and messages."""
        return await asyncio.to_thread(self._model.details, await self._find(given, env))

    async def discover(self, given: DiscoverInstructions, _env: Env) -> object:
        """The instruction files that apply to paths."""
        named = (*given.paths, *([given.path] if given.path else []))[:MAX_PATHS]
        paths = [absolute_path(given.cwd or "/", path) for path in named if "\0" not in path]
        around = given.cwd or (paths[0].rpartition("/")[0] if paths else None)
        root = (await self._surroundings(around)).project_root or ""
        found = await asyncio.to_thread(discover, paths, root) if root.startswith("/") else ()
        return {"directives": list(found)}

    # --- the sender and the effort ---

    async def _find(self, given: EffortReference, env: Env) -> Effort:
        return await asyncio.to_thread(self._model.find_for, given.effort, given.cwd, env)

    async def _sender(self, env: Env) -> Agent | None:
        return await asyncio.to_thread(self._model.agent_of, env)

    async def _sender_id(self, env: Env) -> str | None:
        agent = await self._sender(env)
        return agent.id if agent else None

    async def _do(self, act: acts.Act) -> object:
        outcome = (await self._engine.record(act)).effort
        assert outcome is not None
        return effort_view(outcome.effort)


def absolute_path(base: str, path: str) -> str:
    """A path relative to a directory, as a normalized absolute path."""
    return os.path.normpath(Path(base) / path)


def _first_phase(skill: Skill | None) -> str | None:
    return skill.phases[0] if skill and skill.phases else None


def _open_session(agent: Agent | None) -> str | None:
    session = agent.session if agent else None
    return session.id if session and not session.ended_at else None


class EffortCommand(msgspec.Struct, frozen=True):
    """A command: the type of its arguments, its handler, and a summary."""

    takes: type[Any]
    run: Callable[[Efforts, Any, Env], Awaitable[object]]
    about: str


COMMANDS: dict[str, EffortCommand] = {
    "effort.start": EffortCommand(StartEffort, Efforts.start, "start an effort"),
    "effort.list": EffortCommand(ListEfforts, Efforts.list, "list efforts and tasks"),
    "effort.show": EffortCommand(EffortReference, Efforts.show, "show one effort with its sessions and messages"),
    "effort.open": EffortCommand(
        EffortReference, Efforts.open, "open the session; returns the introduction and the handover"
    ),
    "effort.phase": EffortCommand(SetPhase, Efforts.phase, "set the phase"),
    "effort.log": EffortCommand(EffortText, Efforts.log, "add a log entry, which resets the heartbeat"),
    "effort.set": EffortCommand(SetMetadata, Efforts.set, "change the metadata: limits, guards, gates"),
    "effort.inject": EffortCommand(EffortText, Efforts.inject, "queue a message for the agent"),
    "effort.dehydrate": EffortCommand(Handover, Efforts.dehydrate, "store the handover to the next session"),
    "session.finish": EffortCommand(Handover, Efforts.finish_session, "store the handover and end this session"),
    "effort.finish": EffortCommand(FinishEffort, Efforts.finish, "finish the effort"),
    "agent.directives.discover": EffortCommand(
        DiscoverInstructions, Efforts.discover, "list the instruction files that apply to paths"
    ),
}
"""All effort commands."""
