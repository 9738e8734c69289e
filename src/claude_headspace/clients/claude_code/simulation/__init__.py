"""Simulates Claude Code: produces the hooks and transcript lines of a session, without a client. For demo and tests.

`payloads` and `tool_calls` build single payloads and lines, `session` holds the state of one simulated session, and
`steps` are the things that can happen in it. Nothing here does I/O. The same random source gives the same events.
"""
