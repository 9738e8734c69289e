"""Headspace: mission control for Claude Code.

Every Claude Code session reports what it does through lifecycle hooks; Headspace knows at any moment what each agent is
doing and who waits for whom, shows it live, calls the human when one is needed and answers the agent where it asks.
Data travels one way through the packages, in alphabetical order: `inputs` turn what arrives into envelopes, the
`journal` appends them and keeps the projections, the pure `kernel` says what they mean, `outputs` perform the effects
that follow, and `surfaces` show the result to people and programs. `engine` drives that loop and `daemon` wires it
together.
"""

__version__ = "0.1.0"
