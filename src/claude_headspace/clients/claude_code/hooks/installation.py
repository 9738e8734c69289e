"""Install hooks into a configuration directory of Claude Code, and remove them.

    <config dir>/settings.json                          merged; a link stays a link, the mode stays
    <config dir>/hooks/notify-headspace.sh              0700, the script
    <config dir>/hooks/notify-headspace.state           a link to the state directory of Headspace
    <config dir>/hooks/notify-headspace.conf            0600, the token for requests
    <config dir>/hooks/notify-headspace.before.json     the settings as they were before the first installation
    <config dir>/hooks/notify-headspace.before.sh       another script of that name, where there was one
    <config dir>/hooks/notify-headspace.installed       digest of what was written, to detect later changes
    <config dir>/hooks/statusline-headspace.sh          0700, the status line, if installed
    <config dir>/hooks/statusline-headspace.wrapped     the command of the previous status line
    <config dir>/hooks/statusline-headspace.before.json the complete settings entry of the previous one

Removal restores the settings byte for byte if they were not changed since; otherwise it removes only its own hooks.
Every file is written to a temporary name first and then moved into place.
"""

import difflib
import hashlib
import os
import shutil
import stat
import tempfile
from collections.abc import Iterable
from pathlib import Path

import msgspec

from claude_headspace.clients.claude_code.hooks import settings_file as settings
from claude_headspace.clients.claude_code.hooks.settings_file import (
    SCRIPT_NAME,
    STATUS_LINE_KEY,
    STATUS_LINE_SCRIPT_NAME,
)
from claude_headspace.config import PathBelow
from claude_headspace.errors import BadConfiguration

HOOK_SCRIPT = Path(__file__).with_name(SCRIPT_NAME)
STATUS_LINE_SCRIPT = Path(__file__).with_name(STATUS_LINE_SCRIPT_NAME)
DEFAULT_BASH = "/bin/bash"


class InstallationRecord(msgspec.Struct, frozen=True):
    """What an installation stores about itself."""

    written: str
    """The digest of the written settings."""
    existed: bool
    """Whether there was a settings file before."""
    created_folder: bool = msgspec.field(name="made_folder")
    """Whether it created the hooks directory."""


class ConfigDir(msgspec.Struct, frozen=True):
    """One configuration directory."""

    path: Path

    settings = PathBelow("path", "settings.json")
    """The file that the client reads."""
    hooks_dir = PathBelow("path", "hooks")
    """The directory of Headspace's files."""
    script = PathBelow("hooks_dir", SCRIPT_NAME)
    """The hook script."""
    conf = PathBelow("hooks_dir", "notify-headspace.conf")
    """The token that the script needs for requests."""
    state_link = PathBelow("hooks_dir", "notify-headspace.state")
    """The link by which the script finds Headspace."""
    settings_backup = PathBelow("hooks_dir", "notify-headspace.before.json")
    """The settings before the first installation."""
    script_backup = PathBelow("hooks_dir", "notify-headspace.before.sh")
    """A script that had the same name before."""
    record = PathBelow("hooks_dir", "notify-headspace.installed")
    """The record of the installation."""
    status_line = PathBelow("hooks_dir", STATUS_LINE_SCRIPT_NAME)
    """The status line script."""
    wrapped_command = PathBelow("hooks_dir", "statusline-headspace.wrapped")
    """The command of the previous status line."""
    status_line_backup = PathBelow("hooks_dir", "statusline-headspace.before.json")
    """The settings entry of the previous status line."""

    @property
    def own_files(self) -> tuple[Path, ...]:
        """All files that belong to Headspace alone."""
        line = (self.status_line, self.wrapped_command, self.status_line_backup)
        return self.script, self.conf, self.state_link, self.settings_backup, self.record, *line


class Change(msgspec.Struct, frozen=True):
    """The settings before and after an installation or removal. None means that there is no file."""

    config: ConfigDir
    old: bytes | None
    new: bytes | None
    restores_original: bool = False
    """Whether the settings become byte for byte what they were before the first installation."""

    @property
    def changes(self) -> bool:
        """Whether the settings change."""
        return self.old != self.new

    def diff(self) -> list[str]:
        """The change as a diff."""
        name = str(self.config.settings)
        old, new = _decode(self.old, name).splitlines(), _decode(self.new, name).splitlines()
        return list(difflib.unified_diff(old, new, name, name, lineterm=""))


# --- installing ---


def plan_install(
    config: ConfigDir, events: Iterable[str], url: str | None = None, *, status_line: bool = False
) -> Change:
    """The change that installs hooks for these events: over HTTP if there is a URL, otherwise as a command."""
    old = _read(config.settings)
    name = str(config.settings)
    merged = settings.merge(_decode(old, name), settings.hook_entries(events, str(config.script), url), name)
    if status_line:
        merged = settings.add_status_line(merged, str(config.status_line), name)
    return Change(config, old, merged.encode())


def install(change: Change, state: Path, token: str) -> None:
    """Install everything. Settings are written last, so that they never name a missing script."""
    config = change.config
    record = _read_record(config)
    created_folder = record.created_folder if record else not config.hooks_dir.exists()
    config.hooks_dir.mkdir(parents=True, exist_ok=True)
    before = _original_settings(change, record)
    if record is None and (foreign := _read(config.script)) is not None:
        _write(config.script_backup, foreign, stat.S_IMODE(config.script.stat().st_mode))
    write_script(config, state, token)
    _install_status_line(change)
    if before is None:
        config.settings_backup.unlink(missing_ok=True)
    else:
        _write(config.settings_backup, before, 0o600)
    assert change.new is not None
    _write(
        config.record,
        msgspec.json.encode(InstallationRecord(_digest(change.new), before is not None, created_folder)),
        0o600,
    )
    if change.changes:
        _write_settings(config.settings, change.new)


def write_script(config: ConfigDir, state: Path, token: str) -> None:
    """Write the script, and what it needs to reach Headspace."""
    _write(config.script, script_text().encode(), 0o700)
    _link(config.state_link, state)
    _write(config.conf, f"token={token}\n".encode(), 0o600)


def _install_status_line(change: Change) -> None:
    """Write the status line script if the settings will name it, and save the previous status line."""
    config, name = change.config, str(change.config.settings)
    if not settings.has_own_status_line(settings.parse(_decode(change.new, name), name)):
        return
    _write(config.status_line, _with_bash_path(STATUS_LINE_SCRIPT).encode(), 0o700)
    found = settings.parse(_decode(change.old, name), name)
    if STATUS_LINE_KEY in found and not settings.has_own_status_line(found):
        entry = found[STATUS_LINE_KEY]
        _write(config.status_line_backup, msgspec.json.encode(entry), 0o600)
        command = entry.get("command") if isinstance(entry, dict) else None
        if isinstance(command, str) and command.strip():
            _write(config.wrapped_command, command.encode(), 0o600)


def _read_status_line_backup(config: ConfigDir) -> object:
    """The entry of the previous status line; None if there was none."""
    try:
        return msgspec.json.decode(config.status_line_backup.read_bytes())
    except (OSError, msgspec.DecodeError):
        return None


def _original_settings(change: Change, record: InstallationRecord | None) -> bytes | None:
    """The settings to restore: the backup, or if they were changed since, these without Headspace's entries."""
    if record is not None and change.old is not None and _digest(change.old) == record.written:
        return _read(change.config.settings_backup) if record.existed else None
    if change.old is None:
        return None
    name = str(change.config.settings)
    return settings.remove(_decode(change.old, name), name, _read_status_line_backup(change.config)).encode()


def script_text() -> str:
    """The script, with the path of an installed bash."""
    return _with_bash_path(HOOK_SCRIPT)


def _with_bash_path(script: Path) -> str:
    text = script.read_text(encoding="utf-8")
    if Path(DEFAULT_BASH).exists():
        return text
    found = shutil.which("bash")
    if found is None:
        raise BadConfiguration("no_bash", "bash is not installed.", "Install it, or use `--transport http`.")
    return text.replace(DEFAULT_BASH, found, 1)


def has_hooks(config: ConfigDir) -> bool:
    """Whether the settings contain Headspace's hooks."""
    name = str(config.settings)
    return bool(settings.registered_hooks(settings.parse(_decode(_read(config.settings), name), name)))


def find_plugins(config: ConfigDir) -> list[Path]:
    """The plugins in a configuration directory that register Headspace's hooks."""
    found = (config.path / "plugins").glob("**/hooks/hooks.json")
    return [path.parent.parent for path in found if SCRIPT_NAME in path.read_text(encoding="utf-8", errors="replace")]


# --- removing ---


def plan_uninstall(config: ConfigDir) -> Change:
    """The change that removes the hooks."""
    old = _read(config.settings)
    record = _read_record(config)
    if old is None:
        return Change(config, None, None)
    if record is not None and _digest(old) == record.written:
        return Change(config, old, _read(config.settings_backup) if record.existed else None, restores_original=True)
    name = str(config.settings)
    return Change(config, old, settings.remove(_decode(old, name), name, _read_status_line_backup(config)).encode())


def uninstall(change: Change) -> None:
    """Remove everything. Settings are written first, so that they never name a missing script."""
    config = change.config
    record = _read_record(config)
    if change.changes:
        if change.new is None:
            _link_target(config.settings).unlink(missing_ok=True)
        else:
            _write_settings(config.settings, change.new)
    for path in config.own_files:
        path.unlink(missing_ok=True)
    if config.script_backup.exists():
        config.script_backup.replace(config.script)
    if record is not None and record.created_folder and not any(config.hooks_dir.iterdir()):
        config.hooks_dir.rmdir()


# --- files ---


def read_conf(path: Path) -> dict[str, str]:
    """The values in a conf file."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return {key: value for key, found, value in (line.partition("=") for line in lines) if found}


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _read(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise BadConfiguration(
            "unreadable_settings",
            f"{path} cannot be read: {error.strerror}.",
            "Nothing was changed. Check the owner of the file.",
        ) from error


def _decode(data: bytes | None, name: str) -> str:
    try:
        return (data or b"").decode("utf-8")
    except UnicodeDecodeError as error:
        raise BadConfiguration(
            "bad_settings",
            f"{name} cannot be changed safely: it is not UTF-8 ({error.reason} at byte {error.start}).",
            "Nothing was changed. Correct or move the file, and run this again.",
        ) from error


def _read_record(config: ConfigDir) -> InstallationRecord | None:
    try:
        return msgspec.json.decode(config.record.read_bytes(), type=InstallationRecord)
    except (OSError, msgspec.DecodeError):
        return None


def _link_target(path: Path) -> Path:
    """The file behind a link, whether it exists or not."""
    return Path(os.path.realpath(path)) if path.is_symlink() else path


def _write_settings(path: Path, data: bytes) -> None:
    target = _link_target(path)
    try:
        found = target.stat()
    except FileNotFoundError:
        _write(target, data, 0o600)
        return
    _write(target, data, stat.S_IMODE(found.st_mode), (found.st_uid, found.st_gid))


def _link(path: Path, target: Path) -> None:
    """Create a link atomically."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    temporary.unlink(missing_ok=True)
    temporary.symlink_to(target)
    temporary.replace(path)


def _write(path: Path, data: bytes, mode: int, owner: tuple[int, int] | None = None) -> None:
    """Write a file atomically."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(handle)
            if owner is not None and owner != (os.geteuid(), os.getegid()):
                os.fchown(handle, *owner)
            os.fchmod(handle, mode)
        Path(temporary).replace(path)
    except OSError as error:
        Path(temporary).unlink(missing_ok=True)
        raise BadConfiguration(
            "cannot_write",
            f"{path} cannot be written: {error.strerror}.",
            "Check the owner of its directory.",
        ) from error
