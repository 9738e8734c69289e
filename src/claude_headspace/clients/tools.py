"""Look tools up by name: the tool tables of all clients together. Pure.

For modules that show calls and have a tool's name as data. Events carry their tool use already decoded.
"""

from claude_headspace.clients.claude_code import tools as claude_code
from claude_headspace.kernel.tools import Tool, ToolKind

FILE_KINDS = frozenset({ToolKind.READ, ToolKind.EDIT, ToolKind.WRITE, ToolKind.NOTEBOOK})
"""Tools that work on one file."""


def find_tool(name: str) -> Tool:
    """What is known of a tool; kind `other` if nothing is."""
    return claude_code.find_tool(name)


def permission_verb(name: str) -> str:
    """What an agent wants to do with a tool, as in "wants to run"; empty if there is no verb for it."""
    return find_tool(name).wants
