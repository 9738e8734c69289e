"""Tools by name, and calls that did not come from an event: the tool tables of all clients together. Pure.

For modules that have a tool's name and input as data. Events carry their tool use already decoded.
"""

from typing import Any

from claude_headspace.clients.claude_code import tools as claude_code
from claude_headspace.clients.claude_code.wire import WireToolInput
from claude_headspace.kernel.tolerant_json import fit
from claude_headspace.kernel.tools import Tool, ToolKind, ToolUse

FILE_KINDS = frozenset({ToolKind.READ, ToolKind.EDIT, ToolKind.WRITE, ToolKind.NOTEBOOK})
"""Tools that work on one file."""


def find_tool(name: str) -> Tool:
    """What is known of a tool; kind `other` if nothing is."""
    return claude_code.find_tool(name)


def permission_verb(name: str) -> str:
    """What an agent wants to do with a tool, as in "wants to run"; empty if there is no verb for it."""
    return find_tool(name).wants


def describe_call(name: str, tool_input: Any) -> ToolUse:
    """Describe a call of a tool with this input."""
    return claude_code.tool_use(name, tool_input, None, fit(tool_input, WireToolInput)[0])


def summarize_input(tool_input: Any) -> str:
    """What people recognise a call by, in one line."""
    return claude_code.summary_of(fit(tool_input, WireToolInput)[0])
