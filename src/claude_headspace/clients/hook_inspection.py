"""Finds out why the hooks of an installation do not run, and repairs the files that belong to Headspace alone.

Rules
- Nothing is executed, and only regular files are read.
- A settings file belongs to the user: it is never changed here.
- A file of Headspace is restored only while the settings register its hooks and the installation has its record. So a
  removal in progress is not undone.
- An edited hook script is reported, not replaced: it can be of another version.
"""

import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import msgspec

from claude_headspace.clients.files import read_file, write_file, write_link
from claude_headspace.clients.hook_files import HookFiles, script_text
from claude_headspace.errors import BadConfiguration

INSTALL = "Run `headspace install`."


class Problem(msgspec.Struct, frozen=True):
    """Why hooks do not run, and what to do."""

    text: str
    hint: str
    file: Path
    """The file that shows when the problem began."""
    is_review: bool = False
    """Whether the client waits for the user's review of the hooks."""


def installed_files(config: HookFiles) -> list[Path]:
    """The files of an installation whose change can turn hooks off."""
    script = [config.script] if config.has_script else []
    return [config.settings, *script, config.conf, config.state_link, config.record]


def file_problems(config: HookFiles, state: Path) -> Iterator[Problem]:
    """What is wrong with the files that the hooks use."""
    if config.has_script:
        yield from _script_problems(config)
    if not config.state_link.is_symlink() or config.state_link.readlink() != state:
        yield Problem(f"the hooks in {config.path} report to another Headspace", INSTALL, config.state_link)
    elif not config.conf.is_file():
        yield Problem(f"{config.conf} is missing: the hook script has no token", INSTALL, config.conf)


def _script_problems(config: HookFiles) -> Iterator[Problem]:
    try:
        content = read_file(config.script)
    except BadConfiguration as error:
        yield Problem(error.message.rstrip("."), INSTALL, config.script)
        return
    if content is None:
        yield Problem(f"the hook script {config.script} is missing", INSTALL, config.script)
    elif content != script_text().encode():
        yield Problem(f"the hook script {config.script} was edited or is of another version", INSTALL, config.script)
    elif not os.access(config.script, os.X_OK):
        yield Problem(f"the hook script {config.script} is not executable", INSTALL, config.script)


def unusable_files(config: HookFiles, state: Path) -> str | None:
    """Why registered hooks cannot run, or do not reach this installation. Cheaper than `file_problems`."""
    if config.has_script and not os.access(config.script, os.X_OK):
        return f"{config.script} is missing or not executable"
    if not _leads_to(config.state_link, state):
        return f"{config.state_link} does not point to {state}, the state directory of this installation"
    return None


def _leads_to(link: Path, state: Path) -> bool:
    try:
        return link.readlink() == state
    except OSError:
        return False


def repair(config: HookFiles, state: Path, token: str) -> list[str]:
    """Restore files of Headspace that are missing or have the wrong mode or token. Returns what was restored.

    Only for a config dir whose settings register our hooks.
    """
    if not config.record.is_file():
        return []
    if os.path.lexists(config.state_link) and (
        not config.state_link.is_symlink() or config.state_link.readlink() != state
    ):
        return []  # it belongs to another installation
    restored: list[str] = []
    with suppress(OSError, BadConfiguration):
        restored += _repair_script(config)
        if not os.path.lexists(config.state_link):
            write_link(config.state_link, state)
            restored.append(f"{config.state_link} was missing")
        if not _is_private_token(config.conf, token):
            write_file(config.conf, f"token={token}\n".encode(), 0o600)
            restored.append(f"{config.conf} did not contain the token")
    return restored


def _repair_script(config: HookFiles) -> list[str]:
    if not config.has_script:
        return []
    if not os.path.lexists(config.script):
        write_file(config.script, script_text().encode(), 0o700)
        return [f"the hook script {config.script} was missing"]
    if stat.S_ISREG(config.script.lstat().st_mode) and not os.access(config.script, os.X_OK):
        config.script.chmod(0o700)
        return [f"the hook script {config.script} was not executable"]
    return []


def _is_private_token(path: Path, token: str) -> bool:
    try:
        return read_file(path) == f"token={token}\n".encode() and not path.stat().st_mode & 0o077
    except (OSError, BadConfiguration):
        return False


def listed(events: list[str]) -> str:
    """The first of these events."""
    shown = ", ".join(events[:3])
    return f"{shown} and {len(events) - 3} more" if len(events) > 3 else shown
