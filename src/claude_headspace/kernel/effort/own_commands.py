"""Recognise shell commands that run Headspace itself: they are never counted or refused. Pure."""

import re

from claude_headspace.kernel.tools import ToolKind, ToolUse

_OWN_COMMAND = re.compile(r"(?:[A-Za-z_]\w*=\S*\s+)*(?:\S*/)?headspace\s+(?P<rest>.*)", re.DOTALL)
_QUOTED = re.compile(r"'[^']*'|\"(?:[^\"\\$`]|\\.)*\"", re.DOTALL)
_HEREDOC = re.compile(r"<<-?\s*(?P<quote>['\"])(?P<word>\w+)(?P=quote)[ \t]*\n.*\n(?P=word)\s*\Z", re.DOTALL)


def is_own_command(tool: ToolUse) -> bool:
    """Whether a call runs one command of Headspace and nothing else."""
    return tool.kind is ToolKind.SHELL and own_arguments(tool.command) is not None


def is_log_command(tool: ToolUse) -> bool:
    """Whether a call writes the effort's log."""
    return tool.kind is ToolKind.SHELL and (own_arguments(tool.command) or "").startswith("effort log")


def own_arguments(command: str) -> str | None:
    """The arguments of `headspace`, if the command is that and nothing else; quoted text may hold anything."""
    found = _OWN_COMMAND.fullmatch(command.strip())
    if found is None:
        return None
    rest = found["rest"]
    plain = _QUOTED.sub("''", _HEREDOC.sub("", rest))
    return rest if not re.search(r"[;&|`\n<>]|\$\(", plain) else None
