"""How policy learns what it needs: the rules from their files, and what a tool call would really do.

This is the bounded I/O that a pure decision needs, so it stands with the inputs: here text becomes facts (`files`,
`calls`, `shell/`, `paths`), and `kernel/policy` judges them without ever looking at a file. `guard` ties both together
for the daemon.
"""
