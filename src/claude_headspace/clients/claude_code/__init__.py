"""Claude Code: everything that knows its formats, names and files.

Pure modules decode and reply: `wire`, `transcript_wire`, `decode`, `transcript`, `tools`, `hook_kinds`, `messages`,
`replies`. Modules with I/O find its files and install hooks: `hooks/`.
"""

from typing import Any

NAME = "claude-code"
"""The client's name in envelopes and agents."""
SHELL_TOOL = "Bash"
"""The tool that runs a shell command."""
SESSION_VARIABLE = "CLAUDE_CODE_SESSION_ID"
"""The environment variable with the id of the session, in processes that the client starts."""
CLIENT_VARIABLES = (SESSION_VARIABLE, "CLAUDECODE")
"""Environment variables of processes that the client starts."""


def tool_of(payload: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """The name of the tool and its input, from the decoded payload of a hook. Empty if there are none."""
    given = payload.get("tool_input")
    return str(payload.get("tool_name", "")), given if isinstance(given, dict) else {}
