"""What people and agents do to efforts, over the socket: `effort.*`, `session.finish`, `agent.directives.discover`.

Who asks is told by each request's environment: `AGENT_ID` in a fleet, `CLAUDE_CODE_SESSION_ID` inside a client. Which
effort is meant follows from that and the directory, unless it is named.
"""

import asyncio
import contextlib
import os
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from claude_headspace.engine import Engine
from claude_headspace.errors import BadRequest, HeadspaceError
from claude_headspace.inputs.directives import discover
from claude_headspace.inputs.receiver import Surroundings, new_id
from claude_headspace.inputs.skills import files_of, find_skill
from claude_headspace.kernel.agent import Agent
from claude_headspace.kernel.effort import acts
from claude_headspace.kernel.effort.advise import ASKED
from claude_headspace.kernel.effort.nouns import Effort, EffortOutcome, Metadata
from claude_headspace.kernel.effort.resolve import is_at_work, resolve
from claude_headspace.kernel.effort.texts import introduction, recovery
from claude_headspace.kernel.effort.views import effort_view, message_view, task_view, window_view
from claude_headspace.kernel.envelope import Context, Envelope, Origin
from claude_headspace.ports import Clock, Reader

Env = Mapping[str, str]
Text = Annotated[str, Meta(max_length=100_000)]
Name = Annotated[str, Meta(max_length=200)]
Place = Annotated[str, Meta(max_length=8_192)]

SHORTEST_PREFIX = 4
MOST_PATHS = 200


class Which(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """The effort that is meant: by its id or the beginning of it, else by where and who one is."""

    effort: Name | None = None
    cwd: Place | None = None


class Starting(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """A new effort."""

    skill: Name
    cwd: Place | None = None
    mode: Name = ""
    task_dir: Place | None = None
    title: Name = ""
    keywords: tuple[Name, ...] = ()
    phase: Name | None = None
    manager: Name | None = None
    owner: Name | None = None
    metadata: Metadata = {}
    preload: tuple[Place, ...] = ()


class Saying(Which, kw_only=True, forbid_unknown_fields=True):
    """A text: a log entry, a message for the agent."""

    text: Text


class Handing(Saying, kw_only=True, forbid_unknown_fields=True):
    """What is handed over, with the files to read."""

    files: tuple[Place, ...] = ()


class Finishing(Which, kw_only=True, forbid_unknown_fields=True):
    """The end of an effort, with a last word."""

    text: Text = ""


class Phasing(Which, kw_only=True, forbid_unknown_fields=True):
    """Another phase."""

    phase: Name


class Setting(Which, kw_only=True, forbid_unknown_fields=True):
    """Other metadata."""

    metadata: Metadata


class Listing(msgspec.Struct, forbid_unknown_fields=True):
    """Which efforts to list."""

    all: bool = False
    cwd: Place | None = None


class Discovering(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """The paths whose instruction files are wanted."""

    paths: tuple[Place, ...] = ()
    path: Place | None = None
    cwd: Place | None = None


class Efforts:
    """The commands about efforts, and whether any is active."""

    def __init__(
        self,
        engine: Engine,
        reader: Reader,
        clock: Clock,
        host: str,
        surroundings: Surroundings,
        config_dirs: Callable[[], tuple[Path, ...]],
        changed: Callable[[], None] = lambda: None,
    ) -> None:
        self._engine = engine
        self._reader = reader
        self._clock = clock
        self._host = host
        self._surroundings = surroundings
        self._config_dirs = config_dirs
        self._changed = changed
        self._active: set[str] = set()

    def recall(self) -> None:
        """Know which efforts are active."""
        self._active = {effort.id for effort in self._ours()}

    def _ours(self, *, only_active: bool = True) -> list[Effort]:
        """Efforts of this machine: others serve their own."""
        return [each for each in self._reader.list_efforts(only_active=only_active) if each.host == self._host]

    @property
    def any_active(self) -> bool:
        """Whether there is an effort that hooks may belong to."""
        return bool(self._active)

    def asked(self) -> frozenset[str]:
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
        place = await self._surroundings(given.cwd)
        root = place.project_root or ""
        task_dir = whole_path(given.cwd or root, given.task_dir) if given.task_dir else root
        if not root.startswith("/") or not task_dir.startswith("/"):
            raise BadRequest("bad_directory", "An effort needs a directory.", "Send `cwd` as a whole path.")
        agent = await asyncio.to_thread(self._caller, env)
        skill_name = given.skill.removeprefix("/")
        skill = await asyncio.to_thread(find_skill, skill_name, root, self._config_dirs())
        act = acts.EffortStarted(
            effort_id=new_id(),
            host=self._host,
            task_dir=task_dir,
            project_root=root,
            skill=skill_name,
            ordinal=0,
            mode=given.mode,
            phase=given.phase or (skill.phases[0] if skill and skill.phases else None),
            title=given.title,
            keywords=given.keywords,
            owner=given.owner or env.get("AGENT_ID") or None,
            holder=agent.id if agent else None,
            session_id=agent.session.id if agent and agent.session and not agent.session.ended_at else None,
            manager=given.manager,
            skill_config=msgspec.to_builtins(skill) if skill else None,
            metadata=given.metadata,
            preload=(*files_of(skill, root), *(whole_path(root, path) for path in given.preload)),
        )
        return await self._do(act)

    async def phase(self, given: Phasing, env: Env) -> object:
        """Move to another phase."""
        return await self._do(acts.PhaseSet(effort_id=(await self._meant(given, env)).id, phase=given.phase))

    async def log(self, given: Saying, env: Env) -> object:
        """Write down what was done; the heartbeat begins anew."""
        effort = await self._meant(given, env)
        agent = await asyncio.to_thread(self._caller, env)
        return await self._do(
            acts.EffortLogged(effort_id=effort.id, text=given.text, holder=agent.id if agent else None)
        )

    async def inject(self, given: Saying, env: Env) -> object:
        """Queue a text for the agent."""
        return await self._do(acts.InjectionQueued(effort_id=(await self._meant(given, env)).id, text=given.text))

    async def set(self, given: Setting, env: Env) -> object:
        """Change the metadata."""
        return await self._do(acts.MetadataSet(effort_id=(await self._meant(given, env)).id, metadata=given.metadata))

    async def open(self, given: Which, env: Env) -> object:
        """Open the session: what it works on, and what was handed over."""
        effort = await self._meant(given, env)
        agent = await asyncio.to_thread(self._caller, env)
        await self._do(acts.SessionOpened(effort_id=effort.id, holder=agent.id if agent else None))
        return {"effortId": effort.id, "context": introduction(effort), "dehydratedContext": recovery(effort)}

    async def dehydrate(self, given: Handing, env: Env) -> object:
        """Hand over to the next session."""
        effort = await self._meant(given, env)
        agent = await asyncio.to_thread(self._caller, env)
        files = tuple(whole_path(given.cwd or effort.project_root, path) for path in given.files)
        holder = agent.id if agent else None
        return await self._do(acts.Dehydrated(effort_id=effort.id, text=given.text, files=files, holder=holder))

    async def finish(self, given: Finishing, env: Env) -> object:
        """End an effort."""
        return await self._do(acts.EffortFinished(effort_id=(await self._meant(given, env)).id, text=given.text))

    async def note_loaded(self, outcome: EffortOutcome, files: tuple[str, ...]) -> None:
        """Files went into a window with an answer; that it cannot be noted now must not spoil the answer."""
        if outcome.window is not None and files:
            with contextlib.suppress(HeadspaceError):
                await self._do(acts.FilesLoaded(effort_id=outcome.effort.id, session_id=outcome.window.id, files=files))

    # --- reading ---

    async def list(self, given: Listing, _env: Env) -> object:
        """Efforts and tasks."""
        return await asyncio.to_thread(self.listed, only_active=not given.all)

    def listed(self, *, only_active: bool) -> dict[str, object]:
        """Efforts, the newest first, and the tasks that they belong to."""
        found = self._reader.list_efforts(only_active=only_active)
        busy = {effort.task_id for effort in self._reader.list_efforts()}
        tasks = [task_view(task, active=task.id in busy) for task in self._reader.list_tasks()]
        return {"efforts": [effort_view(effort) for effort in found], "tasks": tasks}

    async def show(self, given: Which, env: Env) -> object:
        """One effort with its sessions and messages."""
        effort = await self._meant(given, env)
        return await asyncio.to_thread(self._shown, effort)

    def _shown(self, effort: Effort) -> dict[str, object]:
        return {
            **msgspec.structs.asdict(effort_view(effort)),
            "sessions": [window_view(window) for window in self._reader.windows(effort.id)],
            "messages": [message_view(message) for message in self._reader.messages(effort.id)],
        }

    async def discover(self, given: Discovering, _env: Env) -> object:
        """Which instruction files belong to some paths."""
        named = (*given.paths, *([given.path] if given.path else []))[:MOST_PATHS]
        paths = [whole_path(given.cwd or "/", path) for path in named if "\0" not in path]
        around = given.cwd or (paths[0].rpartition("/")[0] if paths else None)
        root = (await self._surroundings(around)).project_root or ""
        found = await asyncio.to_thread(discover, paths, root) if root.startswith("/") else ()
        return {"directives": list(found)}

    # --- who and which ---

    def _caller(self, env: Env) -> Agent | None:
        """The agent that a request comes from, by its client's session."""
        session = env.get("CLAUDE_CODE_SESSION_ID")
        if not session:
            return None
        living = self._reader.agents()
        return next((each for each in living if each.session and each.session.client_id == session), None)

    async def _meant(self, given: Which, env: Env) -> Effort:
        return await asyncio.to_thread(self._find, given, env)

    def _find(self, given: Which, env: Env) -> Effort:
        if given.effort:
            return self._named(given.effort)
        agent = self._caller(env)
        living = {each.id for each in self._reader.agents() if is_at_work(each)} if agent else set()
        found = resolve(
            self._ours(),
            directory=os.path.normpath(given.cwd) if given.cwd else None,
            owner=env.get("AGENT_ID") or None,
            agent_id=agent.id if agent else None,
            is_alive=living.__contains__,
        )
        if found is None:
            raise BadRequest(
                "no_effort",
                "There is no active effort here.",
                "Begin one with `headspace effort start SKILL`, or name one: `headspace effort list --all`.",
                status=404,
            )
        return found

    def _named(self, reference: str) -> Effort:
        known = self._ours(only_active=False) if len(reference) >= SHORTEST_PREFIX else []
        beginning = [each for each in known if each.id.startswith(reference)]
        if len(beginning) == 1:
            return beginning[0]
        raise BadRequest(
            "unknown_effort",
            f"There is no effort {reference}.",
            "`headspace effort list --all` shows them.",
            status=404,
        )

    async def _do(self, act: acts.Act) -> object:
        now = self._clock()
        envelope = Envelope(
            id=new_id(),
            name=type(act).__name__,
            origin=Origin.OPERATOR,
            client="headspace",
            host=self._host,
            fired_at=now,
            received_at=now,
            payload=msgspec.json.encode(act),
            context=Context(),
        )
        outcome = (await self._engine.submit(envelope)).effort
        assert outcome is not None
        before = self.any_active
        (self._active.add if outcome.effort.active else self._active.discard)(outcome.effort.id)
        if before != self.any_active:
            self._changed()
        return effort_view(outcome.effort)


def whole_path(base: str, path: str) -> str:
    """A path as seen from a directory, without detours."""
    return os.path.normpath(Path(base) / path)


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
    "session.finish": EffortCommand(Handing, Efforts.dehydrate, "the same, by the engine's name"),
    "effort.finish": EffortCommand(Finishing, Efforts.finish, "end it"),
    "agent.directives.discover": EffortCommand(
        Discovering, Efforts.discover, "which instruction files belong to paths"
    ),
}
"""Every command about efforts."""
