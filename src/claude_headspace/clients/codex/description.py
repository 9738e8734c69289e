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
        Capability.ASK: "Codex has no reply to a hook that asks the user, so a call that a rule asks about is denied.",
        Capability.ANSWER_QUESTION: "Codex takes answers to its questions only in its terminal.",
        Capability.DECLINE_MESSAGE: "Questions of Codex are declined only in its terminal.",
        Capability.EDIT_INPUT: "Codex does not take a changed input with an answer. Deny the call and say what to do.",
        Capability.STATUS_LINE: "Codex has no status line that runs a program.",
        Capability.HTTP_HOOKS: "Hooks of Codex are commands: it sends none over HTTP.",
        Capability.SUPERVISE: "Headspace does not restart Codex: it compacts its context itself.",
    },
    notes={
        Capability.ANSWER_PERMISSION: "Through its shared daemon. Without the daemon, only in the terminal.",
        Capability.GRANT: "What Codex offers: a rule for commands, or further changes of the same files.",
        Capability.STATE: "From hooks and rollouts. With its shared daemon, the terminal of a session is not known.",
        Capability.DENY: "Before every call. A command that continues after Esc is not stopped.",
        Capability.SEND: "Not in its shared daemon: the terminal of a session is not known.",
        Capability.INTERRUPT: "Not in its shared daemon: the terminal of a session is not known.",
        Capability.STOP: "Not in its shared daemon, which runs other sessions, too.",
        Capability.SUBAGENTS: "They run on after the turn of the main thread; the agent works until they end.",
        Capability.CHANGES: "From `apply_patch`, with line numbers relative to each part. Deleted files only from git.",
        Capability.COST: "Computed from tokens and a table of prices, without sub-agents, for sessions with one model.",
        Capability.IMPORT: "From the rollouts below `sessions/`.",
    },
)
