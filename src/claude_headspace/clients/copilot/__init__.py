"""GitHub Copilot CLI: everything that knows its formats, names and files."""
