"""Decode hooks and transcript lines of Codex into facts. Pure and total."""

from typing import Any

from claude_headspace.clients.codex.registry import decode_registry
from claude_headspace.kernel import facts
from claude_headspace.kernel.act_events import bare_meta
from claude_headspace.kernel.envelope import Envelope, Origin
from claude_headspace.kernel.facts import Event


def decode(envelope: Envelope, body: Any, anomaly: str | None) -> Event:
    """Decode an envelope. Never raises."""
    if envelope.origin is Origin.REGISTRY:
        return decode_registry(envelope, body, anomaly)
    return Event(bare_meta(envelope), facts.Observed(), envelope.observations, envelope.decisions, anomaly)
