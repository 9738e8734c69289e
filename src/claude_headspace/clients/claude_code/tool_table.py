"""The tools of Claude Code, by name: kind, verbs, and the file that each touches. Pure.

A tool that is not in the table is of kind `mcp` if its name says so, else `other`.
"""

from claude_headspace.clients.claude_code import SHELL_TOOL
from claude_headspace.kernel.policy.call import Use
from claude_headspace.kernel.tools import Tool, ToolKind

TOOLS: dict[str, Tool] = {
    SHELL_TOOL: Tool(kind=ToolKind.SHELL, wants="run"),
    "Monitor": Tool(kind=ToolKind.SHELL),
    "Read": Tool(kind=ToolKind.READ, doing="reading", wants="read", file="file_path"),
    "NotebookRead": Tool(kind=ToolKind.READ, file="notebook_path"),
    "Edit": Tool(kind=ToolKind.EDIT, doing="editing", wants="edit", file="file_path", use=Use.WRITE),
    "MultiEdit": Tool(kind=ToolKind.EDIT, doing="editing", wants="edit", file="file_path", use=Use.WRITE),
    "NotebookEdit": Tool(kind=ToolKind.NOTEBOOK, doing="editing", wants="edit", file="notebook_path", use=Use.WRITE),
    "Write": Tool(kind=ToolKind.WRITE, doing="writing", wants="write", file="file_path", use=Use.WRITE),
    "Grep": Tool(kind=ToolKind.SEARCH, doing="searching for"),
    "Glob": Tool(kind=ToolKind.SEARCH, doing="looking for"),
    "WebFetch": Tool(kind=ToolKind.WEB, doing="fetching", wants="fetch"),
    "WebSearch": Tool(kind=ToolKind.WEB, doing="searching the web for", wants="search the web for"),
    "AskUserQuestion": Tool(kind=ToolKind.QUESTION, asks="question"),
    "EnterPlanMode": Tool(kind=ToolKind.PLAN, wants="plan first", asks="plan"),
    "ExitPlanMode": Tool(kind=ToolKind.PLAN, asks="plan"),
    "Task": Tool(kind=ToolKind.SUBAGENT),
    "Agent": Tool(kind=ToolKind.SUBAGENT),
    "SendMessage": Tool(kind=ToolKind.MESSAGE),
}

MCP_PREFIX = "mcp__"
"""Tools of MCP servers are called `mcp__<server>__<tool>`."""

MCP_TOOL = Tool(kind=ToolKind.MCP)
OTHER_TOOL = Tool(kind=ToolKind.OTHER)


def find_tool(name: str) -> Tool:
    """Look a tool up by its name."""
    return TOOLS.get(name) or (MCP_TOOL if name.startswith(MCP_PREFIX) else OTHER_TOOL)
