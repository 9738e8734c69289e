"""Foreign shapes: the payloads of Claude Code's hooks, one type per event, tolerant.

Every field may be missing and unknown ones are skipped. Nothing here has meaning yet: `decode` gives it one. Bodies
that can be large and are rarely looked into (`tool_input`, `tool_response`) stay unparsed as `Raw`.

`HOOKS` is the complete list of Claude Code 2.1.325: the receiver, the decoder, the docs and the tests all read it.
"""

import re

import msgspec

RAW_NULL = msgspec.Raw(b"null")

HEADLESS = "sdk-cli"
"""The entrypoint of a client that a program started (`-p`), in its registry entry and its transcript."""


class WireHook(msgspec.Struct, kw_only=True):
    """What all hooks have in common."""

    session_id: str = ""
    transcript_path: str | None = None
    cwd: str | None = None
    working_directory: str | None = None
    hook_event_name: str | None = None
    prompt_id: str | None = None
    permission_mode: str | None = None
    agent_id: str | None = None
    agent_type: str | None = None

    @property
    def directory(self) -> str | None:
        """Where it was fired, by whichever name."""
        return self.cwd or self.working_directory


class WireSessionStart(WireHook):
    """A context window opens."""

    source: str = "startup"
    model: str | None = None
    context_tokens: int | None = None


class WireSessionEnd(WireHook):
    """A context window closes."""

    reason: str = "other"


class WirePrompt(WireHook):
    """Something was given to the model to do; `prompt` is the raw text."""

    prompt: str = ""


class WirePromptExpansion(WirePrompt):
    """A slash command was expanded."""

    command_name: str | None = None


class WireTool(WireHook):
    """A call of a tool: about to run, asked for, finished, failed or refused."""

    tool_name: str = ""
    tool_input: msgspec.Raw = RAW_NULL
    tool_use_id: str | None = None


class WirePermissionRequest(WireTool):
    """The client shows a dialog. It has no `tool_use_id`."""

    permission_suggestions: list[dict[str, object]] | None = None


class WirePermissionDenied(WireTool):
    """Auto mode refused a call."""

    reason: str = ""


class WirePostToolUse(WireTool):
    """A call finished."""

    tool_response: msgspec.Raw = RAW_NULL
    duration_ms: int | None = None


class WirePostToolUseFailure(WireTool):
    """A call failed."""

    error: str = ""
    is_interrupt: bool = False


class WireBatchedCall(msgspec.Struct):
    """One call of a finished step."""

    tool_use_id: str | None = None
    tool_name: str = ""


class WirePostToolBatch(WireHook):
    """All calls of one step are over, whatever came of each."""

    tool_calls: list[WireBatchedCall] = []


class WireNotification(WireHook):
    """The client wants a human's attention."""

    message: str = ""
    notification_type: str = ""


class WireBackgroundTask(msgspec.Struct):
    """Work that goes on after the turn."""

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
    """What plate-spinner's wrapper adds to a turn that broke off; Claude Code itself sends StopFailure."""


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
    """The agent works elsewhere now."""

    new_cwd: str | None = None


class WireTask(WireHook):
    """An entry of the agent's own list of things to do."""

    task_id: str = ""
    task_subject: str = ""


class WireElicitation(WireHook):
    """An MCP server asks the human, or has its answer."""

    mcp_server_name: str | None = None
    message: str = ""
    elicitation_id: str | None = None
    requested_schema: msgspec.Raw = RAW_NULL
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
    "TeammateIdle": WireHook,
    "Elicitation": WireElicitation,
    "ElicitationResult": WireElicitation,
}


class WirePlate(WireHook):
    """An event of plate-spinner: one shape for all of its types."""

    project_path: str | None = None
    tool_name: str = ""
    tool_params: msgspec.Raw = RAW_NULL
    tool_input: msgspec.Raw = RAW_NULL
    tool_use_id: str | None = None
    prompt: str = ""
    error: str | None = None

    @property
    def directory(self) -> str | None:
        """Where it was fired; plate-spinner's own name for it first."""
        return self.project_path or self.cwd or self.working_directory

    @property
    def input(self) -> msgspec.Raw:
        """What the tool was given, by whichever name."""
        return self.tool_input if self.tool_input != RAW_NULL else self.tool_params


PLATES = {
    "session_start": "PlateSessionStart",
    "prompt_submit": "PlatePromptSubmit",
    "tool_start": "PlateToolStart",
    "tool_call": "PlateToolCall",
    "stop": "PlateStop",
}
"""plate-spinner's event types, and the names that they have in the log: its `stop` is not Claude Code's."""


STATUS_LINE = "StatusLine"
"""What the client hands to the program that makes its status line; no hook, but told the same way."""


class WireModel(msgspec.Struct):
    """The model in use."""

    id: str | None = None


class WireCost(msgspec.Struct):
    """What the session has cost."""

    total_cost_usd: float | None = None


class WireUsage(msgspec.Struct):
    """What the last reply took in."""

    input_tokens: int = 0
    cache_creation_input_tokens: int = 0
    cache_read_input_tokens: int = 0


class WireContextWindow(msgspec.Struct):
    """How much the context holds; without a reply nothing is known."""

    context_window_size: int | None = None
    current_usage: WireUsage | None = None


class WireRateLimit(msgspec.Struct):
    """How much of a limit is used up."""

    used_percentage: float | None = None
    resets_at: int | None = None


class WireStatusLine(WireHook):
    """The payload of the status line."""

    model: WireModel = msgspec.field(default_factory=WireModel)
    cost: WireCost = msgspec.field(default_factory=WireCost)
    context_window: WireContextWindow = msgspec.field(default_factory=WireContextWindow)
    rate_limits: dict[str, WireRateLimit] = {}


def is_plate(name: str) -> bool:
    """Whether an event of the log is plate-spinner's."""
    return name in PLATES.values()


PROBE = "HeadspaceDoctor"
"""A hook of nobody's: `headspace doctor` sends it through the installed hooks, to see it arrive."""


class WireQuestionOption(msgspec.Struct):
    """One answer that a question offers."""

    label: str = ""
    description: str = ""


class WireQuestion(msgspec.Struct):
    """One question of AskUserQuestion."""

    question: str = ""
    header: str = ""
    options: list[WireQuestionOption] = []
    multi_select: bool = msgspec.field(default=False, name="multiSelect")


class WireToolInput(msgspec.Struct):
    """The parts of tool inputs that people recognise a call by."""

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
    """The parts of tool results that say something about the agent's state."""

    status: str | None = None
    agent_id: str | None = msgspec.field(default=None, name="agentId")
    background_task_id: str | None = msgspec.field(default=None, name="backgroundTaskId")
    answers: dict[str, object] = {}


class WireRegistryEntry(msgspec.Struct):
    """One `sessions/<pid>.json` of Claude Code: what the client says of itself."""

    pid: int | None = None
    session_id: str = msgspec.field(default="", name="sessionId")
    cwd: str | None = None
    status: str | None = None
    waiting_for: str | None = msgspec.field(default=None, name="waitingFor")
    entrypoint: str | None = None


def kebab(name: str) -> str:
    """`PreToolUse` → `pre-tool-use`."""
    return re.sub(r"(?<!^)(?=[A-Z])", "-", name).lower()
