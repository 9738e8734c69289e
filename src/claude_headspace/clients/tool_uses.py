"""Describe calls that did not come from an event: a policy's test case, a call that a user asks about. Pure."""

from typing import Any

from claude_headspace.clients.claude_code import tools as claude_code
from claude_headspace.kernel.tools import ToolUse


def describe_call(name: str, tool_input: Any) -> ToolUse:
    """Describe a call of a tool with this input."""
    return claude_code.tool_use(name, tool_input, None, claude_code.read_input(tool_input))


def summarize_input(tool_input: Any) -> str:
    """What people recognise a call by, in one line."""
    return claude_code.summary_of(claude_code.read_input(tool_input))
