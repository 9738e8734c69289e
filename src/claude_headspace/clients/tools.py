"""Look up a tool by its name, and describe a tool call from its name and input. Pure.

For code that has a tool call without an event: a test case of the policy, a call that a user asks about. An event has
its tool use already decoded.
"""

from typing import Any

from claude_headspace.clients import claude_code
from claude_headspace.clients.claude_code import tools as claude_code_tools
from claude_headspace.clients.claude_code.wire import WireToolInput
from claude_headspace.clients.codex import tools as codex
from claude_headspace.clients.copilot import tools as copilot
from claude_headspace.clients.gemini import tools as gemini
from claude_headspace.clients.opencode import tools as opencode
from claude_headspace.kernel.text import one_line
from claude_headspace.kernel.tolerant_json import fit
from claude_headspace.kernel.tools import Tool, ToolKind, ToolUse

SHELL_TOOL = claude_code.SHELL_TOOL
"""The tool of a command line, unless another one is named."""
OTHER_TOOLS = opencode.TOOLS | copilot.TOOLS | gemini.TOOLS | codex.TOOLS
"""The tools of the other clients. Tools with one name do the same in all of them."""
KNOWN_TOOLS = claude_code_tools.TOOLS | OTHER_TOOLS
"""The tools of all clients by name."""
FILE_KINDS = frozenset({ToolKind.READ, ToolKind.EDIT, ToolKind.WRITE, ToolKind.NOTEBOOK})
"""Tools that work on one file."""


def find_tool(name: str) -> Tool:
    """Look up a tool. An unknown tool has the kind `other`."""
    return OTHER_TOOLS.get(name) or claude_code_tools.find_tool(name)


def permission_verb(name: str) -> str:
    """The verb of a permission, as in "wants to run"; empty if the tool has none."""
    return find_tool(name).wants


def describe_call(name: str, tool_input: Any) -> ToolUse:
    """Describe a call of a tool with this input."""
    return claude_code_tools.tool_use(name, tool_input, None, fit(tool_input, WireToolInput)[0])


def tool_input(name: str, text: str) -> dict[str, object]:
    """The input of a tool from a text: a command line, or the file that the tool works on."""
    tool = find_tool(name)
    return {"command": text} if tool.kind is ToolKind.SHELL else {tool.file or "path": text}


def tool_of(payload: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """The name of the tool and its input, from the payload of a hook. Empty if there are none."""
    return claude_code_tools.tool_of(payload)


def summarize_call(use: ToolUse) -> str:
    """Summarize a call in one line, so that people recognise it: the files of an edit, which may be a patch."""
    files = dict.fromkeys(file.path for file in use.files) if use.kind is ToolKind.EDIT else {}
    return one_line(", ".join(files)) or summarize_input(use.input)


def summarize_input(tool_input: Any) -> str:
    """Summarize the input of a call in one line, so that people recognise the call."""
    return claude_code_tools.summary_of(fit(tool_input, WireToolInput)[0]) or opencode.summary_of(tool_input)
