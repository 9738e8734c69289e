"""Environment variables: those of all clients, and those that identify an agent. Pure.

Headspace sets the identifying variables when it starts a client (`headspace run`). Hook scripts and commands inside
the client send them back, so an event or a command finds its agent. All CLI commands import this module, so it imports
little.
"""

from collections.abc import Mapping

from claude_headspace.clients.claude_code import environment as claude_code

SESSION_VARIABLES = (claude_code.SESSION_VARIABLE,)
"""The id of the client's session, in processes that the client starts: one variable per client."""
MARKERS = claude_code.MARKERS
"""Variables that only processes inside a client have."""
PID_VARIABLES = (claude_code.PID_VARIABLE,)
CONFIG_VARIABLES = (claude_code.CONFIG_VARIABLE,)
"""The directory with the settings and files of a client."""

HEADSPACE_ID = "CLAUDE_HEADSPACE_SESSION_ID"
WRAPPER_ID = "CLAUDE_SESSION_ID"
"""The same for other wrappers, which Headspace also sets."""
TMUX_SESSION = "CLAUDE_HEADSPACE_TMUX_SESSION"
ROLE, MODE, MISSION = "CLAUDE_SESSION_ROLE", "CLAUDE_SESSION_MODE", "MISSION_EXECUTION_ID"
FLEET_ID, TMUX_PANE = "AGENT_ID", "TMUX_PANE"
DAEMON_URL = "CLAUDE_HEADSPACE_URL"

NOTES = {
    TMUX_PANE: "tmux-pane",
    TMUX_SESSION: "tmux-session",
    HEADSPACE_ID: "session-id",
    WRAPPER_ID: "wrapper-id",
    FLEET_ID: "agent-id",
    ROLE: "role",
    MODE: "mode",
    MISSION: "mission-id",
}
"""Variables that identify an agent, and the notes in which hook scripts send them (`inputs/receive/receiver.py`)."""
IDENTITY = (*NOTES, *SESSION_VARIABLES, *PID_VARIABLES)
"""All variables that identify an agent."""
NOT_INHERITED = frozenset({*claude_code.TOOL_VARIABLES, ROLE, MODE, MISSION})
"""Variables that a client started by a tool must not inherit."""


def session_in(env: Mapping[str, str]) -> str | None:
    """The session of the client that a process with these variables runs in."""
    return first_of(SESSION_VARIABLES, env)


def client_pid_in(env: Mapping[str, str]) -> str | None:
    """The process id of that client, as text."""
    return first_of(PID_VARIABLES, env)


def first_of(names: tuple[str, ...], env: Mapping[str, str]) -> str | None:
    """The value of the first of these variables that is not empty."""
    return next((env[name] for name in names if env.get(name)), None)


def is_inside_client(env: Mapping[str, str]) -> bool:
    """Whether a process with these variables runs inside a client."""
    return first_of(MARKERS, env) is not None
