"""Claude Code: everything that knows its formats, names and files.

Pure modules decode and reply: `wire`, `transcript_wire`, `decode`, `transcript`, `tools`, `hook_kinds`, `messages`,
`replies`. Modules with I/O find its files and install hooks: `hooks/`.
"""

NAME = "claude-code"
"""The client's name in envelopes and agents."""
SHELL_TOOL = "Bash"
"""The tool that runs a shell command."""
