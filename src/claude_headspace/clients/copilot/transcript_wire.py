"""Shapes of the lines of Copilot CLI in `events.jsonl`, tolerant. Undocumented, measured with 1.0.102."""

from typing import Any

import msgspec


class WireError(msgspec.Struct, frozen=True):
    """Why a call failed."""

    message: str = ""
    code: str = ""


class WireResult(msgspec.Struct, frozen=True):
    """The result of a call (`content`), or of a dialog (`kind`, `feedback`)."""

    content: str = ""
    kind: str = ""
    feedback: str = ""


class WirePermission(msgspec.Struct, rename="camel", frozen=True):
    """What a dialog asks."""

    kind: str = ""
    tool_call_id: str = ""
    tool_name: str = ""
    tool_args: Any = None
    full_command_text: str = ""
    path: str = ""
    file_name: str = ""
    url: str = ""


class WireUsage(msgspec.Struct, rename="camel", frozen=True):
    """The usage of one call of the model. The input includes the tokens in the cache."""

    model: str = ""
    input_tokens: int | None = None
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    max_prompt_tokens: int | None = None


class WireCache(msgspec.Struct, rename="camel"):
    """Why a conversation was rewritten."""

    pending_rewrite_sources: list[str] = []


class WireContext(msgspec.Struct, rename="camel", frozen=True):
    """Where a session runs."""

    cwd: str | None = None
    branch: str | None = None


class WireData(msgspec.Struct, rename="camel"):
    """The data of a line: the fields of all types that are used."""

    content: str = ""
    source: str = ""
    tool_requests: list[Any] = []
    tool_call_id: str = ""
    tool_name: str = ""
    arguments: Any = None
    success: bool = True
    error: WireError = WireError()
    result: WireResult = WireResult()
    request_id: str = ""
    permission_request: WirePermission = WirePermission()
    message: str = ""
    error_type: str = ""
    usage: WireUsage = WireUsage()
    new_model: str | None = None
    selected_model: str | None = None
    context: WireContext = WireContext()
    agent_name: str = ""
    agent_description: str = ""
    trigger: str = ""
    prompt_cache_break_state: list[WireCache] = []


class WireEvent(msgspec.Struct, rename="camel"):
    """A line."""

    type: str = ""
    id: str = ""
    timestamp: str = ""
    agent_id: str | None = None
    """The sub-agent that the line is about."""
    data: Any = None


class WireCall(msgspec.Struct):
    """The call that a line is about, which only an earlier line describes."""

    name: str = ""
    arguments: Any = None


class WireLine(msgspec.Struct):
    """A line as Headspace stores it: with its session, and with what only other lines tell."""

    session_id: str = ""
    cwd: str | None = None
    line: Any = None
    call: WireCall | None = None
    ends_turn: bool = False
    """The last message of the model before it requests no call."""
