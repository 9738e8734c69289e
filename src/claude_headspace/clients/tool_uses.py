"""Describe a tool call from its name and input. Pure.

For calls without an event: a test case of the policy, a call that a user asks about.
"""

from typing import Any

from claude_headspace.clients.claude_code import tools as claude_code
from claude_headspace.kernel.tools import ToolUse


def describe_call(name: str, tool_input: Any) -> ToolUse:
    """Describe a call of a tool with this input."""
    return claude_code.tool_use(name, tool_input, None, claude_code.read_input(tool_input))


def summarize_input(tool_input: Any) -> str:
    """The input of a call in one line, so that people recognise the call."""
    return claude_code.summary_of(claude_code.read_input(tool_input))
