"""The inputs of the policy: reads the rules (`files`) and analyses tool calls (`calls`, `shell/`, `paths`).

`kernel/policy` then decides without I/O. `guard` combines both for the daemon.
"""
