"""The program of Claude Code and its environment variables. Pure; imports little, for a fast start."""

from collections.abc import Mapping

TITLE = "Claude Code"
"""Its name for people."""
PROGRAM = "claude"

SESSION_VARIABLE = "CLAUDE_CODE_SESSION_ID"
"""The id of the session, in processes that the client starts."""
PID_VARIABLE = "CLAUDE_PID"
"""The process of the client, in processes that it starts."""
CONFIG_VARIABLE = "CLAUDE_CONFIG_DIR"
DEFAULT_CONFIG_DIR = "~/.claude"

MARKERS = (SESSION_VARIABLE, "CLAUDECODE")
"""Variables that only processes inside the client have."""

TOOL_VARIABLES = (
    "AI_AGENT",
    "CLAUDECODE",
    "CLAUDE_CODE_CHILD_SESSION",
    "CLAUDE_CODE_ENTRYPOINT",
    "CLAUDE_CODE_MESSAGING_SOCKET",
    "CLAUDE_CODE_MESSAGING_TOKEN",
    "CLAUDE_CODE_SESSION_ATTENDED",
    SESSION_VARIABLE,
    "CLAUDE_EFFORT",
    "CLAUDE_ENV_FILE",
    PID_VARIABLE,
    "CLAUDE_PROJECT_DIR",
    "COLUMNS",
    "LINES",
)
"""Variables that the client sets for its tools. A client that a tool starts must not inherit them."""


def config_dir(env: Mapping[str, str]) -> str:
    """The config dir that the client uses with these variables."""
    return env.get(CONFIG_VARIABLE) or DEFAULT_CONFIG_DIR
