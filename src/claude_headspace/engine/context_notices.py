"""Context notices in the middle of a turn: the reply to a finished tool call tells the session how full its context is.

Rules
- Finished tool calls wait for a reply only while an agent of this host has to be told. Otherwise they cost nothing.
- What is told, and that it is told once, is decided with the event (`kernel/claude_os/notices.py`).
"""

from claude_headspace.kernel.agent import Agent
from claude_headspace.kernel.claude_os.notices import ClaudeOsSettings, has_notice_in_turn
from claude_headspace.kernel.hooks import HookKind
from claude_headspace.ports import ExpectHooks


class ContextNotices:
    """Knows which agents have to be told, and expects their hooks."""

    def __init__(self, settings: ClaudeOsSettings, host: str, expect: ExpectHooks) -> None:
        self._settings = settings
        self._host = host
        self._expect = expect
        self._pending: set[str] = set()

    def update_agent(self, agent: Agent) -> None:
        """An agent changed. No-op for agents of other hosts."""
        is_measured = agent.context_percent is not None and agent.host == self._host
        is_pending = is_measured and has_notice_in_turn(self._settings, agent)
        if is_pending is (agent.id in self._pending):
            return
        (self._pending.add if is_pending else self._pending.discard)(agent.id)
        self._expect(frozenset({HookKind.AFTER_TOOL}) if self._pending else frozenset())
