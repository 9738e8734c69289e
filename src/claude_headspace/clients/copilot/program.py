"""How Copilot CLI is started. Pure. Only two Esc shortly after each other interrupt a turn."""

from claude_headspace.clients.program import Program

PROGRAM = Program(
    prompt=("--interactive={}",),
    headless_prompt=("--prompt={}",),
    resume=("--resume={}",),
    permission_modes={
        "interactive": ("--mode", "interactive"),
        "plan": ("--mode", "plan"),
        "autopilot": ("--mode", "autopilot"),
        "allow-all-tools": ("--allow-all-tools",),
    },
    session_options=("--continue", "-r", "--resume", "--session-id", "--connect"),
    transcript_dir="session-state",
    interrupt_keys=("Escape", "Escape"),
    pastes_prompts=True,
    reports_at_start=False,
)
