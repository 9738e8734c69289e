"""Claude Code: everything that knows its formats, names and files.

The modules directly in `clients/` give other packages access to it. Everything is pure except `locations`,
`config_dirs` and `hooks/`, which find its files and install hooks.
"""

NAME = "claude-code"
"""The client's name in envelopes and agents."""
SHELL_TOOL = "Bash"
"""The tool that runs a shell command."""
