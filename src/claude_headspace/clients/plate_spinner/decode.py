"""Decode plate-spinner's events: one payload shape for all of its event types.

Its events have names of their own in the log, because its `stop` is not the hook of Claude Code. They identify their
agent by the session id alone. Event types that are not listed only show that the agent is alive.
"""

from collections.abc import Callable
from typing import Any

import msgspec

from claude_headspace.clients.claude_code import tools, wire
from claude_headspace.clients.claude_code.decode import hook_meta
from claude_headspace.clients.claude_code.messages import finished_task
from claude_headspace.kernel import facts
from claude_headspace.kernel.envelope import Envelope, Observations
from claude_headspace.kernel.facts import Event, Fact
from claude_headspace.kernel.text import short
from claude_headspace.kernel.tolerant_json import fit


class WirePlate(wire.WireHook):
    """An event of plate-spinner: the fields of all types together."""

    project_path: str | None = None
    """plate-spinner's own name for the working directory. It takes precedence."""
    tool_name: str = ""
    tool_params: Any = None
    tool_input: Any = None
    tool_use_id: str | None = None
    prompt: str = ""
    git_branch: str | None = None
    error: str | None = None

    @property
    def input(self) -> Any:
        """The input of the tool, under either name."""
        return self.tool_input if self.tool_input is not None else self.tool_params


PLATES = {
    "session_start": "PlateSessionStart",
    "prompt_submit": "PlatePromptSubmit",
    "tool_start": "PlateToolStart",
    "tool_call": "PlateToolCall",
    "stop": "PlateStop",
}
"""plate-spinner's event types, and their names in the log."""


def decode(envelope: Envelope, body: object, anomaly: str | None) -> Event:
    """Decode an event. Never raises."""
    shape, misfit = fit(body, WirePlate)
    given = fit(shape.input, wire.WireToolInput)[0]
    meta = hook_meta(envelope, shape)
    if shape.project_path:
        meta = msgspec.structs.replace(meta, cwd=shape.project_path)
    return Event(
        meta,
        FACTS[envelope.name](shape, given),
        _with_branch(envelope.observations, shape.git_branch),
        envelope.decisions,
        misfit or anomaly or envelope.observations.anomaly,
        tool=tools.tool_use(shape.tool_name, shape.input, shape.tool_use_id, given) if shape.tool_name else None,
        session_only=True,
    )


def _with_branch(observations: Observations, branch: str | None) -> Observations:
    """The branch that the sender observed counts more than the one of the directory, which may be elsewhere by now."""
    return msgspec.structs.replace(observations, branch=short(branch)) if branch else observations


def _tool_started(shape: WirePlate, given: wire.WireToolInput) -> Fact:
    return tools.tool_started(tools.tool_use(shape.tool_name, shape.input, shape.tool_use_id, given), given)


def _tool_called(shape: WirePlate, _given: wire.WireToolInput) -> Fact:
    return facts.ToolFinished(shape.tool_use_id, shape.tool_name, tools.digest(shape.input))


def _stopped(shape: WirePlate, _given: wire.WireToolInput) -> Fact:
    """A stop that names an error is one."""
    return facts.TurnFailed(short(shape.error)) if shape.error else facts.TurnStopped()


FACTS: dict[str, Callable[[WirePlate, wire.WireToolInput], Fact]] = {
    "PlateSessionStart": lambda _shape, _given: facts.SessionStarted("startup"),
    "PlatePromptSubmit": lambda shape, _given: facts.PromptSubmitted(shape.prompt, finished_task(shape.prompt)),
    "PlateToolStart": _tool_started,
    "PlateToolCall": _tool_called,
    "PlateStop": _stopped,
}
