"""How Claude Code is started. Pure."""

from claude_headspace.clients.program import Program

PROGRAM = Program(
    prompt=("--", "{}"),
    headless=("-p",),
    headless_prompt=("--", "{}"),
    resume=("--resume", "{}"),
    fork=("--resume", "{}", "--fork-session"),
    permission_modes={
        mode: ("--permission-mode", mode)
        for mode in ("default", "acceptEdits", "plan", "auto", "dontAsk", "bypassPermissions")
    },
    session_options=("-c", "--continue", "-r", "--resume", "--session-id", "--from-pr", "--teleport"),
    transcript_dir="projects",
)
