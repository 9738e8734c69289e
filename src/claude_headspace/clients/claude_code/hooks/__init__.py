"""The hook script of Claude Code, the events that it is registered for, and its installation.

`events` lists the registered hooks, `settings_file` merges them into a settings file (pure), `installation` installs
and removes everything.
"""
