"""The hooks of Claude Code: the events that are registered, their installation, and the status line script.

`events` lists the registered hooks, `settings_file` merges them into a settings file (pure), `installation` installs
and removes everything.
"""
