"""`headspace demo`: simulated agents on a real daemon with the real hooks, in a temporary directory.

`scenarios` defines what each agent does (data), `schedule` orders the events (pure), `sandbox` is the temporary home
with its daemon, and `player` plays: events before the start as history, later ones when they are due. Hooks and
transcript lines are built by `clients.claude_code.simulation`.

Rules
- The same seed gives the same events in the same order.
- Nothing of the user is read, written or signalled: home, settings, port and tmux are those of the sandbox.
- No process and no file remains, however the demo ends. Only `kill -9` leaves the temporary directory.
"""
