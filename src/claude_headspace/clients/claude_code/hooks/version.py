"""Finds the version of the installed Claude Code."""

import re
import shutil
import subprocess

from claude_headspace.clients.claude_code.hooks.events import Version

TIMEOUT_SECONDS = 10.0


def find_version() -> Version | None:
    """The version of the `claude` in PATH; None if it is not installed or does not report one."""
    program = shutil.which("claude")
    if program is None:
        return None
    try:
        result = subprocess.run(
            [program, "--version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_SECONDS,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return parse_version(result.stdout)


def parse_version(text: str) -> Version | None:
    """The version in a text such as `2.1.325 (Claude Code)`."""
    found = re.match(r"\s*(\d+(?:\.\d+)+)", text)
    return tuple(map(int, found[1].split("."))) if found else None
