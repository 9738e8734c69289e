"""How Codex is started. Pure.

By default Codex runs all sessions of a user in one shared process in the background. Its hooks and shells then have the
environment of the terminal that started this process first, so they do not show in which pane the agent runs.
`headspace run` and `headspace resume` start Codex without it. The option must come before a subcommand. Turning off the
feature `daemon_auto_start` instead would not do: while that process runs, Codex then asks whether to restart it.
"""

from claude_headspace.clients.program import Program

PROGRAM = Program(
    prompt=("--", "{}"),
    headless=("exec",),
    headless_prompt=("--", "{}"),
    resume=("resume", "{}"),
    fork=("fork", "{}"),
    permission_modes={mode: ("--ask-for-approval", mode) for mode in ("on-request", "never")},
    session_options=("resume", "fork"),
    own_options=("--no-daemon",),
    own_setting="daemon",
    transcript_dir="sessions",
    pastes_prompts=True,
    exit_command="/quit",
    reports_at_start=False,
    reports_resume=False,
    shared_session=(
        "`codex resume {}` opens it in this terminal. "
        "Codex ends it about a minute after its last terminal was closed; then `headspace resume` works."
    ),
)
