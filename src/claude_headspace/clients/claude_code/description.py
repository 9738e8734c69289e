"""Claude Code in the list of clients."""

from claude_headspace.clients.claude_code import NAME, environment
from claude_headspace.clients.client import Client
from claude_headspace.kernel.hooks import HELD, HookKind

CLIENT = Client(
    name=NAME,
    title=environment.TITLE,
    short_title="claude",
    program=environment.PROGRAM,
    package="@anthropic-ai/claude-code",
    tested_versions=("2.1.197", "2.1.325"),
    session_variable=environment.SESSION_VARIABLE,
    pid_variable=environment.PID_VARIABLE,
    config_variable=environment.CONFIG_VARIABLE,
    default_config_dir=environment.DEFAULT_CONFIG_DIR,
    markers=environment.MARKERS,
    tool_variables=environment.TOOL_VARIABLES,
    reloads_hooks=True,
    held=HELD,
    asked=frozenset(HookKind),
)
