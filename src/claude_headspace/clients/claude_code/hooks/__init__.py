"""What Claude Code runs: the script, the events that it is run for, and its place in a configuration directory.

`events` says which hooks are registered and why, `settings` merges them into a settings file (pure), `installed` puts
everything in place and takes it away again.
"""
