"""Finished tool calls wait for a reply only while an agent has to be told how full its context is."""

import msgspec

from claude_headspace.engine.context_notices import ContextNotices
from claude_headspace.kernel.agent import Agent
from claude_headspace.kernel.claude_os.notices import ClaudeOsSettings
from claude_headspace.kernel.hooks import HookKind
from claude_headspace.ports import StreamMessage
from tests.kernel.story import new_agent, time_at


def agent(name: str, percent: float, **known: object) -> Agent:
    """A working agent with a role."""
    made = new_agent(id=name, role="chief", busy_at=time_at(5), context_percent=percent)
    return msgspec.structs.replace(made, **known)


def changed(name: str, state: str) -> StreamMessage:
    """A message about the new state of an agent."""
    return StreamMessage(1, "state_changed", name, "p", msgspec.json.encode({"state": state}))


def test_tool_calls_wait_while_an_agent_has_to_be_told() -> None:
    """The expectation changes only with the first and the last agent."""
    declared: list[frozenset[HookKind]] = []
    notices = ContextNotices(ClaudeOsSettings(), "laptop", declared.append)
    waiting = frozenset({HookKind.AFTER_TOOL})
    notices.update_agent(agent("a", 30))
    assert declared == []
    notices.update_agent(agent("a", 81))
    notices.update_agent(agent("a", 82))
    notices.update_agent(agent("b", 61))
    assert declared[-1] == waiting
    notices.update_agent(agent("a", 82, context_level_reported=80))
    assert declared[-1] == waiting
    notices.receive([changed("b", "waiting")])
    assert declared[-1] == waiting, "its turn continues"
    notices.receive([changed("b", "idle")])
    assert declared[-1] == frozenset()
    notices.update_agent(agent("c", 81, host="elsewhere"))
    assert declared[-1] == frozenset()
