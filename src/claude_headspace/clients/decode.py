"""Decode any envelope into an `Event`. Never raises: every envelope gives an event.

Acts are decoded by the kernel, observations of the process table here, and the events of plate-spinner by its package,
which is chosen by the name of the event. The package of the client that the envelope names decodes everything else. The
payload is parsed from JSON at most once; a caller that has done so passes the `body`.

Rules
- Decoding runs again at every replay, so it depends on the envelope alone.
- An unknown client, event or field is data: it becomes `Observed` or is left out, and the event's `anomaly` gives the
  reason.
"""

from collections.abc import Callable
from typing import Any

from claude_headspace.clients.claude_code import decode as claude_code
from claude_headspace.clients.codex import decode as codex
from claude_headspace.clients.copilot import decode as copilot
from claude_headspace.clients.gemini import decode as gemini
from claude_headspace.clients.opencode import decode as opencode
from claude_headspace.clients.plate_spinner import decode as plate_spinner_events
from claude_headspace.kernel import facts
from claude_headspace.kernel.act_events import bare_meta, decode_act
from claude_headspace.kernel.envelope import Envelope, Origin
from claude_headspace.kernel.facts import Event
from claude_headspace.kernel.tolerant_json import parse

TURN_END_ASSUMED = "TurnEndAssumed"
"""The event of a reported end of a turn that was not confirmed in time."""
DIALOG_ASSUMED = "DialogAssumed"
"""The event of a call that needs permission unless it is granted, and has not ended in time."""
TIMER_FACTS: dict[str, facts.Fact] = {TURN_END_ASSUMED: facts.TurnEndAssumed(), DIALOG_ASSUMED: facts.DialogAssumed()}

Decode = Callable[[Envelope, Any, str | None], Event]
"""Decodes an envelope, its payload as Python objects, and what was wrong with its text. Never raises."""

DECODERS: dict[str, Decode] = {
    "claude-code": claude_code.decode,
    "codex": codex.decode,
    "opencode": opencode.decode,
    "copilot": copilot.decode,
    "gemini": gemini.decode,
}
"""The decoder of each client: of its hooks, the lines of its transcripts, and its registry entries."""


def decode(envelope: Envelope, body: Any = None) -> Event:
    """Decode an envelope. Never raises. `body` is the payload parsed to Python objects, if the caller has it."""
    if envelope.origin is Origin.OPERATOR:
        return decode_act(envelope)
    if envelope.origin is Origin.PROCESS:
        return Event(bare_meta(envelope), _vanished(envelope), envelope.observations, envelope.decisions)
    if envelope.origin is Origin.TIMER and envelope.name in TIMER_FACTS:
        return Event(bare_meta(envelope), TIMER_FACTS[envelope.name], envelope.observations, envelope.decisions)
    decoder = DECODERS.get(envelope.client)
    if decoder is None:
        problem = f"unknown client {envelope.client}"
        return Event(bare_meta(envelope), facts.Observed(), envelope.observations, envelope.decisions, problem)
    if envelope.origin is Origin.HOOK and envelope.name in plate_spinner_events.FACTS:
        decoder = plate_spinner_events.decode  # plate-spinner monitors Claude Code: its envelopes name that client
    value, anomaly = (body, None) if body is not None else parse(envelope.payload)
    return decoder(envelope, value, anomaly)


def _vanished(envelope: Envelope) -> facts.Fact:
    kind = facts.WrapperVanished if envelope.name == "WrapperVanished" else facts.ClientVanished
    return kind(envelope.observations.client_pid)
