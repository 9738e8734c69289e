"""The socket commands: `hooks.*`, the effort commands, `agent.note` and `ping`.

The arguments of a hook command are its payload, in snake or camel case. It is stored like a hook over HTTP.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

import msgspec

from claude_headspace.clients import environment
from claude_headspace.engine.active_efforts import ActiveEfforts
from claude_headspace.engine.spool_fallback import Spooled
from claude_headspace.errors import BadRequest
from claude_headspace.inputs.receive.receiver import HookReceiver
from claude_headspace.outputs.advice import existing_files
from claude_headspace.ports import Outcome, Received
from claude_headspace.surfaces.socket import efforts
from claude_headspace.surfaces.socket.efforts import EffortCommands
from claude_headspace.surfaces.socket.notes import COMMAND as NOTE
from claude_headspace.surfaces.socket.notes import NoteCommand
from claude_headspace.surfaces.socket.results import HOOK_COMMANDS, HookCommand, HookOutcome

ProcessHook = Callable[[Received], Awaitable[Outcome | Spooled]]
"""Processes a hook whose sender waits for the verdict (`HookPipeline.process`)."""

NOTES = {variable: note.encode() for variable, note in environment.NOTES.items()} | dict.fromkeys(
    environment.PID_VARIABLES, b"client-pid"
)
"""Environment variables of a request, and the notes in which the hook script sends them."""

_WORD_START = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_members = msgspec.json.Decoder(dict[str, msgspec.Raw])


@dataclass(frozen=True)
class SocketCommands:
    """Runs socket commands."""

    receiver: HookReceiver
    process_hook: ProcessHook
    active_efforts: ActiveEfforts
    effort_commands: EffortCommands
    note: NoteCommand

    async def __call__(self, name: str, args: msgspec.Raw, env: dict[str, str]) -> object:
        """Run one socket command."""
        if (hook := HOOK_COMMANDS.get(name)) is not None:
            return await self._hook(hook, args, env)
        if name in efforts.COMMANDS:
            return await self.effort_commands(name, msgspec.Raw(snake_case(args)), env)
        if name == NOTE:
            return await self.note(snake_case(args), env)
        if name == "ping":
            return "pong"
        hint = f"Commands: {', '.join(command_names())}."
        raise BadRequest("unknown_command", f"There is no command {name[:100]}.", hint, status=404)

    async def _hook(self, hook: HookCommand, args: msgspec.Raw, env: Mapping[str, str]) -> object:
        headers = {header: env[name].encode("utf-8", "replace") for name, header in NOTES.items() if name in env}
        headers[b"client"] = environment.client_in(env).encode()
        received = await self.receiver.receive_spooled(hook.event, snake_case(args), headers)
        outcome = await self.process_hook(received)
        if isinstance(outcome, Spooled):
            return hook.result(HookOutcome(verdict=outcome.verdict))
        documents: tuple[str, ...] = ()
        if outcome.advice is not None and outcome.effort is not None:
            documents = await asyncio.to_thread(existing_files, outcome.advice.documents)
            loaded = (*outcome.advice.preload, *documents)  # the client reads them
            await self.active_efforts.record_loaded(outcome.effort, loaded)
        return hook.result(
            HookOutcome(outcome.agent, outcome.verdict, outcome.effort, outcome.advice, outcome.coordinator, documents)
        )


def command_names() -> list[str]:
    """The names of all socket commands."""
    return ["ping", *HOOK_COMMANDS, *efforts.COMMANDS, NOTE]


def snake_case(args: msgspec.Raw) -> bytes:
    """Convert the top-level names of the arguments to snake case, which Claude Code uses."""
    try:
        members = _members.decode(args)
    except (msgspec.DecodeError, RecursionError, UnicodeError) as error:
        raise BadRequest(
            "bad_arguments",
            f"The arguments are not a JSON object: {error}.",
            "Send an object as `args`; for a hook, its payload.",
        ) from error
    return msgspec.json.encode({_WORD_START.sub("_", name).lower(): value for name, value in members.items()})
