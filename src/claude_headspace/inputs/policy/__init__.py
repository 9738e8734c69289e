"""The inputs of the policy: reads the rules (`files`) and analyses tool calls (`calls`, `shell/`, `paths`).

`kernel/policy` then decides without I/O. `guard` combines both for the daemon. It runs the part that reads files
(`effects`) so that it can be ended: in a thread, and for large calls in another process (`analysis_thread`,
`analyser`, `analysis_process`).
"""
