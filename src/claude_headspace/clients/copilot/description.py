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
    asked=frozenset({HookKind.BEFORE_TOOL}),
    limits={
        Capability.KEEP_DRAFT: "Copilot CLI cannot put a draft aside.",
        Capability.SUPERVISE: "Copilot CLI cannot be supervised: a new session would not receive the handover.",
    },
)
