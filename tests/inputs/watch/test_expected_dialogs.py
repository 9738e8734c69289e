"""A dialog that a client announced is assumed to be open after a while."""

import asyncio

from claude_headspace.inputs.watch.agent_cache import AgentCache
from claude_headspace.inputs.watch.envelopes import EnvelopeBuilder
from claude_headspace.inputs.watch.expected_dialogs import ExpectedDialogWatch
from claude_headspace.inputs.watch.registries import NoRegistry, Registries
from claude_headspace.kernel.agent import ToolCall, Wait
from claude_headspace.kernel.envelope import Envelope, Observations
from claude_headspace.testing import START, ManualClock
from tests.kernel.story import new_agent

WAIT = Wait(id="event-w0", agent_id="agent-1", kind="permission", text="edit", opened_at=START, subagent_id="thread")
CALL = ToolCall(id="call-1", tool="edit", digest="", summary="", started_at=START, dialog=WAIT)
ASSUMED = [("DialogAssumed", "codex", "agent-1")]


class Registry(NoRegistry):
    """A registry that has a thread, which may show a dialog."""

    def __init__(self, *, shows: bool) -> None:
        self._shows = shows

    def find_client(self, session_id: str) -> Observations | None:
        """It has this thread."""
        return Observations() if session_id == "thread" else None

    def shows_dialog(self, session_id: str) -> bool:
        """Whether its thread shows a dialog."""
        return self._shows and session_id == "thread"


async def no_project(_directory: str | None) -> Observations:
    """Locate no project."""
    return Observations()


def submitted(seconds: float, registry: NoRegistry | None = None, **known: object) -> list[tuple[str, str, str]]:
    """The envelopes that are submitted some seconds after a dialog was announced: name, client, agent."""
    clock, found = ManualClock(START), list[tuple[str, str, str]]()
    clock.advance(seconds)

    async def submit(envelope: Envelope, agent_id: str) -> None:
        found.append((envelope.name, envelope.client, agent_id))

    agents = AgentCache("laptop", [new_agent(**{"client": "codex", "calls": (CALL,)} | known)])
    registries = Registries({"codex": registry or NoRegistry()})
    asyncio.run(ExpectedDialogWatch(submit, EnvelopeBuilder("laptop", clock, no_project), agents, registries).check())
    return found


def test_a_dialog_is_assumed_after_a_while() -> None:
    """A granted call would have ended by then."""
    assert submitted(0.9) == []
    assert submitted(1) == ASSUMED


def test_a_registry_that_has_the_thread_must_show_the_dialog() -> None:
    """A granted call that takes long does not wait."""
    assert submitted(60, Registry(shows=False)) == []
    assert submitted(60, Registry(shows=True)) == ASSUMED


def test_an_agent_that_ended_is_left_alone() -> None:
    """Nobody can answer it."""
    assert submitted(60, ended_at=START) == []
