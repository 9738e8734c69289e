"""opencode in the list of clients."""

from claude_headspace.clients.client import Capability, Client
from claude_headspace.kernel.hooks import HELD, HookKind

CLIENT = Client(
    name="opencode",
    title="opencode",
    short_title="opencode",
    program="opencode",
    package="opencode-ai",
    tested_versions=("1.18.33",),
    pid_variable="OPENCODE_PID",
    config_variable="OPENCODE_CONFIG_DIR",
    default_config_dir="~/.config/opencode",
    markers=("OPENCODE",),
    tool_variables=("OPENCODE", "OPENCODE_PID", "AGENT"),
    held=HELD,
    asked=frozenset({HookKind.BEFORE_TOOL, *HELD}),
    limits={
        Capability.ASK: "opencode cannot be made to ask about a tool call: a call that a rule asks about is denied.",
        Capability.DECLINE_MESSAGE: "opencode takes no message if a question is declined. Answer it with the text, or "
        "decline without a message and send it as a prompt.",
        Capability.EDIT_INPUT: "opencode takes no changed input with an answer. Deny the call and say what to do.",
        Capability.CONTEXT: "Headspace adds no context to sessions of opencode.",
        Capability.KEEP_WORKING: "A plugin cannot keep a turn of opencode from ending.",
        Capability.KEEP_DRAFT: "opencode cannot put a draft aside.",
        Capability.SUPERVISE: "opencode cannot be supervised: a new session would not receive the handover.",
        Capability.STATUS_LINE: "opencode has no status line for other programs.",
        Capability.HTTP_HOOKS: "opencode has a plugin in place of hooks over HTTP.",
    },
    notes={
        Capability.STATE: "From a plugin in the client. A session is known from its first prompt on, or from `-s`.",
        Capability.DENY: "Before every call, through the plugin.",
        Capability.ANSWER_PERMISSION: "Through the plugin, while the dialog in the terminal stays usable. A denial "
        "rejects all permissions that the session has open. Without words it ends the turn, as in the terminal.",
        Capability.ANSWER_QUESTION: "Through the plugin, while the dialog in the terminal stays usable.",
        Capability.GRANT: "All patterns of a dialog together, until opencode is restarted.",
        Capability.FORK: "Without a first prompt: opencode ignores it.",
        Capability.CHANGES: "From `edit` and `write`. Patches only from git.",
        Capability.USAGE: "The client's own numbers, and the context window of its model.",
        Capability.COST: "The client's own numbers, with those of sub-agents.",
        Capability.IMPORT: "From the client's database, read-only.",
    },
)
