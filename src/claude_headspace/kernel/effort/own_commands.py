"""Recognise shell commands that run Headspace itself: they are never counted or denied. Pure."""

import re

from claude_headspace.kernel.tools import ToolKind, ToolUse

_OWN_COMMAND = re.compile(r"(?:[A-Za-z_]\w*=\S*\s+)*(?:\S*/)?headspace\s+(?P<arguments>.*)", re.DOTALL)
_QUOTED = re.compile(r"'[^']*'|\"(?:[^\"\\$`]|\\.)*\"", re.DOTALL)
_HEREDOC = re.compile(r"<<-?\s*(?P<quote>['\"])(?P<word>\w+)(?P=quote)[ \t]*\n.*\n(?P=word)\s*\Z", re.DOTALL)


def is_own_command(tool: ToolUse) -> bool:
    """Whether a tool call runs one Headspace command and nothing else."""
    return tool.kind is ToolKind.SHELL and own_arguments(tool.command) is not None


def is_log_command(tool: ToolUse) -> bool:
    """Whether a tool call writes a log entry of the effort."""
    return tool.kind is ToolKind.SHELL and (own_arguments(tool.command) or "").startswith("effort log")


def own_arguments(command: str) -> str | None:
    """The arguments of `headspace`; None if the command runs anything else. Quoted text can contain anything."""
    match = _OWN_COMMAND.fullmatch(command.strip())
    if match is None:
        return None
    arguments = match["arguments"]
    unquoted = _QUOTED.sub("''", _HEREDOC.sub("", arguments))
    return arguments if not re.search(r"[;&|`\n<>]|\$\(", unquoted) else None
