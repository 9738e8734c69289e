"""GitHub Copilot CLI: everything that knows its formats, names and files."""

NAME = "copilot"
"""Its name in envelopes, agents and filters."""
