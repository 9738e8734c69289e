"""The tools of Copilot CLI. Pure and total."""

from claude_headspace.kernel.tools import Tool, ToolKind

TOOLS: dict[str, Tool] = {}
"""The tools by name. An unknown tool has the kind `other`."""

OTHER_TOOL = Tool(kind=ToolKind.OTHER)
