"""Payload shapes of Claude Code's hooks, status line and registry: one type per event, tolerant.

Every field may be missing and unknown fields are ignored. Shapes are converted from decoded JSON; `decode` gives them a
meaning. Fields without one type (`tool_input`, `tool_response`) are `Any`.

`HOOKS` is the complete list of Claude Code 2.1.325. The receiver, the decoder, the docs and the tests read it.
"""

import re
from typing import Any

import msgspec


class WireHook(msgspec.Struct, kw_only=True):
    """Fields of every hook."""

    session_id: str = ""
    transcript_path: str | None = None
    cwd: str | None = None
    working_directory: str | None = None
    """Another name for `cwd`."""
    hook_event_name: str | None = None
    prompt_id: str | None = None
    permission_mode: str | None = None
    agent_id: str | None = None
    agent_type: str | None = None


class WireSessionStart(WireHook):
    """A context window opens."""

    source: str = "startup"
    model: str | None = None


class WireSessionEnd(WireHook):
    """A context window closes."""

    reason: str = "other"


class WirePrompt(WireHook):
    """A prompt; `prompt` is the raw text."""

    prompt: str = ""


class WirePromptExpansion(WirePrompt):
    """A slash command was expanded."""

    command_name: str | None = None


class WireTool(WireHook):
    """A tool call: about to run, asking for permission, finished, failed or refused."""

    tool_name: str = ""
    tool_input: Any = None
    tool_use_id: str | None = None


class WirePermissionRequest(WireTool):
    """The client shows a dialog. It has no `tool_use_id`."""

    permission_suggestions: list[dict[str, object]] | None = None


class WireReplacement(msgspec.Struct):
    """One replacement of a tool that edits a file."""

    old_string: str = ""
    new_string: str = ""
    replace_all: bool = False


class WireFileEdit(WireReplacement):
    """The input of a tool that edits a file, writes it, or edits a cell of a notebook."""

    file_path: str = ""
    notebook_path: str = ""
    edits: list[WireReplacement] = []
    content: str | None = None
    cell_id: str | None = None
    new_source: str = ""
    edit_mode: str | None = None


class WirePermissionDenied(WireTool):
    """Auto mode refused a call."""

    reason: str = ""


class WirePostToolUse(WireTool):
    """A call finished."""

    tool_response: Any = None


class WirePostToolUseFailure(WireTool):
    """A call failed."""

    error: str = ""


class WireBatchedCall(msgspec.Struct):
    """One call of a finished step."""

    tool_use_id: str | None = None
    tool_name: str = ""


class WirePostToolBatch(WireHook):
    """All calls of one step have ended."""

    tool_calls: list[WireBatchedCall] = []


class WireNotification(WireHook):
    """The client asks for the user's attention."""

    message: str = ""
    notification_type: str = ""


class WireBackgroundTask(msgspec.Struct):
    """Work that continues after the turn."""

    id: str = ""
    type: str = ""
    status: str = ""
    description: str | None = None
    command: str | None = None
    agent_type: str | None = None


class WireStop(WireHook):
    """A turn ends, of the agent or of a sub-agent."""

    stop_hook_active: bool = False
    last_assistant_message: str | None = None
    background_tasks: list[WireBackgroundTask] | None = None
    error: str | None = None
    """Added by plate-spinner's wrapper to a failed turn. Claude Code itself sends StopFailure."""


class WireStopFailure(WireHook):
    """A turn ends in an API error."""

    error: str = "unknown"
    last_assistant_message: str | None = None


class WireCompact(WireHook):
    """Compaction begins or ends."""

    trigger: str = "manual"


class WireModelSwitch(WireHook):
    """The model changes."""

    to_model: str | None = None


class WireCwdChanged(WireHook):
    """The working directory changed."""

    new_cwd: str | None = None


class WireTask(WireHook):
    """An entry of the agent's to-do list."""

    task_id: str = ""
    task_subject: str = ""


class WireTeammate(WireHook):
    """A teammate is idle."""

    teammate_name: str = ""
    team_name: str = ""


class WireTeam(msgspec.Struct):
    """The fields of hooks about a teammate."""

    teammate_name: str = ""
    team_name: str = ""
    task_id: str = ""
    task_subject: str = ""


class WireElicitation(WireHook):
    """An MCP server asks the user, or got its answer."""

    mcp_server_name: str | None = None
    message: str = ""
    elicitation_id: str | None = None
    requested_schema: Any = None
    url: str | None = None
    action: str | None = None


HOOKS: dict[str, type[WireHook]] = {
    "SessionStart": WireSessionStart,
    "SessionEnd": WireSessionEnd,
    "Setup": WireHook,
    "InstructionsLoaded": WireHook,
    "UserPromptSubmit": WirePrompt,
    "UserPromptExpansion": WirePromptExpansion,
    "MessageDisplay": WireHook,
    "PreToolUse": WireTool,
    "PermissionRequest": WirePermissionRequest,
    "PermissionDenied": WirePermissionDenied,
    "PostToolUse": WirePostToolUse,
    "PostToolUseFailure": WirePostToolUseFailure,
    "PostToolBatch": WirePostToolBatch,
    "Notification": WireNotification,
    "SubagentStart": WireHook,
    "SubagentStop": WireStop,
    "TaskCreated": WireTask,
    "TaskCompleted": WireTask,
    "Stop": WireStop,
    "StopFailure": WireStopFailure,
    "PreCompact": WireCompact,
    "PostCompact": WireCompact,
    "PreModelSwitch": WireModelSwitch,
    "PostModelSwitch": WireModelSwitch,
    "ConfigChange": WireHook,
    "CwdChanged": WireCwdChanged,
    "DirectoryAdded": WireHook,
    "FileChanged": WireHook,
    "WorktreeCreate": WireHook,
    "WorktreeRemove": WireHook,
    "TeammateIdle": WireTeammate,
    "Elicitation": WireElicitation,
    "ElicitationResult": WireElicitation,
}


STATUS_LINE = "StatusLine"
"""The name under which the payload of the status line arrives. It is no hook but uses the same path."""


class WireModel(msgspec.Struct):
    """The model in use."""

    id: str | None = None


class WireCost(msgspec.Struct):
    """The cost of the session."""

    total_cost_usd: float | None = None


class WireUsage(msgspec.Struct):
    """Tokens of the last reply."""

    input_tokens: int = 0
    cache_creation_input_tokens: int = 0
    cache_read_input_tokens: int = 0


class WireContextWindow(msgspec.Struct):
    """Size and usage of the context window; unknown before the first reply."""

    context_window_size: int | None = None
    current_usage: WireUsage | None = None


class WireRateLimit(msgspec.Struct):
    """Usage of a rate limit."""

    used_percentage: float | None = None
    resets_at: int | None = None


class WireStatusLine(WireHook):
    """The payload of the status line."""

    model: WireModel = msgspec.field(default_factory=WireModel)
    cost: WireCost = msgspec.field(default_factory=WireCost)
    context_window: WireContextWindow = msgspec.field(default_factory=WireContextWindow)
    rate_limits: dict[str, WireRateLimit] = {}


class WireQuestionOption(msgspec.Struct):
    """One option of a question."""

    label: str = ""
    description: str = ""


class WireQuestion(msgspec.Struct):
    """One question of AskUserQuestion."""

    question: str = ""
    header: str = ""
    options: list[WireQuestionOption] = []
    multi_select: bool = msgspec.field(default=False, name="multiSelect")


class WireToolInput(msgspec.Struct):
    """Input fields that are used, of all tools together."""

    command: str | None = None
    description: str | None = None
    file_path: str | None = None
    notebook_path: str | None = None
    pattern: str | None = None
    path: str | None = None
    url: str | None = None
    query: str | None = None
    prompt: str | None = None
    skill: str | None = None
    subject: str | None = None
    plan: str | None = None
    questions: list[WireQuestion] = []
    answers: dict[str, object] = {}


class WireToolResponse(msgspec.Struct):
    """Result fields that affect the agent's state."""

    status: str | None = None
    agent_id: str | None = msgspec.field(default=None, name="agentId")
    background_task_id: str | None = msgspec.field(default=None, name="backgroundTaskId")
    answers: dict[str, object] = {}


class WireRegistryEntry(msgspec.Struct):
    """One `sessions/<pid>.json` of Claude Code: the state of a running client."""

    pid: int | None = None
    session_id: str = msgspec.field(default="", name="sessionId")
    cwd: str | None = None
    status: str | None = None
    waiting_for: str | None = msgspec.field(default=None, name="waitingFor")
    entrypoint: str | None = None


def kebab(name: str) -> str:
    """`PreToolUse` → `pre-tool-use`."""
    return re.sub(r"(?<!^)(?=[A-Z])", "-", name).lower()
