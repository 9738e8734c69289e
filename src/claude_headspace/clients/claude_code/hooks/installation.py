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

Rules
- Removal takes its own entries out of the settings and keeps everything else. The backup only supplies the original
  bytes: it is used if it says the same as the settings without our entries. A missing, empty or edited backup changes
  nothing.
- An installation that fails leaves nothing behind (`files`).
"""

import difflib
import hashlib
import shutil
import stat
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

import msgspec

from claude_headspace.clients.claude_code.hooks import settings_file as settings
from claude_headspace.clients.claude_code.hooks.settings_file import (
    SCRIPT_NAME,
    STATUS_LINE_KEY,
    STATUS_LINE_SCRIPT_NAME,
)
from claude_headspace.clients.files import (
    cannot_write,
    link_target,
    read_file,
    remove_file,
    restored_on_failure,
    write_file,
    write_link,
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

    @property
    def changed_files(self) -> tuple[Path, ...]:
        """All files that an installation changes."""
        return *self.own_files, self.script_backup, link_target(self.settings)


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
    old = read_file(config.settings)
    name = str(config.settings)
    merged = settings.merge(_decode(old, name), settings.hook_entries(events, str(config.script), url), name)
    if status_line:
        merged = settings.add_status_line(merged, str(config.status_line), name)
    return Change(config, old, merged.encode())


def install(change: Change, state: Path, token: str) -> None:
    """Install everything, or nothing if a step fails."""
    with restored_on_failure(change.config.changed_files, folders_of(change.config)):
        _install(change, state, token)


def folders_of(config: ConfigDir) -> tuple[Path, ...]:
    """The directories that an installation may create."""
    return config.hooks_dir, *config.hooks_dir.parents


def _install(change: Change, state: Path, token: str) -> None:
    """Settings are written last, so that they never name a missing script."""
    config = change.config
    record = _read_record(config)
    created_folder = record.created_folder if record else not config.hooks_dir.exists()
    try:
        config.hooks_dir.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise cannot_write(config.hooks_dir, error) from error
    before = _original_settings(change, record)
    if record is None and (foreign := read_file(config.script)) is not None:
        write_file(config.script_backup, foreign, stat.S_IMODE(config.script.stat().st_mode))
    write_script(config, state, token)
    _install_status_line(change)
    if before is None:
        remove_file(config.settings_backup)
    else:
        write_file(config.settings_backup, before, 0o600)
    assert change.new is not None
    write_file(
        config.record,
        msgspec.json.encode(InstallationRecord(_digest(change.new), before is not None, created_folder)),
        0o600,
    )
    if change.changes:
        _write_settings(config.settings, change.new)


def write_script(config: ConfigDir, state: Path, token: str) -> None:
    """Write the script, and what it needs to reach Headspace."""
    write_file(config.script, script_text().encode(), 0o700)
    write_link(config.state_link, state)
    write_file(config.conf, f"token={token}\n".encode(), 0o600)


def _install_status_line(change: Change) -> None:
    """Write the status line script if the settings will name it, and save the previous status line."""
    config, name = change.config, str(change.config.settings)
    if not settings.has_own_status_line(settings.parse(_decode(change.new, name), name)):
        return
    write_file(config.status_line, _with_bash_path(STATUS_LINE_SCRIPT).encode(), 0o700)
    found = settings.parse(_decode(change.old, name), name)
    if STATUS_LINE_KEY in found and not settings.has_own_status_line(found):
        entry = found[STATUS_LINE_KEY]
        write_file(config.status_line_backup, msgspec.json.encode(entry), 0o600)
        command = entry.get("command") if isinstance(entry, dict) else None
        if isinstance(command, str) and command.strip():
            write_file(config.wrapped_command, command.encode(), 0o600)


def _previous_status_line(config: ConfigDir) -> object:
    """The entry of the previous status line: from its own backup, or from that of the settings."""
    try:
        return msgspec.json.decode(_read_if_possible(config.status_line_backup) or b"")
    except msgspec.DecodeError:
        with suppress(BadConfiguration):
            saved = settings.parse(_decode(_read_if_possible(config.settings_backup), ""), "")
            return None if settings.has_own_status_line(saved) else saved.get(STATUS_LINE_KEY)
    return None


def _read_if_possible(path: Path) -> bytes | None:
    """The content of a file; None if it cannot be read."""
    try:
        return read_file(path)
    except BadConfiguration:
        return None


def _original_settings(change: Change, record: InstallationRecord | None) -> bytes | None:
    """The settings to restore at the removal; None if there was no file."""
    if change.old is None:
        return None
    return _without_own_entries(change.config, change.old, record)[0]


def _without_own_entries(
    config: ConfigDir, found: bytes, record: InstallationRecord | None
) -> tuple[bytes | None, bool]:
    """The settings without our entries, and whether they are the original ones, byte for byte.

    None means that there was no file before, and that nothing but our entries is in it now.
    """
    name = str(config.settings)
    text = settings.remove(_decode(found, name), name, _previous_status_line(config))
    if record is not None and _digest(found) == record.written:
        if not record.existed and not settings.parse(text, name):
            return None, True
        saved = _read_if_possible(config.settings_backup) if record.existed else None
        if saved is not None and _says_the_same(saved, text, name):
            return saved, True
    return text.encode(), False


def _says_the_same(saved: bytes, text: str, name: str) -> bool:
    try:
        return settings.without_empty_hooks(_decode(saved, name)) == settings.without_empty_hooks(text)
    except BadConfiguration:
        return False


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
    return bool(settings.registered_hooks(settings.parse(_decode(read_file(config.settings), name), name)))


def find_plugins(config: ConfigDir) -> list[Path]:
    """The plugins in a configuration directory that register Headspace's hooks."""
    found = (config.path / "plugins").glob("**/hooks/hooks.json")
    return [path.parent.parent for path in found if SCRIPT_NAME.encode() in (_read_if_possible(path) or b"")]


# --- removing ---


def plan_uninstall(config: ConfigDir) -> Change:
    """The change that removes the hooks."""
    old = read_file(config.settings)
    record = _read_record(config)
    if old is None:
        return Change(config, None, None)
    new, is_original = _without_own_entries(config, old, record)
    return Change(config, old, new, restores_original=is_original)


def uninstall(change: Change) -> None:
    """Remove everything. Settings are written first, so that they never name a missing script."""
    config = change.config
    record = _read_record(config)
    if change.changes:
        if change.new is None:
            link_target(config.settings).unlink(missing_ok=True)
        else:
            _write_settings(config.settings, change.new)
    for path in config.own_files:
        remove_file(path)
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
        return msgspec.json.decode(_read_if_possible(config.record) or b"", type=InstallationRecord)
    except msgspec.DecodeError:
        return None


def _write_settings(path: Path, data: bytes) -> None:
    target = link_target(path)
    try:
        found = target.stat()
    except FileNotFoundError:
        write_file(target, data, 0o600)
        return
    write_file(target, data, stat.S_IMODE(found.st_mode), (found.st_uid, found.st_gid))
