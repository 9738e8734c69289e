"""Environment variables: those of all clients, and those that identify an agent. Pure.

Headspace sets the identifying variables when it starts a client (`headspace run`). Hook scripts and commands inside
the client send them back, so an event or a command finds its agent. All CLI commands import this module, so it imports
little.
"""

from collections.abc import Mapping

from claude_headspace.clients.catalog import CLIENTS, DEFAULT

SESSION_VARIABLES = tuple(each.session_variable for each in CLIENTS.values() if each.session_variable)
"""The id of the client's session, in processes that the client starts: one variable per client."""
MARKERS = tuple(name for each in CLIENTS.values() for name in each.markers)
"""Variables that only processes inside a client have."""
PID_VARIABLES = tuple(each.pid_variable for each in CLIENTS.values() if each.pid_variable)
CONFIG_VARIABLES = tuple(each.config_variable for each in CLIENTS.values() if each.config_variable)
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
IDENTITY = tuple(dict.fromkeys((*NOTES, *SESSION_VARIABLES, *PID_VARIABLES, *MARKERS)))
"""All variables that identify an agent or its client."""
NOT_INHERITED = frozenset({ROLE, MODE, MISSION}).union(*(each.tool_variables for each in CLIENTS.values()))
"""Variables that a client started by a tool must not inherit."""


def tool_variables_of_others(name: str, env: Mapping[str, str]) -> frozenset[str]:
    """The variables that the tools of other clients left in an environment. The client sets its own again."""
    others = (each for each in CLIENTS.values() if each.name != name and first_of(each.markers, env) is not None)
    return frozenset(variable for each in others for variable in each.tool_variables)


def session_in(env: Mapping[str, str]) -> str | None:
    """The session of the client that a process with these variables runs in."""
    return first_of(SESSION_VARIABLES, env)


def client_in(env: Mapping[str, str]) -> str:
    """The client that a process with these variables runs in. Claude Code, unless only another one left its marks.

    If one client runs inside the other, both have left marks: then processes are compared (`clients/processes.py`).
    """
    inside = clients_in(env)
    return inside[0] if len(inside) == 1 else DEFAULT


def clients_in(env: Mapping[str, str]) -> list[str]:
    """The clients whose marks are in an environment. Several, if one client runs inside the other."""
    return [name for name, client in CLIENTS.items() if first_of(client.markers, env) is not None]


def client_pid_in(env: Mapping[str, str]) -> str | None:
    """The process id of that client, as text."""
    return first_of(PID_VARIABLES, env)


def first_of(names: tuple[str, ...], env: Mapping[str, str]) -> str | None:
    """The value of the first of these variables that is not empty."""
    return next((env[name] for name in names if env.get(name)), None)


def is_inside_client(env: Mapping[str, str]) -> bool:
    """Whether a process with these variables runs inside a client."""
    return first_of(MARKERS, env) is not None
