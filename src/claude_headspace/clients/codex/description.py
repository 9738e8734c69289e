"""Codex in the list of clients."""

from claude_headspace.clients.client import Capability, Client
from claude_headspace.kernel.hooks import HookKind

CLIENT = Client(
    name="codex",
    title="Codex",
    short_title="codex",
    program="codex",
    package="@openai/codex",
    tested_versions=("0.166.0",),
    session_variable="CODEX_THREAD_ID",
    config_variable="CODEX_HOME",
    default_config_dir="~/.codex",
    markers=("CODEX_THREAD_ID", "CODEX_CI"),
    tool_variables=("CODEX_THREAD_ID", "CODEX_SESSION_ID", "CODEX_TOOL_CALL_ID", "CODEX_VERSION", "CODEX_CI"),
    asked=frozenset({HookKind.BEFORE_TOOL, HookKind.PROMPT, HookKind.TURN_END, HookKind.SESSION_START}),
    limits={
        Capability.KEEP_DRAFT: "Codex cannot put a draft aside.",
    },
)
