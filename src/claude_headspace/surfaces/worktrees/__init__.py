"""Changes git worktrees for people: create, merge, rebase, remove."""
