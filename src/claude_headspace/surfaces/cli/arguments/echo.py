"""Prints plain text."""

import sys


def echo(text: str, *, is_error: bool = False) -> None:
    """Print a text and a line break, at once."""
    stream = sys.stderr if is_error else sys.stdout
    stream.write(f"{text}\n")
    stream.flush()
