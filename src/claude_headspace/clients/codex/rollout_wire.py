"""Shapes of the lines in the rollouts of Codex, tolerant. Undocumented; measured on 0.166.0.

Every field may be missing and unknown fields are ignored. Fields without one type are `Any`.
"""

from typing import Any

import msgspec


class WireLine(msgspec.Struct):
    """One line of a rollout."""

    timestamp: str | None = None
    ordinal: int | None = None
    type: str = ""
    payload: Any = None


class WireStored(msgspec.Struct):
    """A line as it is stored: with the session and the sub-agent of its file, and what its turn needs from others."""

    session_id: str = ""
    subagent_id: str | None = None
    cwd: str | None = None
    plan: str = ""
    model: str = ""
    cost_usd: float | None = None
    line: WireLine = msgspec.field(default_factory=WireLine)


class WireSpawn(msgspec.Struct):
    """How a sub-agent was started."""

    agent_nickname: str | None = None
    agent_role: str | None = None


class WireSubagentSource(msgspec.Struct):
    """The source of a sub-agent's thread."""

    thread_spawn: WireSpawn | None = None


class WireSource(msgspec.Struct):
    """The source of a thread, if it is an object."""

    subagent: WireSubagentSource | None = None


class WireSessionMeta(msgspec.Struct):
    """The first line: what the thread is."""

    id: str = ""
    session_id: str = ""
    parent_thread_id: str | None = None
    cwd: str | None = None
    originator: str = ""
    source: Any = None
    agent_nickname: str | None = None
    agent_role: str | None = None
    subagent_history_start_ordinal: int | None = None
    """The first line of a sub-agent's own. The lines before are a copy of its parent's."""


class WireError(msgspec.Struct):
    """Why a turn failed."""

    message: str = ""
    codex_error_info: Any = None


class WireErrorBody(msgspec.Struct):
    """The body of a failed reply of the model."""

    error: WireError = msgspec.field(default_factory=WireError)


class WireTokens(msgspec.Struct):
    """Tokens of one reply, or of all. The input includes the cached tokens, the output those of reasoning."""

    input_tokens: int = 0
    cached_input_tokens: int = 0
    output_tokens: int = 0
    total_tokens: int | None = None


class WireTokenInfo(msgspec.Struct):
    """Context usage."""

    last_token_usage: WireTokens | None = None
    total_token_usage: WireTokens | None = None
    model_context_window: int | None = None


class WireLimit(msgspec.Struct):
    """Usage of a rate limit."""

    used_percent: float | None = None
    window_minutes: int | None = None
    resets_at: int | None = None


class WireLimits(msgspec.Struct):
    """The rate limits of the account."""

    primary: WireLimit | None = None
    secondary: WireLimit | None = None


class WirePart(msgspec.Struct):
    """A part of a message."""

    text: str = ""


class WireItem(msgspec.Struct):
    """What a turn consists of: a message, a call, a plan."""

    type: str = ""
    id: str | None = None
    text: str = ""
    content: Any = None
    tool: str = ""
    receiver_thread_ids: list[str] = []
    kind: str = ""
    agent_thread_id: str | None = None


class WirePayload(msgspec.Struct):
    """The payload of an event or of an item of the conversation."""

    type: str = ""
    turn_id: str | None = None
    last_agent_message: str | None = None
    error: WireError | None = None
    message: str = ""
    item: Any = None
    info: WireTokenInfo | None = None
    rate_limits: WireLimits | None = None
    call_id: str | None = None
    name: str = ""
    namespace: str | None = None
    arguments: Any = None
    input: Any = None
    output: Any = None


class WireTurnContext(msgspec.Struct):
    """The settings of a turn."""

    cwd: str | None = None
    model: str | None = None
