"""Entries of Codex's session registry: threads that its shared daemon has open. Pure and total.

An entry is what the control socket reported about a thread: `{"id", "cwd", "status": {"type", "activeFlags"}}`. With
`answeredCall` it reports that one of its dialogs was answered, and nothing else.
"""

from typing import Any

import msgspec

from claude_headspace.clients.codex.control_protocol import Status, Thread
from claude_headspace.clients.registry_entry import Activity, RegistryEntry
from claude_headspace.kernel import facts
from claude_headspace.kernel.act_events import bare_meta
from claude_headspace.kernel.envelope import Envelope, Micros
from claude_headspace.kernel.facts import Event, Fact
from claude_headspace.kernel.tolerant_json import fit
from claude_headspace.kernel.wait.request import Ask

WAITS = {
    "waitingOnApproval": Ask("permission", "Codex asks for an approval"),
    "waitingOnUserInput": Ask("question", "Codex asks a question"),
}
"""What an active thread waits for."""

THREAD_CLOSED = "thread closed"
"""Why the session of a closed thread ended."""
ANSWERED = "answered in the terminal"
"""How a dialog of several ended. The daemon does not report the answer."""
RESUMED = Status("resumed")
"""The status of a thread that was opened again. Codex reports only that it is idle or active."""


def activity_of(thread: Thread) -> Activity:
    """What a thread does."""
    match thread.status.type:
        case "idle" | "systemError":
            return Activity.IDLE
        case "active":
            return Activity.WAITING if _ask(thread) is not None else Activity.BUSY
        case "":
            return Activity.UNKNOWN
        case _:
            return Activity.OTHER


def make_entry(thread: Thread, pid: int | None, at: Micros) -> tuple[RegistryEntry, bytes]:
    """The entry of a thread in the daemon with this pid, and its JSON."""
    status = f"{thread.status.type}:{','.join(thread.status.active_flags)}:{thread.answered_call}".removesuffix(":")
    entry = RegistryEntry(
        pid=pid or 0,
        session_id=thread.id,
        cwd=thread.cwd,
        activity=activity_of(thread),
        started_at=0,
        at=at,
        delivery_id=f"registry:{thread.id}:{status}:{at}",
    )
    return entry, msgspec.json.encode(thread)


def decode_registry(envelope: Envelope, body: Any, anomaly: str | None) -> Event:
    """Decode an entry. Never raises."""
    thread, misfit = fit(body, Thread)
    meta = msgspec.structs.replace(
        bare_meta(envelope),
        session_id=thread.session_id,
        cwd=thread.cwd,
        subagent_id=thread.id if thread.parent_thread_id else None,
    )
    if thread.answered_call:
        fact: Fact = facts.DialogClosed("", ANSWERED, call_id=thread.answered_call)
    else:
        fact = _fact(thread) if thread.is_session else facts.Observed()
    return Event(meta, fact, envelope.observations, envelope.decisions, misfit or anomaly)


def _fact(thread: Thread) -> Fact:
    match thread.status.type:
        case "idle":
            return facts.ClientReported("idle")
        case "active":
            ask = _ask(thread)
            return facts.ClientReported("waiting" if ask is not None else "busy", ask)
        case "systemError":
            return facts.TurnFailed("system_error", "Codex reports an error")
        case "closed" | "notLoaded":
            return facts.SessionEnded(THREAD_CLOSED)
        case "vanished":
            return facts.ClientVanished()
        case "resumed":
            return facts.SessionStarted("resume")
        case _:
            return facts.Observed()


def _ask(thread: Thread) -> Ask | None:
    return next((WAITS[flag] for flag in thread.status.active_flags if flag in WAITS), None)
