"""The commands of the socket: fifteen hooks, served as over HTTP, and the efforts' own.

A hook's arguments are its payload, in snake or camel case; they are sealed in an envelope like every other event, so
whoever tells Headspace something over the socket is on the same board.
"""

import re
from collections.abc import Awaitable, Callable, Mapping

import msgspec

from claude_headspace.errors import BadRequest
from claude_headspace.inputs.receive.receiver import HookReceiver
from claude_headspace.kernel.envelope import Envelope
from claude_headspace.kernel.policy.verdict import ABSTAIN
from claude_headspace.ports import Outcome
from claude_headspace.surfaces.socket import efforts
from claude_headspace.surfaces.socket.efforts import Efforts
from claude_headspace.surfaces.socket.notes import COMMAND as NOTE
from claude_headspace.surfaces.socket.notes import Notes
from claude_headspace.surfaces.socket.results import HOOK_COMMANDS, HookCommand, Told

Hear = Callable[[Envelope], Awaitable[Outcome | Envelope]]
"""Stores a hook that waits for its answer; the hook itself when the journal is away: then only the rules decide."""

NOTES = {
    "AGENT_ID": b"agent-id",
    "TMUX_PANE": b"tmux-pane",
    "CLAUDE_HEADSPACE_TMUX_SESSION": b"tmux-session",
    "CLAUDE_HEADSPACE_SESSION_ID": b"session-id",
    "CLAUDE_SESSION_ID": b"wrapper-id",
    "CLAUDE_SESSION_MODE": b"mode",
    "MISSION_EXECUTION_ID": b"mission-id",
    "CLAUDE_PID": b"client-pid",
    "CLAUDE_SESSION_ROLE": b"role",
}
"""What the environment of a request tells of its client, as the shim tells it."""

_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_members = msgspec.json.Decoder(dict[str, msgspec.Raw])


class Commands:
    """Answers requests."""

    def __init__(self, receiver: HookReceiver, hear: Hear, known: Efforts, notes: Notes) -> None:
        self._receiver = receiver
        self._hear = hear
        self._efforts = known
        self._notes = notes

    async def __call__(self, name: str, args: msgspec.Raw, env: dict[str, str]) -> object:
        """Do what a request asks."""
        if (hook := HOOK_COMMANDS.get(name)) is not None:
            return await self._hook(hook, args, env)
        if name in efforts.COMMANDS:
            return await self._efforts(name, msgspec.Raw(snake_case(args)), env)
        if name == NOTE:
            return await self._notes(snake_case(args), env)
        if name == "ping":
            return "pong"
        raise BadRequest(
            "unknown_command", f"There is no command {name[:100]}.", f"There are: {', '.join(names())}.", status=404
        )

    async def _hook(self, hook: HookCommand, args: msgspec.Raw, env: Mapping[str, str]) -> object:
        notes = {NOTES[key]: value.encode("utf-8", "replace") for key, value in env.items() if key in NOTES}
        envelope = await self._receiver.seal_told(hook.event, snake_case(args), notes)
        outcome = await self._hear(envelope)
        if isinstance(outcome, Envelope):
            return hook.answer(Told(hook.event, verdict=outcome.decisions.verdict or ABSTAIN))
        if outcome.advice is not None and outcome.effort is not None and outcome.advice.preload:
            await self._efforts.note_loaded(outcome.effort, outcome.advice.preload)  # the caller reads them in
        return hook.answer(
            Told(hook.event, outcome.agent, outcome.verdict, outcome.effort, outcome.advice, outcome.coordinator)
        )


def names() -> list[str]:
    """Every command that there is."""
    return ["ping", *HOOK_COMMANDS, *efforts.COMMANDS, NOTE]


def snake_case(args: msgspec.Raw) -> bytes:
    """Arguments with their names as Claude Code spells them; what is in them stays as it is."""
    try:
        members = _members.decode(args)
    except (msgspec.DecodeError, RecursionError, UnicodeError) as error:
        raise BadRequest(
            "bad_arguments",
            f"The arguments are no JSON object: {error}.",
            "Send an object as `args`: for a hook its payload.",
        ) from error
    return msgspec.json.encode({_HUMP.sub("_", name).lower(): value for name, value in members.items()})
