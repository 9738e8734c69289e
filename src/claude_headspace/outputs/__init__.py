"""What is done about it. Today: the reply to Claude Code."""
