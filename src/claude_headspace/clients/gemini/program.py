"""How Gemini CLI is started. Pure."""

from claude_headspace.clients.program import Program

PROGRAM = Program(
    prompt=("--prompt-interactive={}",),
    headless_prompt=("--prompt={}",),
    resume=("--resume={}",),
    permission_modes={mode: ("--approval-mode", mode) for mode in ("default", "auto_edit", "yolo", "plan")},
    session_options=("-r", "--resume", "--session-file", "--session-id"),
    transcript_dir="tmp",
    pastes_prompts=True,
    exit_command="/quit",
)
