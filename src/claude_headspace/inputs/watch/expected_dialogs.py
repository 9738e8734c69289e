"""Opens the waits of dialogs that a client announced and nothing else reports.

Some clients announce a dialog also for a call that an earlier answer allows. They show none then, and the call runs at
once. So the wait of such a call opens only if the call has not ended after a while. The registry, if it has the thread,
must show a dialog, too.
"""

import asyncio
from collections.abc import Awaitable, Callable

import msgspec
import structlog

from claude_headspace.background import Loop
from claude_headspace.inputs.watch.agent_cache import AgentCache
from claude_headspace.inputs.watch.envelopes import EnvelopeBuilder
from claude_headspace.inputs.watch.registries import Registries
from claude_headspace.kernel.agent import Agent, Wait
from claude_headspace.kernel.envelope import Envelope
from claude_headspace.kernel.evolve.tools import ASSUMED_AFTER

log = structlog.get_logger(__name__)

Submit = Callable[[Envelope, str], Awaitable[object]]

INTERVAL_SECONDS = 0.25


class ExpectedDialogWatch(Loop):
    """Reports dialogs that must be open by now."""

    def __init__(self, submit: Submit, envelopes: EnvelopeBuilder, agents: AgentCache, registries: Registries) -> None:
        super().__init__()
        self._submit = submit
        self._envelopes = envelopes
        self._agents = agents
        self._registries = registries

    async def _run(self) -> None:
        while True:
            await asyncio.sleep(INTERVAL_SECONDS)
            try:
                await self.check()
                self.failure = None
            except Exception as error:  # the next round tries again
                self.failure = str(error)
                log.exception("expected_dialog_watch_failed")

    async def check(self) -> None:
        """Report the dialogs that must be open."""
        for agent in list(self._agents.expecting_dialogs()):
            if any(call.dialog is not None and self._is_open(agent, call.dialog) for call in agent.calls):
                envelope = self._envelopes.dialog_assumed()
                await self._submit(msgspec.structs.replace(envelope, client=agent.client), agent.id)

    def _is_open(self, agent: Agent, dialog: Wait) -> bool:
        """Whether a dialog was announced long enough ago, and the registry shows it if it has its thread."""
        if dialog.opened_at > self._envelopes.clock() - ASSUMED_AFTER:
            return False
        thread = dialog.subagent_id or (agent.session.client_id if agent.session is not None else "")
        return self._registries.find_client(thread) is None or self._registries.shows_dialog(thread)
