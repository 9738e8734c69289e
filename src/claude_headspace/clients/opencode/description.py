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
        Capability.KEEP_DRAFT: "opencode cannot put a draft aside.",
        Capability.SUPERVISE: "opencode cannot be supervised: a new session would not receive the handover.",
    },
)
