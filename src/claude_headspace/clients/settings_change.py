"""The change of a client's files that installs hooks or removes them: planned, shown as a diff, then carried out.

Rules
- Removal takes its own entries out of the settings and keeps everything else. The backup only supplies the original
  bytes: it is used if it says the same as the settings without our entries. A missing, empty or edited backup changes
  nothing.
- An installation that fails leaves nothing behind (`files`).
- Settings never name a missing script: they are written last, and restored first.
"""

import difflib
import hashlib
import stat
from pathlib import Path
from typing import Protocol

import msgspec

from claude_headspace.clients.files import (
    cannot_write,
    link_target,
    read_file,
    remove_file,
    restored_on_failure,
    write_file,
)
from claude_headspace.clients.hook_files import HookFiles, write_script
from claude_headspace.errors import BadConfiguration


class InstallationRecord(msgspec.Struct, frozen=True):
    """What an installation stores about itself."""

    written: str
    """The digest of the written settings."""
    existed: bool
    """Whether there was a settings file before."""
    created_folder: bool = msgspec.field(name="made_folder")
    """Whether it created the directory of its files."""
    created_folders: tuple[str, ...] = ()
    """All directories that it created, the innermost first. Older versions recorded only the one above."""


class SettingsText(Protocol):
    """Knows the text of the settings in which a client registers hooks. Pure."""

    def remove(self, text: str, name: str) -> str:
        """The text without Headspace's entries. `name` is the file name in errors."""

    def content(self, text: str) -> object:
        """What a text says; equal for texts with the same meaning, false if it says nothing."""

    def is_own(self, text: str) -> bool:
        """Whether the complete text is Headspace's, so that a removal restores what was there before."""


class FileEdit(msgspec.Struct, frozen=True):
    """The text of a file before and after a change. None means that there is no file."""

    path: Path
    old: bytes | None
    new: bytes | None

    @property
    def changes(self) -> bool:
        """Whether the file changes."""
        return self.old != self.new

    def diff(self) -> list[str]:
        """The change as a diff."""
        name = str(self.path)
        old, new = decode(self.old, name).splitlines(), decode(self.new, name).splitlines()
        return list(difflib.unified_diff(old, new, name, name, lineterm=""))


class OwnFile(msgspec.Struct, frozen=True):
    """A file of Headspace that an installation writes."""

    path: Path
    data: bytes
    mode: int


class Change(msgspec.Struct, frozen=True):
    """The settings before and after an installation or removal. None means that there is no file."""

    config: HookFiles
    old: bytes | None
    new: bytes | None
    restores_original: bool = False
    """Whether the settings become byte for byte what they were before the first installation."""
    original: bytes | None = None
    """The settings to restore at the removal; None if there were none."""
    own: tuple[OwnFile, ...] = ()
    """More files of Headspace."""
    also: tuple[FileEdit, ...] = ()
    """Other files of the client that change."""

    @property
    def changes(self) -> bool:
        """Whether a file of the client changes."""
        return any(edit.changes for edit in self.edits)

    @property
    def edits(self) -> tuple[FileEdit, ...]:
        """The files of the client."""
        return FileEdit(self.config.settings, self.old, self.new), *self.also

    @property
    def files(self) -> list[Path]:
        """All files that change."""
        return [*self.config.changed_files, *(link_target(edit.path) for edit in self.also)]

    def diff(self) -> list[str]:
        """The change as a diff."""
        return [line for edit in self.edits for line in edit.diff()]


# --- planning ---


def planned_installation(config: HookFiles, old: bytes | None, new: str, settings: SettingsText) -> Change:
    """The change that installs hooks by writing this text."""
    original = None if old is None else _without_own_entries(config, old, settings)[0]
    return Change(config, old, new.encode(), original=original)


def planned_removal(config: HookFiles, settings: SettingsText) -> Change:
    """The change that removes the hooks."""
    old = read_file(config.settings)
    if old is None:
        return Change(config, None, None)
    new, is_original = _without_own_entries(config, old, settings)
    return Change(config, old, new, restores_original=is_original)


def _without_own_entries(config: HookFiles, found: bytes, settings: SettingsText) -> tuple[bytes | None, bool]:
    """The settings without our entries, and whether they are the original ones, byte for byte.

    None means that there was no file before, and that nothing but our entries is in it now.
    """
    name, record = str(config.settings), read_record(config)
    if settings.is_own(decode(found, name)):
        return (read_if_possible(config.settings_backup) if record is not None and record.existed else None), True
    text = settings.remove(decode(found, name), name)
    if record is not None and _digest(found) == record.written:
        if not record.existed and not settings.content(text):
            return None, True
        saved = read_if_possible(config.settings_backup) if record.existed else None
        if saved is not None and _says_the_same(saved, text, settings):
            return saved, True
    return text.encode(), False


def _says_the_same(saved: bytes, text: str, settings: SettingsText) -> bool:
    try:
        return settings.content(decode(saved, "")) == settings.content(text)
    except BadConfiguration:
        return False


# --- carrying out ---


def install(change: Change, state: Path, token: str) -> None:
    """Install everything, or nothing if a step fails."""
    with restored_on_failure(change.files, change.config.folders):
        _install(change, state, token)


def _install(change: Change, state: Path, token: str) -> None:
    config, record = change.config, read_record(change.config)
    created = _created_folders(config, record)
    for folder in (config.hooks_dir, link_target(config.settings).parent):
        _create_folder(folder)
    if record is None and config.has_script and (foreign := read_file(config.script)) is not None:
        write_file(config.script_backup, foreign, stat.S_IMODE(config.script.stat().st_mode))
    write_script(config, state, token)
    for file in change.own:
        write_file(file.path, file.data, file.mode)
    if change.original is None:
        remove_file(config.settings_backup)
    else:
        write_file(config.settings_backup, change.original, 0o600)
    assert change.new is not None
    written = InstallationRecord(
        _digest(change.new), change.original is not None, str(config.hooks_dir) in created, created
    )
    write_file(config.record, msgspec.json.encode(written), 0o600)
    for edit in reversed(change.edits):
        write_edit(edit)


def _created_folders(config: HookFiles, record: InstallationRecord | None) -> tuple[str, ...]:
    """The directories that this or an earlier installation creates."""
    earlier = _recorded_folders(config, record)
    return *earlier, *(str(each) for each in config.folders if not each.exists() and str(each) not in earlier)


def _recorded_folders(config: HookFiles, record: InstallationRecord | None) -> tuple[str, ...]:
    if record is None:
        return ()
    return record.created_folders or ((str(config.hooks_dir),) if record.created_folder else ())


def _create_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise cannot_write(folder, error) from error


def uninstall(change: Change) -> None:
    """Remove everything."""
    config = change.config
    record = read_record(config)
    with restored_on_failure(link_target(edit.path) for edit in change.edits):
        for edit in change.edits:
            write_edit(edit)
    for path in config.own_files:
        remove_file(path)
    if config.has_script and config.script_backup.exists():
        config.script_backup.replace(config.script)
    for name in sorted(_recorded_folders(config, record), key=len, reverse=True):
        folder = Path(name)
        if folder.is_dir() and not any(folder.iterdir()):
            folder.rmdir()


def write_edit(edit: FileEdit) -> None:
    """Write a file of the client. A link stays a link, the mode and the owner stay."""
    if not edit.changes:
        return
    target = link_target(edit.path)
    if edit.new is None:
        target.unlink(missing_ok=True)
        return
    try:
        found = target.stat()
    except FileNotFoundError:
        write_file(target, edit.new, 0o600)
        return
    write_file(target, edit.new, stat.S_IMODE(found.st_mode), (found.st_uid, found.st_gid))


# --- files ---


def read_record(config: HookFiles) -> InstallationRecord | None:
    """The record of an installation."""
    try:
        return msgspec.json.decode(read_if_possible(config.record) or b"", type=InstallationRecord)
    except msgspec.DecodeError:
        return None


def read_if_possible(path: Path) -> bytes | None:
    """The content of a file; None if it cannot be read."""
    try:
        return read_file(path)
    except BadConfiguration:
        return None


def decode(data: bytes | None, name: str) -> str:
    """The text of a settings file."""
    try:
        return (data or b"").decode("utf-8")
    except UnicodeDecodeError as error:
        raise BadConfiguration(
            "bad_settings",
            f"{name} cannot be changed safely: it is not UTF-8 ({error.reason} at byte {error.start}).",
            "Nothing was changed. Correct or move the file, and run this again.",
        ) from error


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
