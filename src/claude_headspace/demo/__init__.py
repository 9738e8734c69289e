"""`headspace demo`: a believable team at work, told through the real hooks, in a home of its own.

`steps` says what an agent can do, `team` who they are and what they do (data), `actor` makes hooks and transcript lines
of it, `performance` keeps their order (both pure), `stage` is the scratch home with its daemon, and `director` plays:
what lies before now as history, the rest as it happens.

Rules
- The same seed gives the same team, the same words and the same order.
- Nothing of the user's is read, written or signalled: home, settings, port and tmux are those of the stage.
- Nothing is left behind: no process and no file, however it ends. Only `kill -9` leaves the scratch directory.
"""
