"""What is done about it: the reply to Claude Code, questions held open, keys typed into terminals, calls to people."""
