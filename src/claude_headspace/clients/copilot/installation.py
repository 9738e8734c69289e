"""The installation of hooks in a config dir of Copilot CLI.

    <config dir>/hooks/headspace.json           the hooks; the file belongs to Headspace alone
    <config dir>/headspace/notify-headspace.*   the script and its files (`clients/hook_files.py`)

Copilot reads every JSON file in `hooks/`, so the other files are in a directory of their own.
"""

import json
import shlex
from collections.abc import Iterator
from pathlib import Path

from claude_headspace.clients.copilot.events import NOT_REGISTERED, REGISTERED, TIMEOUT_SECONDS
from claude_headspace.clients.hook_files import SCRIPT_NAME, HookFiles
from claude_headspace.clients.hook_inspection import Problem
from claude_headspace.clients.hook_installer import HookInstaller, OwnSettingsFile
from claude_headspace.clients.settings_change import read_if_possible
from claude_headspace.config import PathBelow

SWITCH = "disableAllHooks"
"""The setting that turns all hooks off."""


class CopilotFiles(HookFiles, frozen=True):
    """One config dir of Copilot CLI."""

    settings = PathBelow("path", "hooks/headspace.json")


def hooks_file(files: HookFiles) -> str:
    """The content of the file with our hooks."""
    hooks = {event: [_hook(str(files.script), event)] for event in REGISTERED}
    return json.dumps({"version": 1, "hooks": hooks}, indent=2, ensure_ascii=False) + "\n"


def _hook(script: str, event: str) -> dict[str, object]:
    return {"type": "command", "bash": f"{shlex.quote(script)} {event} copilot", "timeoutSec": TIMEOUT_SECONDS}


def switch_files(files: HookFiles) -> list[Path]:
    """The settings that can turn hooks off."""
    return [files.path / "config.json", files.path / "settings.json"]


def switch_problems(files: HookFiles) -> Iterator[Problem]:
    """What the settings turn off."""
    for path in switch_files(files):
        if _is_set(path):
            yield Problem(f"`{SWITCH}` in {path} turns all hooks off", f"Remove it from {path}.", path)


def _is_set(path: Path) -> bool:
    try:
        found = json.loads(read_if_possible(path) or b"{}")
    except (ValueError, RecursionError):
        return False
    return isinstance(found, dict) and bool(found.get(SWITCH))


INSTALLER = HookInstaller(
    files=CopilotFiles,
    text=OwnSettingsFile(hooks_file, SCRIPT_NAME),
    registered=REGISTERED,
    not_registered=NOT_REGISTERED,
    switches=switch_problems,
    switch_files=switch_files,
)
