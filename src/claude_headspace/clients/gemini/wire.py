"""The wire format of Gemini CLI's hooks. Missing and unknown fields are ignored.

Measured on 0.61.0. No hook has the id of a turn or of a call.
"""

from typing import Any

import msgspec

NOTIFICATION = "ToolPermission"
"""The only kind of notification: a dialog is about to open."""


class WireDetails(msgspec.Struct):
    """What a dialog is about. `type` is exec, edit, ask_user, mcp, info or another kind of dialog."""

    type: str = ""
    title: str = ""
    command: str = ""
    file_path: str = msgspec.field(default="", name="filePath")
    new_content: str | None = msgspec.field(default=None, name="newContent")
    server_name: str = msgspec.field(default="", name="serverName")
    tool_name: str = msgspec.field(default="", name="toolName")
    prompt: str = ""
    urls: list[str] = []


class WireFailure(msgspec.Struct):
    """Why a call failed."""

    message: str = ""
    type: str = ""


class WireResponse(msgspec.Struct):
    """The result of a call."""

    llm_content: Any = msgspec.field(default=None, name="llmContent")
    display: Any = msgspec.field(default=None, name="returnDisplay")
    error: WireFailure | None = None


class WireHook(msgspec.Struct):
    """All hooks: the common fields, and those of single hooks."""

    session_id: str = ""
    transcript_path: str | None = None
    cwd: str | None = None
    prompt: str = ""
    prompt_response: str = ""
    source: str = ""
    reason: str = ""
    trigger: str = ""
    tool_name: str = ""
    tool_input: Any = None
    tool_response: Any = None
    notification_type: str = ""
    message: str = ""
    details: Any = None


class WireOption(msgspec.Struct):
    """A possible answer."""

    label: str = ""
    description: str = ""


class WireQuestion(msgspec.Struct):
    """A question to the user. `type` is choice, text or yesno."""

    type: str = ""
    question: str = ""
    header: str = ""
    options: list[WireOption] = []
    several: bool = msgspec.field(default=False, name="multiSelect")
    placeholder: str = ""


class WireInput(msgspec.Struct):
    """The input fields that Headspace uses, of all tools."""

    command: str = ""
    file_path: str = ""
    dir_path: str = ""
    path: str = ""
    pattern: str = ""
    query: str = ""
    url: str = ""
    prompt: str = ""
    agent_name: str = ""
    content: str | None = None
    old_string: str = ""
    new_string: str = ""
    allow_multiple: bool = False
    questions: list[WireQuestion] = []
    plan: str = ""
    plan_path: str = ""


class WireDiff(msgspec.Struct):
    """What an edit did, as its result shows it."""

    file_path: str = msgspec.field(default="", name="filePath")
    before: str | None = msgspec.field(default=None, name="originalContent")
    after: str | None = msgspec.field(default=None, name="newContent")
    is_new: bool = msgspec.field(default=False, name="isNewFile")
