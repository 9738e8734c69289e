"""Claude Code: its formats, files and hooks."""
