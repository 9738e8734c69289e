"""The Claude Code on this machine, as far as the hooks need to know it: its version."""

import re
import shutil
import subprocess

from claude_headspace.clients.claude_code.hooks.events import Version

PATIENCE_SECONDS = 10.0


def find_version() -> Version | None:
    """The version of the `claude` that the user would start; None if there is none, or it does not say."""
    program = shutil.which("claude")
    if program is None:
        return None
    try:
        done = subprocess.run(
            [program, "--version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PATIENCE_SECONDS,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return parse_version(done.stdout)


def parse_version(text: str) -> Version | None:
    """The version in a text such as `2.1.325 (Claude Code)`."""
    found = re.match(r"\s*(\d+(?:\.\d+)+)", text)
    return tuple(map(int, found[1].split("."))) if found else None
