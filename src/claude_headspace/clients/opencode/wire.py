"""Shapes of the reports of opencode's plugin, tolerant: unknown fields are ignored, missing ones have a default.

The plugin (`plugin/headspace.js`) adds the fields in snake case. What is in `event` is the client's own.
"""

from typing import Any

import msgspec


class WireReport(msgspec.Struct, frozen=True):
    """What every report has."""

    session_id: str = ""
    """The session that a person started, also for the events of its sub-agents."""
    cwd: str | None = None
    turn_id: str | None = None
    agent_id: str | None = None
    """The session of the sub-agent."""
    agent_type: str | None = None
    source: str = ""
    message: str | None = None
    """The last text of the agent in its turn."""
    failed: bool = False
    """Whether an error or an abort ended the turn that is over now. It has its own report."""
    after_turn: bool = False
    """Whether the call ended after its turn, as after an abort."""
    cost: float | None = None
    tool_use_id: str | None = None
    tool_name: str | None = None
    tool_input: Any = None
    tool_response: Any = None
    error: str = ""
    event: Any = None


class WireModel(msgspec.Struct, frozen=True):
    """A model, as a session names it."""

    id: str = ""
    model_id: str = msgspec.field(default="", name="modelID")


class WireInfo(msgspec.Struct, frozen=True):
    """A session."""

    id: str = ""
    title: str = ""
    agent: str = ""
    parent_id: str | None = msgspec.field(default=None, name="parentID")
    model: WireModel = WireModel()


class WireCreated(msgspec.Struct, frozen=True):
    """A session was created."""

    info: WireInfo = WireInfo()


class WirePart(msgspec.Struct, frozen=True):
    """A part of a message."""

    type: str = ""
    text: str = ""
    synthetic: bool = False
    """Whether the client added it: no person typed it."""
    filename: str = ""


class WirePrompt(msgspec.Struct, frozen=True):
    """A prompt with its parts."""

    parts: list[WirePart] = []


class WireStatus(msgspec.Struct, frozen=True):
    """The status of a session: busy, retry or idle."""

    type: str = ""
    attempt: int = 0
    message: str = ""


class WireStatusEvent(msgspec.Struct, frozen=True):
    """The status of a session changed."""

    status: WireStatus = WireStatus()


class WireErrorData(msgspec.Struct, frozen=True):
    """The details of an error."""

    message: str = ""
    status_code: int | None = msgspec.field(default=None, name="statusCode")


class WireError(msgspec.Struct, frozen=True):
    """An error."""

    name: str = ""
    data: WireErrorData = WireErrorData()


class WireErrorEvent(msgspec.Struct, frozen=True):
    """A turn ended in an error, or was aborted."""

    error: WireError = WireError()


class WirePermission(msgspec.Struct, frozen=True):
    """The client shows a permission dialog."""

    id: str = ""
    permission: str = ""
    patterns: list[str] = []
    always: list[str] = []
    """The patterns that "always" allows."""
    metadata: Any = None


class WireReply(msgspec.Struct, frozen=True):
    """A dialog was answered."""

    request_id: str = msgspec.field(default="", name="requestID")
    reply: str = ""
    answers: list[list[str]] = []


class WireOption(msgspec.Struct, frozen=True):
    """A possible answer."""

    label: str = ""
    description: str = ""


class WireQuestion(msgspec.Struct, frozen=True):
    """One question of a dialog."""

    question: str = ""
    header: str = ""
    options: list[WireOption] = []
    multiple: bool = False


class WireQuestions(msgspec.Struct, frozen=True):
    """The client shows questions."""

    id: str = ""
    questions: list[WireQuestion] = []


class WireCache(msgspec.Struct, frozen=True):
    """Tokens in the cache of the model's provider."""

    read: int = 0
    write: int = 0


class WireTokens(msgspec.Struct, frozen=True):
    """The tokens of one message."""

    input: int = 0
    output: int = 0
    reasoning: int = 0
    cache: WireCache = WireCache()


class WireUsage(msgspec.Struct, frozen=True):
    """A finished message of the model."""

    model_id: str = msgspec.field(default="", name="modelID")
    tokens: WireTokens = WireTokens()
    cost: float | None = None
    """In dollars; 0 also for models whose price opencode does not know."""
    window: int | None = None


class WireTodo(msgspec.Struct, frozen=True):
    """An entry of the to-do list."""

    content: str = ""
    status: str = ""


class WireTodos(msgspec.Struct, frozen=True):
    """The to-do list."""

    todos: list[WireTodo] = []


class WireToolInput(msgspec.Struct, frozen=True):
    """The fields of an input that every tool may have."""

    command: str | None = None
    file_path: str | None = msgspec.field(default=None, name="filePath")
    path: str | None = None
    pattern: str | None = None
    url: str | None = None
    query: str | None = None
    name: str | None = None
    description: str | None = None
    prompt: str | None = None
    patch_text: str | None = msgspec.field(default=None, name="patchText")
