"""What arrives, as it arrived: the payload untouched, and beside it only what the payload cannot know.

Rules
- `fired_at` is the word of whoever sent it, `received_at` ours; a `timestamp` inside a payload is only data.
- `delivery_id` is made by the sender and unique in the journal: the same delivery twice is one event.
- `context` holds what was found out around the event (process, terminal, repository). It is stored with the event, so
  that a replay never asks the machine again.
"""

from enum import StrEnum

import msgspec

from claude_headspace.kernel.claude_os.session_notice import Care
from claude_headspace.kernel.effort.advice import Advice
from claude_headspace.kernel.policy.verdict import Verdict

Micros = int
"""A moment: microseconds since 1970, UTC."""

SECOND: Micros = 1_000_000


class Origin(StrEnum):
    """Who tells: also how much it is believed when two tell different things of one moment."""

    HOOK = "hook"
    TRANSCRIPT = "transcript"
    REGISTRY = "registry"
    PROCESS = "process"
    STATUS_LINE = "status_line"
    OPERATOR = "operator"
    TIMER = "timer"


class Context(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """The surroundings of an event: who the client is, where it runs, what we decided when it arrived."""

    tmux_session: str | None = None
    tmux_pane: str | None = None
    client_pid: int | None = None
    client_started_at: Micros | None = None
    """When the client's process began: a pid alone may be another process by now."""
    ancestor_pids: tuple[int, ...] = ()
    headspace_id: str | None = None
    """The id that a Headspace wrapper put into the client's environment."""
    wrapper_id: str | None = None
    """`CLAUDE_SESSION_ID` of a foreign wrapper."""
    role: str | None = None
    """`CLAUDE_SESSION_ROLE`."""
    project_root: str | None = None
    branch: str | None = None
    assigned_name: str | None = None
    """The name given to the agent that this event created."""
    parent_id: str | None = None
    """The agent whose client started this one."""
    actor: str | None = None
    """Who asked, for what an operator did."""
    fleet_id: str | None = None
    """`AGENT_ID`: in a fleet, the pane's own name."""
    mode: str | None = None
    """`CLAUDE_SESSION_MODE`: interactive, mission or background."""
    mission_id: str | None = None
    """`MISSION_EXECUTION_ID`: the mission that the client works on."""
    effort_id: str | None = None
    """The effort that the event belongs to."""
    directives: tuple[str, ...] = ()
    """The instruction files that belong to the paths that a call touched."""
    advice: Advice | None = None
    """What the client was answered because of the effort."""
    care: Care | None = None
    """What the session was told with the answer."""
    verdict: Verdict | None = None
    """What a policy said of the call, where it said anything."""
    flaw: str | None = None
    """What was wrong with the text that arrived, where it had to be repaired."""


class Envelope(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that happened, sealed."""

    id: str
    name: str
    """The event's own name: `PreToolUse`, or one that nobody knows yet."""
    origin: Origin
    client: str
    host: str
    fired_at: Micros
    received_at: Micros
    payload: bytes
    """One JSON object."""
    context: Context
    delivery_id: str | None = None
    whole: bytes | None = None
    """The payload before secrets were taken out and long texts cut: for whoever judges a call, and never stored."""
