"""The rules for secrets: the built-in ones, and those of the user."""
