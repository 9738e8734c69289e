"""Reads the repositories that agents of this machine work in: changes and worktrees."""
