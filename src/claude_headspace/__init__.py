"""Headspace: mission control for coding agents.

Clients such as Claude Code report each step through hooks. `inputs` wraps what arrives in envelopes, `clients` decodes
them, `engine` processes them with the pure `kernel` and commits to the `journal`; `outputs` acts on the result,
`surfaces` show it, `daemon` composes everything.
"""

__version__ = "0.1.0"
