"""Finds out what is wrong with the hooks in the settings of Claude Code. `clients/hook_inspection.py` checks our files.

Nothing is executed, and only regular files are read. A settings file belongs to the user: it is never changed here.
"""

import json
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from claude_headspace.clients.claude_code.hook_kinds import hook_names
from claude_headspace.clients.claude_code.hooks import settings_file
from claude_headspace.clients.claude_code.hooks.events import REGISTERED, SINCE, timeout_of
from claude_headspace.clients.claude_code.hooks.installation import ConfigDir
from claude_headspace.clients.claude_code.wire import kebab
from claude_headspace.clients.files import read_file
from claude_headspace.clients.hook_inspection import INSTALL, Problem, listed
from claude_headspace.clients.hook_settings import BYTE_ORDER_MARK, Json, effective_hooks, parse, registered_hooks
from claude_headspace.errors import BadConfiguration
from claude_headspace.kernel.hooks import HookKind

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


def project_files(directories: Iterable[str]) -> list[Path]:
    """The settings files of projects."""
    return [Path(directory) / name for directory in directories for name in PROJECT_FILES]


def managed_files(folder: Path = MANAGED_DIR) -> list[Path]:
    """The settings files that an administrator manages."""
    return [folder / "managed-settings.json", *sorted((folder / "managed-settings.d").glob("*.json"))]


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
    own = {event: [hook for group in groups for hook in effective_hooks(group)] for event, groups in hooks.items()}
    missing = [event for event in REGISTERED if event not in SINCE and not own.get(event)]
    changed = [event for event, found in own.items() if not any(_is_complete(hook, event, config) for hook in found)]
    changed = [event for event in changed if event not in missing and own[event]]
    for events, what in ((missing, "missing"), (changed, "changed")):
        if events:
            shown = "all hooks" if len(events) == len(REGISTERED) - len(SINCE) else f"the hooks {listed(events)}"
            yield Problem(f"{shown} of Headspace are {what} in {name}", INSTALL, config.settings)
    if any(hook.get("type") == "http" for event in JUDGED for hook in own.get(event, ())):
        yield Problem(f"the hooks in {name} use HTTP, which gets no decisions", SWITCH_TRANSPORT, config.settings)


def _is_complete(hook: Json, event: str, config: ConfigDir) -> bool:
    """Whether a hook is as it was written: the script and its event, no shorter time limit, no condition."""
    if hook.get("type") == "http":
        expected = {"type": "http", "url": hook.get("url"), "timeout": timeout_of(event)}
        return hook == expected and str(hook.get("url")).endswith(f"/hook/{kebab(event)}")
    return hook == settings_file.command_hook(str(config.script), event)


def _parse_as_client(path: Path) -> Json:
    """The settings as the client reads them: of duplicate keys the last counts, and numbers can be of any length.

    In a text that cannot be parsed here, only the switches are searched: the client may be more tolerant.
    """
    try:
        text = (read_file(path) or b"").decode("utf-8", "replace").removeprefix(BYTE_ORDER_MARK)
    except BadConfiguration:
        return {}
    try:
        found = json.loads(text or "{}", parse_int=float)
    except (ValueError, RecursionError):
        return {key: True for key in SWITCHES if re.search(rf'"{key}"\s*:\s*true', text)}
    return found if isinstance(found, dict) else {}


def _parse(path: Path) -> Json:
    try:
        text = (read_file(path) or b"").decode()
    except UnicodeDecodeError as error:
        raise BadConfiguration("bad_settings", f"{path} is not UTF-8.", "Correct it.") from error
    return parse(text, str(path))


def registers_script(config: ConfigDir) -> bool:
    """Whether the settings name the hook script."""
    try:
        found = registered_hooks(_parse(config.settings))
    except BadConfiguration:
        return False
    return any(hook.get("command") == str(config.script) for _, hook in found)
