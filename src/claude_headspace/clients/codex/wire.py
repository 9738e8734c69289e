"""Shapes of the hooks of Codex, tolerant. Measured on 0.166.0.

Every field may be missing and unknown fields are ignored. Fields without one type are `Any`.
"""

from typing import Any

import msgspec


class WireHook(msgspec.Struct):
    """The fields of every hook. `session_id` is the main thread, also in the hooks of a sub-agent (`agent_id`)."""

    session_id: str = ""
    turn_id: str | None = None
    transcript_path: str | None = None
    cwd: str | None = None
    permission_mode: str | None = None
    agent_id: str | None = None
    agent_type: str | None = None


class WireSessionStart(WireHook):
    """A thread starts, with its first prompt."""

    source: str = "startup"
    model: str | None = None


class WireSessionEnd(WireHook):
    """A thread is closed."""

    reason: str = "other"


class WirePrompt(WireHook):
    """A turn takes in a prompt."""

    prompt: str = ""


class WireTool(WireHook):
    """A tool call begins, needs permission, or ended."""

    tool_name: str = ""
    tool_input: Any = None
    tool_use_id: str | None = None
    tool_response: Any = None


class WireStop(WireHook):
    """A turn of a thread ended."""

    last_assistant_message: str | None = None
    stop_hook_active: bool = False


class WireCompact(WireHook):
    """Compaction begins or ends."""

    trigger: str = "manual"


HOOKS: dict[str, type[WireHook]] = {
    "SessionStart": WireSessionStart,
    "SessionEnd": WireSessionEnd,
    "UserPromptSubmit": WirePrompt,
    "PreToolUse": WireTool,
    "PermissionRequest": WireTool,
    "PostToolUse": WireTool,
    "Stop": WireStop,
    "Interrupt": WireHook,
    "SubagentStart": WireHook,
    "SubagentStop": WireStop,
    "PreCompact": WireCompact,
    "PostCompact": WireCompact,
    "PreModelRequest": WireHook,
    "PostModelRequest": WireHook,
}


class WireOption(msgspec.Struct):
    """One option of a question."""

    label: str = ""
    description: str = ""


class WireQuestion(msgspec.Struct):
    """One question of `request_user_input`."""

    id: str = ""
    header: str = ""
    question: str = ""
    options: list[WireOption] | None = None


class WireToolInput(msgspec.Struct):
    """Input fields that are used, of all tools together."""

    command: str | None = None
    message: str | None = None
    path: str | None = None
    query: str | None = None
    url: str | None = None
    questions: list[WireQuestion] = []


class WireAnswer(msgspec.Struct):
    """The answers to one question."""

    answers: list[str] = []


class WireResult(msgspec.Struct):
    """Result fields that matter. Codex sends them as JSON in a string."""

    agent_id: str | None = None
    answers: dict[str, WireAnswer] = {}
