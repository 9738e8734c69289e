"""Finds out why the hooks of an installation do not run, and repairs the files that belong to Headspace alone.

Rules
- Nothing is executed, and only regular files are read.
- A settings file belongs to the user: it is never changed here.
- A file of Headspace is restored only while the settings register its hooks and the installation has its record. So a
  removal in progress is not undone.
- An edited hook script is reported, not replaced: it can be of another version.
"""

import json
import os
import re
import stat
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

import msgspec

from claude_headspace.clients.claude_code.hook_kinds import hook_names
from claude_headspace.clients.claude_code.hooks import settings_file
from claude_headspace.clients.claude_code.hooks.events import REGISTERED, SINCE, timeout_of
from claude_headspace.clients.claude_code.hooks.installation import ConfigDir, script_text
from claude_headspace.clients.claude_code.wire import kebab
from claude_headspace.clients.files import read_file, write_file, write_link
from claude_headspace.errors import BadConfiguration
from claude_headspace.kernel.hooks import HookKind

INSTALL = "Run `headspace install`."
SWITCH_TRANSPORT = "`headspace install` switches to the hook script."
JUDGED = hook_names((HookKind.BEFORE_TOOL,))
"""The hooks that wait for a decision."""

SWITCHES = {
    "disableAllHooks": "turns all hooks off",
    "allowManagedHooksOnly": "turns off all hooks that are not managed",
}
"""Settings of the client that turn hooks off."""

VARIABLES = ("CLAUDE_CODE_SIMPLE",)
"""Variables in `env` of a settings file that turn hooks off."""

MANAGED_DIR = Path("/Library/Application Support/ClaudeCode" if sys.platform == "darwin" else "/etc/claude-code")
PROJECT_FILES = (".claude/settings.json", ".claude/settings.local.json")


class Problem(msgspec.Struct, frozen=True):
    """Why hooks do not run, and what to do."""

    text: str
    hint: str
    file: Path
    """The file that shows when the problem began."""


def project_files(directories: Iterable[str]) -> list[Path]:
    """The settings files of projects."""
    return [Path(directory) / name for directory in directories for name in PROJECT_FILES]


def managed_files(folder: Path = MANAGED_DIR) -> list[Path]:
    """The settings files that an administrator manages."""
    return [folder / "managed-settings.json", *sorted((folder / "managed-settings.d").glob("*.json"))]


def installed_files(config: ConfigDir) -> list[Path]:
    """The files of an installation whose change can turn hooks off."""
    return [config.settings, config.script, config.conf, config.state_link, config.record]


# --- settings ---


def switch_problems(path: Path, name: str) -> Iterator[Problem]:
    """What a settings file turns off."""
    found = _parse_as_client(path)
    for key, effect in SWITCHES.items():
        if found.get(key):
            yield Problem(f"`{key}` in {name} {effect}", f"Remove it from {path}.", path)
    variables = found.get("env") or {}
    for variable in VARIABLES if isinstance(variables, dict) else ():
        if variables.get(variable):
            yield Problem(f"`{variable}` in {name} turns hooks off", f"Remove it from {path}.", path)


def hook_problems(config: ConfigDir, name: str) -> Iterator[Problem]:
    """What is wrong with our entries in the settings of an installation."""
    try:
        hooks = _parse(config.settings).get("hooks", {})
    except BadConfiguration as error:
        yield Problem(f"{name} cannot be read, so it has no hooks", error.message, config.settings)
        return
    own = {event: [hook for group in groups for hook in _effective(group)] for event, groups in hooks.items()}
    missing = [event for event in REGISTERED if event not in SINCE and not own.get(event)]
    changed = [event for event, found in own.items() if not any(_is_complete(hook, event, config) for hook in found)]
    changed = [event for event in changed if event not in missing and own[event]]
    for events, what in ((missing, "missing"), (changed, "changed")):
        if events:
            shown = "all hooks" if len(events) == len(REGISTERED) - len(SINCE) else f"the hooks {_list(events)}"
            yield Problem(f"{shown} of Headspace are {what} in {name}", INSTALL, config.settings)
    if any(hook.get("type") == "http" for event in JUDGED for hook in own.get(event, ())):
        yield Problem(f"the hooks in {name} use HTTP, which gets no decisions", SWITCH_TRANSPORT, config.settings)


def _effective(group: object) -> list[settings_file.Json]:
    """Our hooks in a group that applies to everything."""
    if not isinstance(group, dict) or group.get("matcher", "") not in ("", "*"):
        return []
    hooks = group.get("hooks")
    return [hook for hook in hooks if settings_file.is_own_hook(hook)] if isinstance(hooks, list) else []


def _is_complete(hook: settings_file.Json, event: str, config: ConfigDir) -> bool:
    """Whether a hook is as it was written: the script and its event, no shorter time limit, no condition."""
    if hook.get("type") == "http":
        expected = {"type": "http", "url": hook.get("url"), "timeout": timeout_of(event)}
        return hook == expected and str(hook.get("url")).endswith(f"/hook/{kebab(event)}")
    return hook == settings_file.command_hook(str(config.script), event)


def _list(events: list[str]) -> str:
    shown = ", ".join(events[:3])
    return f"{shown} and {len(events) - 3} more" if len(events) > 3 else shown


def _parse_as_client(path: Path) -> settings_file.Json:
    """The settings as the client reads them: of duplicate keys the last counts, and numbers can be of any length.

    In a text that cannot be parsed here, only the switches are searched: the client may be more tolerant.
    """
    try:
        text = (read_file(path) or b"").decode("utf-8", "replace").removeprefix(settings_file.BYTE_ORDER_MARK)
    except BadConfiguration:
        return {}
    try:
        found = json.loads(text or "{}", parse_int=float)
    except (ValueError, RecursionError):
        return {key: True for key in SWITCHES if re.search(rf'"{key}"\s*:\s*true', text)}
    return found if isinstance(found, dict) else {}


def _parse(path: Path) -> settings_file.Json:
    try:
        text = (read_file(path) or b"").decode()
    except UnicodeDecodeError as error:
        raise BadConfiguration("bad_settings", f"{path} is not UTF-8.", "Correct it.") from error
    return settings_file.parse(text, str(path))


# --- files ---


def file_problems(config: ConfigDir, state: Path) -> Iterator[Problem]:
    """What is wrong with the files that the hooks use."""
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
    if not config.state_link.is_symlink() or config.state_link.readlink() != state:
        yield Problem(f"the hooks in {config.path} report to another Headspace", INSTALL, config.state_link)
    elif not config.conf.is_file():
        yield Problem(f"{config.conf} is missing: the hook script has no token", INSTALL, config.conf)


def repair(config: ConfigDir, state: Path, token: str) -> list[str]:
    """Restore files of Headspace that are missing or have the wrong mode or token. Returns what was restored."""
    if not config.record.is_file() or not _registers_script(config):
        return []
    if os.path.lexists(config.state_link) and (
        not config.state_link.is_symlink() or config.state_link.readlink() != state
    ):
        return []  # it belongs to another installation
    restored: list[str] = []
    with suppress(OSError, BadConfiguration):
        if not os.path.lexists(config.script):
            write_file(config.script, script_text().encode(), 0o700)
            restored.append(f"the hook script {config.script} was missing")
        elif stat.S_ISREG(config.script.lstat().st_mode) and not os.access(config.script, os.X_OK):
            config.script.chmod(0o700)
            restored.append(f"the hook script {config.script} was not executable")
        if not os.path.lexists(config.state_link):
            write_link(config.state_link, state)
            restored.append(f"{config.state_link} was missing")
        if not _is_private_token(config.conf, token):
            write_file(config.conf, f"token={token}\n".encode(), 0o600)
            restored.append(f"{config.conf} did not contain the token")
    return restored


def _registers_script(config: ConfigDir) -> bool:
    try:
        found = settings_file.registered_hooks(_parse(config.settings))
    except BadConfiguration:
        return False
    return any(hook.get("command") == str(config.script) for _, hook in found)


def _is_private_token(path: Path, token: str) -> bool:
    try:
        return read_file(path) == f"token={token}\n".encode() and not path.stat().st_mode & 0o077
    except (OSError, BadConfiguration):
        return False
