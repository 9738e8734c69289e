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
    config_variable=None,
    default_config_dir="~/.gemini",
    markers=("GEMINI_CLI", "GEMINI_SESSION_ID"),
    tool_variables=("GEMINI_CLI", "GEMINI_SESSION_ID", "GEMINI_PROJECT_DIR", "GEMINI_CWD", "GEMINI_PLANS_DIR"),
    asked=frozenset({HookKind.BEFORE_TOOL}),
    limits={
        Capability.KEEP_DRAFT: "Gemini CLI cannot put a draft aside.",
        Capability.SUPERVISE: "Gemini CLI cannot be supervised: a new session would not receive the handover.",
    },
)
