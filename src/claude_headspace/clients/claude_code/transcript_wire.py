"""Shapes of the lines in Claude Code's transcripts, tolerant. Undocumented; measured on 2.1.197 and 2.1.325.

Every field may be missing and unknown fields are ignored. Fields without one type are `Any`.
"""

from typing import Any

import msgspec


class WireUsage(msgspec.Struct):
    """What one reply took; what was read of the context is spread over three numbers."""

    input_tokens: int | None = None
    cache_creation_input_tokens: int | None = None
    cache_read_input_tokens: int | None = None


class WireBlock(msgspec.Struct):
    """A piece of a message: text, a call, or a call's result."""

    type: str = ""
    text: str = ""
    id: str | None = None
    name: str = ""
    input: Any = None
    tool_use_id: str | None = None
    is_error: bool | None = None
    content: Any = None


class WireMessage(msgspec.Struct):
    """A message as the API knows it."""

    model: str | None = None
    stop_reason: str | None = None
    content: Any = None
    usage: WireUsage | None = None


class WireAttachment(msgspec.Struct):
    """Something that the client adds to the conversation."""

    type: str = ""
    prompt: str = ""
    content: Any = None


class WireCompaction(msgspec.Struct):
    """What a compaction left over."""

    post_tokens: int | None = msgspec.field(default=None, name="postTokens")


class WireLine(msgspec.Struct, rename="camel"):
    """The parts of a line that say something. Every one may be missing."""

    type: str = ""
    subtype: str = ""
    uuid: str | None = None
    timestamp: str | None = None
    session_id: str = ""
    cwd: str | None = None
    git_branch: str | None = None
    prompt_id: str | None = None
    prompt_source: str | None = None
    entrypoint: str | None = None
    permission_mode: str | None = None
    is_meta: bool | None = None
    is_sidechain: bool | None = None
    is_compact_summary: bool | None = None
    is_aborted_mid_stream: bool | None = None
    is_api_error_message: bool | None = None
    agent_id: str | None = None
    agent_type: str | None = None
    description: str | None = None
    error: str | None = None
    message: Any = None
    attachment: Any = None
    compact_metadata: Any = None
    tool_use_result: Any = None
    tool_denial_kind: str | None = None
    user_feedback: str | None = None
    pending_background_agent_count: int | None = None
    operation: str = ""
    content: Any = None
    total_cost: float | None = msgspec.field(default=None, name="totalCostUSD")
    has_unknown_model_cost: bool | None = None
    model_usage: Any = None


class WireModelUsage(msgspec.Struct, rename="camel"):
    """What a session has used of one model."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_input_tokens: int = 0
    cache_creation_input_tokens: int = 0
    cost_usd: float | None = msgspec.field(default=None, name="costUSD")
