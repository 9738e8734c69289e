"""The wire format of Gemini CLI's chat files. Missing and unknown fields are ignored. Measured on 0.61.0."""

from typing import Any

import msgspec

from claude_headspace.kernel.usage import Tokens


class WireTokens(msgspec.Struct):
    """The tokens of one reply of the model. `input` includes the cached ones."""

    input: int = 0
    output: int = 0
    cached: int = 0
    thoughts: int = 0
    tool: int = 0


class WireCall(msgspec.Struct):
    """A call that ended. `status` is success, error or cancelled."""

    name: str = ""
    args: Any = None
    result: Any = None
    status: str = ""
    timestamp: str = ""
    agent_id: str = msgspec.field(default="", name="agentId")


class WireMessage(msgspec.Struct):
    """A message: `type` is user, gemini, info or error."""

    id: str = ""
    timestamp: str = ""
    type: str = ""
    content: Any = None
    display: Any = msgspec.field(default=None, name="displayContent")
    tokens: WireTokens | None = None
    model: str | None = None
    calls: list[WireCall] = msgspec.field(default_factory=list, name="toolCalls")


class WireChanges(msgspec.Struct):
    """Changed members of the header."""

    messages: list[Any] | None = None
    summary: str = ""


class WireOperation(msgspec.Struct):
    """A line that is not a message: the header, or changes of it."""

    session_id: str = msgspec.field(default="", name="sessionId")
    start_time: str = msgspec.field(default="", name="startTime")
    kind: str = ""
    changes: WireChanges | None = msgspec.field(default=None, name="$set")


class WireStored(msgspec.Struct):
    """A line as Headspace stores it: with its session, because the line itself does not name it."""

    session_id: str = ""
    cwd: str | None = None
    subagent_id: str | None = None
    part: str = ""
    cost_usd: float | None = None
    totals: dict[str, Tokens] | None = None
    """What the session has used so far, by model, without sub-agents."""
    line: Any = None
