"""How opencode is started. Pure.

The first Esc asks, the second one interrupts. With `-s`, the prompt of the command line is ignored.

`opencode run` joins its arguments with spaces, and puts each argument that has a space in quotes. So each word of a
prompt is an argument.
"""

from claude_headspace.clients.program import Program

PROGRAM = Program(
    prompt=("--prompt={}",),
    headless=("run",),
    headless_prompt=("--", "{}"),
    splits_headless_prompt=True,
    resume=("-s", "{}"),
    fork=("-s", "{}", "--fork"),
    permission_modes={"auto": ("--auto",)},
    prompts_resumed=False,
    session_options=("-c", "--continue", "-s", "--session", "--fork"),
    interrupt_keys=("Escape", "Escape"),
    pastes_prompts=True,
    reports_at_start=False,
)
