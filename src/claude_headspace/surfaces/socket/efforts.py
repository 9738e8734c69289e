"""The socket commands for efforts: `effort.*`, `session.finish`, `agent.directives.discover`.

The sender is identified by the environment of the request: `AGENT_ID` in a fleet, the session inside a client.
`read/efforts` finds the effort, and `COMMANDS` lists all commands.
"""

import asyncio
import os
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from claude_headspace.engine.effort_start import EffortStarter, NewEffort
from claude_headspace.errors import BadRequest
from claude_headspace.inputs.context.instruction_files import find_instruction_files
from claude_headspace.inputs.receive.receiver import LocateProject
from claude_headspace.kernel.agent import Agent
from claude_headspace.kernel.effort import acts
from claude_headspace.kernel.effort.advise import documents_to_read
from claude_headspace.kernel.effort.messages import introduction, recovery
from claude_headspace.kernel.effort.model import Effort, Metadata
from claude_headspace.kernel.effort.views import effort_view
from claude_headspace.outputs.advice import existing_files
from claude_headspace.ports import Recorder
from claude_headspace.surfaces.read.efforts import EffortQueries

Env = Mapping[str, str]

MAX_PATHS = 200

# --- arguments; unknown fields are refused ---

Text = Annotated[str, Meta(max_length=100_000)]
Name = Annotated[str, Meta(max_length=200)]
FilePath = Annotated[str, Meta(max_length=8_192)]


class EffortReference(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """An effort by id or start of its id; by default the one of the sender and directory."""

    effort: Name | None = None
    cwd: FilePath | None = None


class StartEffort(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """A new effort."""

    skill: Name
    cwd: FilePath | None = None
    mode: Name = ""
    task_dir: FilePath | None = None
    title: Name = ""
    keywords: tuple[Name, ...] = ()
    phase: Name | None = None
    manager: Name | None = None
    owner: Name | None = None
    metadata: Metadata = {}
    preload: tuple[FilePath, ...] = ()


class EffortText(EffortReference, kw_only=True, forbid_unknown_fields=True):
    """A log entry, or a message for the agent."""

    text: Text


class Handover(EffortText, kw_only=True, forbid_unknown_fields=True):
    """A handover to the next session, with the files to read."""

    files: tuple[FilePath, ...] = ()


class FinishEffort(EffortReference, kw_only=True, forbid_unknown_fields=True):
    """The end of an effort, with a closing text."""

    text: Text = ""


class SetPhase(EffortReference, kw_only=True, forbid_unknown_fields=True):
    """A new phase."""

    phase: Name


class SetMetadata(EffortReference, kw_only=True, forbid_unknown_fields=True):
    """Metadata to change."""

    metadata: Metadata


class ListEfforts(msgspec.Struct, forbid_unknown_fields=True):
    """Which efforts to list: active ones, or all; everywhere, or only those of the directory `cwd`."""

    all: bool = False
    cwd: FilePath | None = None
    here: bool = False


class DiscoverInstructions(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """Paths whose instruction files are wanted."""

    paths: tuple[FilePath, ...] = ()
    path: FilePath | None = None
    cwd: FilePath | None = None


@dataclass(frozen=True)
class EffortCommands:
    """Runs the effort commands."""

    recorder: Recorder
    efforts: EffortQueries
    find_project: LocateProject
    starter: EffortStarter

    async def __call__(self, name: str, args: msgspec.Raw, env: Env) -> object:
        """Run an effort command."""
        command = COMMANDS[name]
        try:
            request = msgspec.json.decode(args, type=command.arguments)
        except (msgspec.DecodeError, RecursionError, UnicodeError) as error:
            raise BadRequest(
                "bad_arguments",
                f"The arguments of {name} are not valid: {error}.",
                "docs/engine.md lists the arguments of each command.",
            ) from error
        return await command.run(self, request, env)

    # --- acts ---

    async def start(self, request: StartEffort, env: Env) -> object:
        """Start an effort."""
        root, task_dir = await self._directories(request)
        wanted = NewEffort(
            skill=request.skill.removeprefix("/"),
            project_root=root,
            task_dir=task_dir,
            mode=request.mode,
            title=request.title,
            keywords=request.keywords,
            phase=request.phase,
            owner=request.owner or env.get("AGENT_ID") or None,
            manager=request.manager,
            metadata=request.metadata,
            preload=tuple(absolute_path(root, path) for path in request.preload),
        )
        return effort_view(await self.starter.start(wanted, await self._sender(env)))

    async def _directories(self, request: StartEffort) -> tuple[str, str]:
        """The root of the project and the directory of the task."""
        root = (await self.find_project(request.cwd)).project_root or ""
        task_dir = absolute_path(request.cwd or root, request.task_dir) if request.task_dir else root
        if not root.startswith("/") or not task_dir.startswith("/"):
            raise BadRequest("bad_directory", "An effort needs a directory.", "Send `cwd` as an absolute path.")
        return root, task_dir

    async def phase(self, request: SetPhase, env: Env) -> object:
        """Set the phase."""
        effort = await self._find(request, env)
        return await self._record(acts.PhaseSet(effort_id=effort.id, phase=request.phase))

    async def log(self, request: EffortText, env: Env) -> object:
        """Add a log entry. It resets the heartbeat."""
        effort, holder = await self._find(request, env), await self._sender_id(env)
        return await self._record(acts.EffortLogged(effort_id=effort.id, text=request.text, holder=holder))

    async def inject(self, request: EffortText, env: Env) -> object:
        """Queue a message for the agent."""
        effort = await self._find(request, env)
        return await self._record(acts.InjectionQueued(effort_id=effort.id, text=request.text))

    async def set(self, request: SetMetadata, env: Env) -> object:
        """Change the metadata."""
        effort = await self._find(request, env)
        return await self._record(acts.MetadataSet(effort_id=effort.id, metadata=request.metadata))

    async def open(self, request: EffortReference, env: Env) -> object:
        """Open the session; the introduction and the handover."""
        effort, holder = await self._find(request, env), await self._sender_id(env)
        await self._record(acts.SessionOpened(effort_id=effort.id, holder=holder))
        documents = await asyncio.to_thread(existing_files, documents_to_read(effort, None))
        return {
            "effortId": effort.id,
            "context": introduction(effort),
            "dehydratedContext": recovery(effort),
            "documents": list(documents),
        }

    async def dehydrate(self, request: Handover, env: Env) -> object:
        """Store the handover to the next session."""
        return await self._hand_over(request, env, finish=False)

    async def finish_session(self, request: Handover, env: Env) -> object:
        """Store the handover and end this session."""
        return await self._hand_over(request, env, finish=True)

    async def _hand_over(self, request: Handover, env: Env, *, finish: bool) -> object:
        effort, holder = await self._find(request, env), await self._sender_id(env)
        files = tuple(absolute_path(request.cwd or effort.project_root, path) for path in request.files)
        return await self._record(
            acts.Dehydrated(effort_id=effort.id, text=request.text, files=files, holder=holder, finish=finish)
        )

    async def finish(self, request: FinishEffort, env: Env) -> object:
        """Finish an effort."""
        effort = await self._find(request, env)
        return await self._record(acts.EffortFinished(effort_id=effort.id, text=request.text))

    # --- reading ---

    async def list(self, request: ListEfforts, _env: Env) -> object:
        """All efforts and tasks."""
        directory = absolute_path("/", request.cwd) if request.here and request.cwd else None
        return await asyncio.to_thread(self.efforts.list_all, only_active=not request.all, directory=directory)

    async def show(self, request: EffortReference, env: Env) -> object:
        """One effort with its sessions and messages."""
        return await asyncio.to_thread(self.efforts.details, await self._find(request, env))

    async def discover(self, request: DiscoverInstructions, _env: Env) -> object:
        """The instruction files that apply to paths."""
        requested = (*request.paths, *([request.path] if request.path else []))[:MAX_PATHS]
        paths = [absolute_path(request.cwd or "/", path) for path in requested if "\0" not in path]
        directory = request.cwd or (paths[0].rpartition("/")[0] if paths else None)
        root = (await self.find_project(directory)).project_root or ""
        found = await asyncio.to_thread(find_instruction_files, paths, root) if root.startswith("/") else ()
        return {"directives": list(found)}

    # --- the sender and the effort ---

    async def _find(self, request: EffortReference, env: Env) -> Effort:
        return await asyncio.to_thread(self.efforts.find_for, request.effort, request.cwd, env)

    async def _sender(self, env: Env) -> Agent | None:
        return await asyncio.to_thread(self.efforts.agent_of, env)

    async def _sender_id(self, env: Env) -> str | None:
        agent = await self._sender(env)
        return agent.id if agent else None

    async def _record(self, act: acts.Act) -> object:
        outcome = (await self.recorder.record(act)).effort
        assert outcome is not None
        return effort_view(outcome.effort)


def absolute_path(base: str, path: str) -> str:
    """A path relative to a directory, as a normalized absolute path."""
    return os.path.normpath(Path(base) / path)


class EffortCommand(msgspec.Struct, frozen=True):
    """A command: the type of its arguments, its handler, and a summary."""

    arguments: type[Any]
    run: Callable[[EffortCommands, Any, Env], Awaitable[object]]
    summary: str


COMMANDS: dict[str, EffortCommand] = {
    "effort.start": EffortCommand(StartEffort, EffortCommands.start, "start an effort"),
    "effort.list": EffortCommand(ListEfforts, EffortCommands.list, "list efforts and tasks"),
    "effort.show": EffortCommand(
        EffortReference, EffortCommands.show, "show one effort with its sessions and messages"
    ),
    "effort.open": EffortCommand(
        EffortReference, EffortCommands.open, "open the session; returns the introduction and the handover"
    ),
    "effort.phase": EffortCommand(SetPhase, EffortCommands.phase, "set the phase"),
    "effort.log": EffortCommand(EffortText, EffortCommands.log, "add a log entry, which resets the heartbeat"),
    "effort.set": EffortCommand(SetMetadata, EffortCommands.set, "change the metadata: limits, guards, gates"),
    "effort.inject": EffortCommand(EffortText, EffortCommands.inject, "queue a message for the agent"),
    "effort.dehydrate": EffortCommand(Handover, EffortCommands.dehydrate, "store the handover to the next session"),
    "session.finish": EffortCommand(Handover, EffortCommands.finish_session, "store the handover and end this session"),
    "effort.finish": EffortCommand(FinishEffort, EffortCommands.finish, "finish the effort"),
    "agent.directives.discover": EffortCommand(
        DiscoverInstructions, EffortCommands.discover, "list the instruction files that apply to paths"
    ),
}
"""All effort commands."""
