"""Codex, the CLI of OpenAI: everything that knows its formats, names and files."""

NAME = "codex"
