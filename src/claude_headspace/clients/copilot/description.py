"""GitHub Copilot CLI in the list of clients."""

from claude_headspace.clients.client import Capability, Client
from claude_headspace.kernel.hooks import HookKind

CLIENT = Client(
    name="copilot",
    title="Copilot CLI",
    short_title="copilot",
    program="copilot",
    package="@github/copilot",
    tested_versions=("1.0.102",),
    session_variable="COPILOT_AGENT_SESSION_ID",
    pid_variable="COPILOT_LOADER_PID",
    config_variable="COPILOT_HOME",
    default_config_dir="~/.copilot",
    markers=("COPILOT_AGENT_SESSION_ID", "COPILOT_CLI"),
    tool_variables=(
        "COPILOT_AGENT_SESSION_ID",
        "COPILOT_CLI",
        "COPILOT_LOADER_PID",
        "COPILOT_PROJECT_DIR",
        "COPILOT_HOOK_DIR",
    ),
    asked=frozenset({HookKind.BEFORE_TOOL, HookKind.PROMPT, HookKind.SESSION_START, HookKind.TURN_END}),
    repeated=frozenset(HookKind) - {HookKind.BEFORE_TOOL, HookKind.PERMISSION},
    limits={
        Capability.DECLINE_MESSAGE: "Copilot CLI takes no message if a question is declined. Answer it with the text, "
        "or decline without a message and send it as a prompt.",
        Capability.GRANT: "Copilot CLI takes no permanent permission from outside. Choose it in its own dialog.",
        Capability.EDIT_INPUT: "Copilot CLI does not take a changed input. Deny the call and say what to do.",
        Capability.KEEP_DRAFT: "Copilot CLI cannot put a draft aside.",
        Capability.FORK: "Copilot CLI cannot continue a session as a new one.",
        Capability.SUPERVISE: "Copilot CLI cannot be supervised: a new session would not receive the handover.",
        Capability.COST: "Copilot CLI reports tokens and premium requests but no prices.",
        Capability.STATUS_LINE: "Copilot CLI does not report its status to a status line.",
        Capability.HTTP_HOOKS: "Hooks of Copilot CLI are commands: it sends none over HTTP.",
    },
    notes={
        Capability.STATE: "From hooks, `events.jsonl` and lock files. Permissions, interrupts and errors take 0.2 s.",
        Capability.DENY: "Before every call.",
        Capability.ASK: "Copilot shows a dialog with the reason.",
        Capability.ANSWER_PERMISSION: "With keys in its tmux pane, if the screen shows the same request.",
        Capability.ANSWER_QUESTION: "The same, for a question with one field. Forms are answered in the terminal.",
        Capability.CONTEXT: "At the start of a session and with a prompt, not between tool calls.",
        Capability.CHANGES: "From `create` and `edit`. Files that `apply_patch` changes are only known from git.",
        Capability.SUBAGENTS: "A sub-agent of a sub-agent is listed like one of the agent.",
        Capability.IMPORT: "From `session-state/*/events.jsonl`.",
    },
)
