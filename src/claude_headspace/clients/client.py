"""What Headspace knows about a client as a whole: its names, its variables, and what it can and cannot do. Pure.

Each package in `clients/` has a module `description` with one `Client`. `clients/catalog.py` lists them. All CLI
commands import this module, so it imports little.
"""

from enum import StrEnum

import msgspec

from claude_headspace.kernel.hooks import HookKind


class Capability(StrEnum):
    """Something that people expect of every client. The value is its name in the documentation."""

    STATE = "live state"
    DENY = "guards deny a tool call"
    ASK = "guards ask about a tool call"
    ANSWER_PERMISSION = "answer a permission"
    ANSWER_QUESTION = "answer a question"
    DENY_MESSAGE = "deny with a message"
    DECLINE_MESSAGE = "decline a question with a message"
    GRANT = "allow permanently"
    EDIT_INPUT = "change the input of a call"
    CONTEXT = "add context for the model"
    KEEP_WORKING = "keep a turn from ending"
    SEND = "send a prompt"
    KEEP_DRAFT = "keep a draft while sending"
    INTERRUPT = "interrupt a turn"
    STOP = "stop an agent"
    RUN = "start with `headspace run`"
    RESUME = "resume a session"
    FORK = "continue a session twice"
    SUPERVISE = "supervise and restart"
    MISSION = "run missions"
    IMPORT = "import old sessions"
    CHANGES = "show what an agent changed"
    SUBAGENTS = "show sub-agents"
    USAGE = "context usage"
    COST = "cost"
    STATUS_LINE = "read the status line"
    HTTP_HOOKS = "send hooks over HTTP"


class Client(msgspec.Struct, frozen=True, kw_only=True):
    """A client: one program that people run agents with."""

    name: str
    """Its name in envelopes, agents and filters."""
    title: str
    """Its name for people."""
    short_title: str
    """Its name where there is little space: at most 8 characters."""
    program: str
    """The program that starts it."""
    package: str
    """Its package at npm, for people who want to install it."""
    tested_versions: tuple[str, ...]
    """The versions that the formats were measured with."""

    session_variable: str | None = None
    """The variable with the id of the session, in processes that the client starts."""
    pid_variable: str | None = None
    """The variable with the process of the client, in processes that it starts."""
    config_variable: str | None = None
    """The variable with the config dir, or with the directory that contains it."""
    config_folder: str = ""
    """The name of the config dir, if the variable names the directory that contains it."""
    default_config_dir: str
    markers: tuple[str, ...] = ()
    """Variables that only processes inside the client have."""
    tool_variables: tuple[str, ...] = ()
    """Variables that the client sets for its tools. A client that a tool starts must not inherit them."""

    reloads_hooks: bool = False
    """Whether running sessions use changed hooks. Otherwise sessions use them after their next start."""
    outlives_terminal: bool = False
    """Whether its process goes on when its terminal is closed. Nobody can use it then: the agent has ended."""

    denial_ends_turn: bool = False
    """Whether its turn ends if a permission is denied."""

    held: frozenset[HookKind] = frozenset()
    """Hooks that can be held open for a person, because the client's own dialog stays usable."""
    asked: frozenset[HookKind] = frozenset()
    """Hooks to which the client applies a reply."""
    repeated: frozenset[HookKind] = frozenset()
    """Hooks that the client runs once for each registration, with the same payload and its time: copies are one event.
    Never hooks before a tool call, because each copy needs the verdict."""

    limits: dict[Capability, str] = {}
    """What the client cannot do, and why: a sentence that people see where they try it."""
    notes: dict[Capability, str] = {}
    """How it does something, where that is worth knowing."""

    def can(self, capability: Capability) -> bool:
        """Whether the client can do something."""
        return capability not in self.limits
