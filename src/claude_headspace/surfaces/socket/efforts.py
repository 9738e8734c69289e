"""What people and agents do to efforts, over the socket: `effort.*`, `session.finish`, `agent.directives.discover`.

Who asks is told by each request's environment: `AGENT_ID` in a fleet, `CLAUDE_CODE_SESSION_ID` inside a client. What
a command takes stands in `effort_requests`, which effort is meant in `effort_model`; `COMMANDS` names them all.
"""

import asyncio
import contextlib
import os
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from claude_headspace.engine.writer import Engine
from claude_headspace.errors import BadRequest, HeadspaceError
from claude_headspace.inputs.context.instruction_files import discover
from claude_headspace.inputs.context.skills import files_of, find_skill
from claude_headspace.inputs.receive.receiver import Surroundings, new_id
from claude_headspace.kernel.agent import Agent
from claude_headspace.kernel.effort import acts
from claude_headspace.kernel.effort.advise import ASKED
from claude_headspace.kernel.effort.messages import introduction, recovery
from claude_headspace.kernel.effort.model import Effort, EffortOutcome
from claude_headspace.kernel.effort.skill import Skill
from claude_headspace.kernel.effort.views import effort_view
from claude_headspace.kernel.hooks import HookKind
from claude_headspace.surfaces.api.effort_model import EffortModel
from claude_headspace.surfaces.socket.effort_requests import (
    Discovering,
    Finishing,
    Handing,
    Listing,
    Phasing,
    Saying,
    Setting,
    Starting,
    Which,
)

Env = Mapping[str, str]

MOST_PATHS = 200


class Efforts:
    """The commands about efforts, and whether any is active."""

    def __init__(
        self,
        engine: Engine,
        model: EffortModel,
        host: str,
        surroundings: Surroundings,
        config_dirs: Callable[[], tuple[Path, ...]],
        changed: Callable[[], None] = lambda: None,
    ) -> None:
        self._engine = engine
        self._model = model
        self._host = host
        self._surroundings = surroundings
        self._config_dirs = config_dirs
        self._changed = changed
        self._active: set[str] = set()

    def recall(self) -> None:
        """Know which efforts are active."""
        self._active = {effort.id for effort in self._model.ours()}

    def update(self, effort: Effort) -> None:
        """An effort changed."""
        if effort.host != self._host:
            return
        before = self.any_active
        (self._active.add if effort.active else self._active.discard)(effort.id)
        if before != self.any_active:
            self._changed()

    @property
    def any_active(self) -> bool:
        """Whether there is an effort that hooks may belong to."""
        return bool(self._active)

    def asked(self) -> frozenset[HookKind]:
        """The events that wait for an answer: none while nobody makes an effort."""
        return ASKED if self._active else frozenset()

    async def __call__(self, name: str, args: msgspec.Raw, env: Env) -> object:
        """Do what a command says."""
        command = COMMANDS[name]
        try:
            given = msgspec.json.decode(args, type=command.takes)
        except (msgspec.DecodeError, RecursionError, UnicodeError) as error:
            raise BadRequest(
                "bad_arguments",
                f"The arguments of {name} do not fit: {error}.",
                "See docs/engine.md for what they are.",
            ) from error
        return await command.run(self, given, env)

    # --- acts ---

    async def start(self, given: Starting, env: Env) -> object:
        """Begin an effort."""
        root, task_dir = await self._places(given)
        agent = await self._caller(env)
        skill_name = given.skill.removeprefix("/")
        skill = await asyncio.to_thread(find_skill, skill_name, root, self._config_dirs())
        act = acts.EffortStarted(
            effort_id=new_id(),
            host=self._host,
            task_dir=task_dir,
            project_root=root,
            skill=skill_name,
            ordinal=0,  # its task knows the next one
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
            preload=(*files_of(skill, root), *(whole_path(root, path) for path in given.preload)),
        )
        return await self._do(act)

    async def _places(self, given: Starting) -> tuple[str, str]:
        """The project's root and the task's directory."""
        root = (await self._surroundings(given.cwd)).project_root or ""
        task_dir = whole_path(given.cwd or root, given.task_dir) if given.task_dir else root
        if not root.startswith("/") or not task_dir.startswith("/"):
            raise BadRequest("bad_directory", "An effort needs a directory.", "Send `cwd` as a whole path.")
        return root, task_dir

    async def phase(self, given: Phasing, env: Env) -> object:
        """Move to another phase."""
        effort = await self._meant(given, env)
        return await self._do(acts.PhaseSet(effort_id=effort.id, phase=given.phase))

    async def log(self, given: Saying, env: Env) -> object:
        """Write down what was done; the heartbeat begins anew."""
        effort, holder = await self._meant(given, env), await self._holder(env)
        return await self._do(acts.EffortLogged(effort_id=effort.id, text=given.text, holder=holder))

    async def inject(self, given: Saying, env: Env) -> object:
        """Queue a text for the agent."""
        effort = await self._meant(given, env)
        return await self._do(acts.InjectionQueued(effort_id=effort.id, text=given.text))

    async def set(self, given: Setting, env: Env) -> object:
        """Change the metadata."""
        effort = await self._meant(given, env)
        return await self._do(acts.MetadataSet(effort_id=effort.id, metadata=given.metadata))

    async def open(self, given: Which, env: Env) -> object:
        """Open the session: what it works on, and what was handed over."""
        effort, holder = await self._meant(given, env), await self._holder(env)
        await self._do(acts.SessionOpened(effort_id=effort.id, holder=holder))
        return {"effortId": effort.id, "context": introduction(effort), "dehydratedContext": recovery(effort)}

    async def dehydrate(self, given: Handing, env: Env) -> object:
        """Hand over to the next session."""
        return await self._hand_over(given, env, finish=False)

    async def finish_session(self, given: Handing, env: Env) -> object:
        """Hand over, and be done with this session."""
        return await self._hand_over(given, env, finish=True)

    async def _hand_over(self, given: Handing, env: Env, *, finish: bool) -> object:
        effort, holder = await self._meant(given, env), await self._holder(env)
        files = tuple(whole_path(given.cwd or effort.project_root, path) for path in given.files)
        return await self._do(
            acts.Dehydrated(effort_id=effort.id, text=given.text, files=files, holder=holder, finish=finish)
        )

    async def finish(self, given: Finishing, env: Env) -> object:
        """End an effort."""
        effort = await self._meant(given, env)
        return await self._do(acts.EffortFinished(effort_id=effort.id, text=given.text))

    async def note_loaded(self, outcome: EffortOutcome, files: tuple[str, ...]) -> None:
        """Files went into a window with an answer; that it cannot be noted now must not spoil the answer."""
        if outcome.window is not None and files:
            with contextlib.suppress(HeadspaceError):
                await self._do(acts.FilesLoaded(effort_id=outcome.effort.id, session_id=outcome.window.id, files=files))

    # --- reading ---

    async def list(self, given: Listing, _env: Env) -> object:
        """Efforts and tasks."""
        return await asyncio.to_thread(self._model.listed, only_active=not given.all)

    async def show(self, given: Which, env: Env) -> object:
        """One effort with its sessions and messages."""
        return await asyncio.to_thread(self._model.story, await self._meant(given, env))

    async def discover(self, given: Discovering, _env: Env) -> object:
        """Which instruction files belong to some paths."""
        named = (*given.paths, *([given.path] if given.path else []))[:MOST_PATHS]
        paths = [whole_path(given.cwd or "/", path) for path in named if "\0" not in path]
        around = given.cwd or (paths[0].rpartition("/")[0] if paths else None)
        root = (await self._surroundings(around)).project_root or ""
        found = await asyncio.to_thread(discover, paths, root) if root.startswith("/") else ()
        return {"directives": list(found)}

    # --- who and which ---

    async def _meant(self, given: Which, env: Env) -> Effort:
        return await asyncio.to_thread(self._model.meant, given.effort, given.cwd, env)

    async def _caller(self, env: Env) -> Agent | None:
        return await asyncio.to_thread(self._model.caller, env)

    async def _holder(self, env: Env) -> str | None:
        agent = await self._caller(env)
        return agent.id if agent else None

    async def _do(self, act: acts.Act) -> object:
        outcome = (await self._engine.record(act)).effort
        assert outcome is not None
        return effort_view(outcome.effort)


def whole_path(base: str, path: str) -> str:
    """A path as seen from a directory, without detours."""
    return os.path.normpath(Path(base) / path)


def _first_phase(skill: Skill | None) -> str | None:
    return skill.phases[0] if skill and skill.phases else None


def _open_session(agent: Agent | None) -> str | None:
    session = agent.session if agent else None
    return session.id if session and not session.ended_at else None


class EffortCommand(msgspec.Struct, frozen=True):
    """A command: what it takes, and what it does."""

    takes: type[Any]
    run: Callable[[Efforts, Any, Env], Awaitable[object]]
    about: str


COMMANDS: dict[str, EffortCommand] = {
    "effort.start": EffortCommand(Starting, Efforts.start, "begin an effort"),
    "effort.list": EffortCommand(Listing, Efforts.list, "efforts and tasks"),
    "effort.show": EffortCommand(Which, Efforts.show, "one effort with its sessions and messages"),
    "effort.open": EffortCommand(Which, Efforts.open, "open the session, and hear what it works on"),
    "effort.phase": EffortCommand(Phasing, Efforts.phase, "move to another phase"),
    "effort.log": EffortCommand(Saying, Efforts.log, "write down what was done: the heartbeat begins anew"),
    "effort.set": EffortCommand(Setting, Efforts.set, "change the metadata: limits, guards, gates"),
    "effort.inject": EffortCommand(Saying, Efforts.inject, "queue a text for the agent"),
    "effort.dehydrate": EffortCommand(Handing, Efforts.dehydrate, "hand over to the next session"),
    "session.finish": EffortCommand(Handing, Efforts.finish_session, "the same, and be done with this session"),
    "effort.finish": EffortCommand(Finishing, Efforts.finish, "end it"),
    "agent.directives.discover": EffortCommand(
        Discovering, Efforts.discover, "which instruction files belong to paths"
    ),
}
"""Every command about efforts."""
