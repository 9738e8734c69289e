"""The installation of hooks in a config dir of Claude Code.

<config dir>/settings.json                          merged; a link stays a link, the mode stays
<config dir>/hooks/notify-headspace.*               the script and its files (`clients/hook_files.py`)
<config dir>/hooks/statusline-headspace.sh          0700, the status line, if installed
<config dir>/hooks/statusline-headspace.wrapped     the command of the previous status line
<config dir>/hooks/statusline-headspace.before.json the complete settings entry of the previous one
"""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path

import msgspec

from claude_headspace.clients.claude_code.hooks import settings_file as settings
from claude_headspace.clients.claude_code.hooks.settings_file import STATUS_LINE_KEY, STATUS_LINE_SCRIPT_NAME
from claude_headspace.clients.files import read_file
from claude_headspace.clients.hook_files import SCRIPT_NAME, HookFiles, with_bash_path
from claude_headspace.clients.hook_settings import merge, parse, registered_hooks, without_empty_hooks
from claude_headspace.clients.settings_change import (
    Change,
    OwnFile,
    decode,
    planned_installation,
    planned_removal,
    read_if_possible,
)
from claude_headspace.config import PathBelow
from claude_headspace.errors import BadConfiguration

STATUS_LINE_SCRIPT = Path(__file__).with_name(STATUS_LINE_SCRIPT_NAME)


class ConfigDir(HookFiles, frozen=True):
    """One config dir of Claude Code."""

    hooks_dir = PathBelow("path", "hooks")
    status_line = PathBelow("hooks_dir", STATUS_LINE_SCRIPT_NAME)
    """The status line script."""
    wrapped_command = PathBelow("hooks_dir", "statusline-headspace.wrapped")
    """The command of the previous status line."""
    status_line_backup = PathBelow("hooks_dir", "statusline-headspace.before.json")
    """The settings entry of the previous status line."""

    @property
    def own_files(self) -> tuple[Path, ...]:
        """All files that belong to Headspace alone."""
        return *super().own_files, self.status_line, self.wrapped_command, self.status_line_backup


class _Settings:
    """The text of `settings.json`."""

    def __init__(self, config: ConfigDir) -> None:
        self.remove = partial(settings.remove, previous_status_line=_previous_status_line(config))
        self.content = without_empty_hooks
        self.is_own = lambda _text: False


def plan_install(
    config: ConfigDir, events: Iterable[str], url: str | None = None, *, status_line: bool = False
) -> Change:
    """The change that installs hooks for these events: over HTTP if there is a URL, otherwise as a command."""
    old = read_file(config.settings)
    name = str(config.settings)
    merged = merge(decode(old, name), settings.hook_entries(events, str(config.script), url), name)
    if status_line:
        merged = settings.add_status_line(merged, str(config.status_line), name)
    change = planned_installation(config, old, merged, _Settings(config))
    return msgspec.structs.replace(change, own=tuple(_status_line_files(config, old, merged)))


def plan_uninstall(config: ConfigDir) -> Change:
    """The change that removes the hooks."""
    return planned_removal(config, _Settings(config))


def _status_line_files(config: ConfigDir, old: bytes | None, new: str) -> Iterator[OwnFile]:
    """The status line script, if the settings will name it, and the previous status line."""
    name = str(config.settings)
    if not settings.has_own_status_line(parse(new, name)):
        return
    yield OwnFile(config.status_line, with_bash_path(STATUS_LINE_SCRIPT).encode(), 0o700)
    found = parse(decode(old, name), name)
    if STATUS_LINE_KEY in found and not settings.has_own_status_line(found):
        entry = found[STATUS_LINE_KEY]
        yield OwnFile(config.status_line_backup, msgspec.json.encode(entry), 0o600)
        command = entry.get("command") if isinstance(entry, dict) else None
        if isinstance(command, str) and command.strip():
            yield OwnFile(config.wrapped_command, command.encode(), 0o600)


def _previous_status_line(config: ConfigDir) -> object:
    """The entry of the previous status line: from its own backup, or from that of the settings."""
    try:
        return msgspec.json.decode(read_if_possible(config.status_line_backup) or b"")
    except msgspec.DecodeError:
        with suppress(BadConfiguration):
            saved = parse(decode(read_if_possible(config.settings_backup), ""), "")
            return None if settings.has_own_status_line(saved) else saved.get(STATUS_LINE_KEY)
    return None


def has_hooks(config: ConfigDir) -> bool:
    """Whether the settings contain Headspace's hooks."""
    name = str(config.settings)
    return bool(registered_hooks(parse(decode(read_file(config.settings), name), name)))


def find_plugins(config: ConfigDir) -> list[Path]:
    """The plugins in a configuration directory that register Headspace's hooks."""
    found = (config.path / "plugins").glob("**/hooks/hooks.json")
    return [path.parent.parent for path in found if SCRIPT_NAME.encode() in (read_if_possible(path) or b"")]
