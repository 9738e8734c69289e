"""Gemini CLI in the list of clients."""

from claude_headspace.clients.client import Capability, Client
from claude_headspace.kernel.hooks import HookKind

CLIENT = Client(
    name="gemini",
    title="Gemini CLI",
    short_title="gemini",
    program="gemini",
    package="@google/gemini-cli",
    tested_versions=("0.61.0",),
    session_variable="GEMINI_SESSION_ID",
    config_variable="GEMINI_CLI_HOME",
    config_folder=".gemini",
    default_config_dir="~/.gemini",
    markers=("GEMINI_CLI", "GEMINI_SESSION_ID"),
    tool_variables=("GEMINI_CLI", "GEMINI_SESSION_ID", "GEMINI_PROJECT_DIR", "GEMINI_CWD", "GEMINI_PLANS_DIR"),
    outlives_terminal=True,
    denial_ends_turn=True,
    asked=frozenset({HookKind.BEFORE_TOOL}),
    limits={
        Capability.ASK: "Gemini CLI cannot be made to ask about a tool call: a rule that asks denies, and says so.",
        Capability.DENY_MESSAGE: "Gemini CLI takes no message with a denial, and its turn ends. Deny without one, then "
        "send the message as a prompt.",
        Capability.DECLINE_MESSAGE: "Gemini CLI takes no message if a question is declined. Answer it with the text, "
        "or decline without a message and send it as a prompt.",
        Capability.GRANT: "Gemini CLI takes permanent permissions only in its own dialog.",
        Capability.EDIT_INPUT: "Gemini CLI does not let a hook change the input of a tool call.",
        Capability.CONTEXT: "Gemini CLI gives the model no text of a hook.",
        Capability.KEEP_WORKING: "A hook cannot be relied on to keep a turn of Gemini CLI from ending.",
        Capability.KEEP_DRAFT: "Gemini CLI cannot put a draft aside.",
        Capability.FORK: "Gemini CLI cannot continue a session as a new one.",
        Capability.SUPERVISE: "Gemini CLI cannot be supervised: a new session would not receive the handover.",
        Capability.STATUS_LINE: "Gemini CLI has no status line for other programs.",
        Capability.HTTP_HOOKS: "Hooks of Gemini CLI are commands: it sends none over HTTP.",
    },
    notes={
        Capability.STATE: "The end of a turn is shown when the chat file confirms it, usually within 0.2 s. After an "
        "approval in the terminal the agent is shown as waiting until the tool has run.",
        Capability.ANSWER_PERMISSION: "As keystrokes in its tmux pane.",
        Capability.ANSWER_QUESTION: "As keystrokes in its tmux pane, with one answer to each question.",
        Capability.SUBAGENTS: "From their chat files. Their tool calls are shown as the agent's.",
        Capability.COST: "Computed from tokens and a table of prices; unknown for models that are not in the table.",
        Capability.IMPORT: "From `tmp/*/chats/`.",
        Capability.CHANGES: "From `write_file` and `replace`.",
    },
)
