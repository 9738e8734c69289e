"""Context notices in the middle of a turn: the reply to a finished tool call reports how full the context is.

Rules
- Finished tool calls wait for a reply only while a notice is due for an agent of this host. Others cost nothing.
- Transcripts show how full a context is. So agents are checked with each observation, and not with hooks, which must be
  fast. The end of a turn ends the wait.
- The text of a notice is decided with the event, and so is that it is given once (`kernel/claude_os/notices.py`).
"""

from collections.abc import Iterable

import msgspec

from claude_headspace.kernel.agent import Agent, AgentState
from claude_headspace.kernel.claude_os.notices import ClaudeOsSettings, has_notice_in_turn
from claude_headspace.kernel.hooks import HookKind
from claude_headspace.ports import ExpectHooks, StreamMessage

MESSAGE_TYPE = "state_changed"
AFTER_TURN = (AgentState.IDLE, AgentState.ERROR, AgentState.ENDED)


class _Changed(msgspec.Struct):
    state: str


class ContextNotices:
    """Knows for which agents a notice is due, and expects their hooks."""

    def __init__(self, settings: ClaudeOsSettings, host: str, expect: ExpectHooks) -> None:
        self._settings = settings
        self._host = host
        self._expect = expect
        self._pending: set[str] = set()

    def update_agent(self, agent: Agent) -> None:
        """An agent was observed. No-op for agents of other hosts."""
        self._set(agent.id, agent.host == self._host and has_notice_in_turn(self._settings, agent))

    def receive(self, messages: Iterable[StreamMessage]) -> None:
        """Stream messages: perhaps the turn of an agent ended."""
        for message in messages:
            if message.agent_id in self._pending and message.type == MESSAGE_TYPE and _ends_turn(message):
                self._set(message.agent_id, is_pending=False)

    def _set(self, agent_id: str, is_pending: bool) -> None:
        if is_pending is (agent_id in self._pending):
            return
        (self._pending.add if is_pending else self._pending.discard)(agent_id)
        self._expect(frozenset({HookKind.AFTER_TOOL}) if self._pending else frozenset())


def _ends_turn(message: StreamMessage) -> bool:
    return msgspec.json.decode(message.data, type=_Changed).state in AFTER_TURN
