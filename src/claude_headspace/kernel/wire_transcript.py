"""Foreign shapes: the lines of Claude Code's transcripts, tolerant. Undocumented; measured on 2.1.197 and 2.1.325.

Every field may be missing and unknown ones are skipped. What can be large stays unparsed as `Raw`.
"""

import msgspec

from claude_headspace.kernel.wire import RAW_NULL


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
    input: msgspec.Raw = RAW_NULL
    tool_use_id: str | None = None
    is_error: bool | None = None
    content: msgspec.Raw = RAW_NULL


class WireMessage(msgspec.Struct):
    """A message as the API knows it."""

    model: str | None = None
    stop_reason: str | None = None
    content: msgspec.Raw = RAW_NULL
    usage: WireUsage | None = None


class WireAttachment(msgspec.Struct):
    """Something that the client adds to the conversation."""

    type: str = ""
    prompt: str = ""
    content: msgspec.Raw = RAW_NULL


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
    message: msgspec.Raw = RAW_NULL
    attachment: msgspec.Raw = RAW_NULL
    compact_metadata: msgspec.Raw = RAW_NULL
    tool_use_result: msgspec.Raw = RAW_NULL
    tool_denial_kind: str | None = None
    user_feedback: str | None = None
    pending_background_agent_count: int | None = None
    operation: str = ""
    content: msgspec.Raw = RAW_NULL
    total_cost: float | None = msgspec.field(default=None, name="totalCostUSD")
    has_unknown_model_cost: bool | None = None
