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
from claude_headspace.clients.claude_code.hooks.settings_file import SCRIPT_NAME, STATUS_LINE, STATUS_LINE_NAME
from claude_headspace.errors import BadConfiguration

SHIPPED = Path(__file__).with_name(SCRIPT_NAME)
SHIPPED_STATUS_LINE = Path(__file__).with_name(STATUS_LINE_NAME)
USUAL_BASH = "/bin/bash"


class Note(msgspec.Struct, frozen=True):
    """What an installation records."""

    written: str
    """The digest of the settings that it wrote."""
    existed: bool
    """Whether there was a settings file before."""
    made_folder: bool
    """Whether it created the hooks directory."""


class ConfigDir(msgspec.Struct, frozen=True):
    """One configuration directory."""

    path: Path

    @property
    def settings(self) -> Path:
        """The file that the client reads."""
        return self.path / "settings.json"

    @property
    def folder(self) -> Path:
        """The directory of Headspace's files."""
        return self.path / "hooks"

    @property
    def script(self) -> Path:
        """The hook script."""
        return self.folder / SCRIPT_NAME

    @property
    def conf(self) -> Path:
        """The token that the script needs for requests."""
        return self.script.with_suffix(".conf")

    @property
    def state(self) -> Path:
        """The link by which the script finds Headspace."""
        return self.script.with_suffix(".state")

    @property
    def before(self) -> Path:
        """The settings before the first installation."""
        return self.script.with_suffix(".before.json")

    @property
    def script_before(self) -> Path:
        """A script that had the same name before."""
        return self.script.with_suffix(".before.sh")

    @property
    def note(self) -> Path:
        """The record of the installation."""
        return self.script.with_suffix(".installed")

    @property
    def status_line(self) -> Path:
        """The status line script."""
        return self.folder / STATUS_LINE_NAME

    @property
    def wrapped(self) -> Path:
        """The command of the previous status line."""
        return self.status_line.with_suffix(".wrapped")

    @property
    def status_line_before(self) -> Path:
        """The settings entry of the previous status line."""
        return self.status_line.with_suffix(".before.json")

    @property
    def ours(self) -> tuple[Path, ...]:
        """All files that belong to Headspace alone."""
        line = (self.status_line, self.wrapped, self.status_line_before)
        return self.script, self.conf, self.state, self.before, self.note, *line


class Change(msgspec.Struct, frozen=True):
    """What an installation or its removal does to the settings; None: no such file."""

    config: ConfigDir
    old: bytes | None
    new: bytes | None
    restores: bool = False
    """Whether they become byte for byte what they were before the first installation."""

    @property
    def changes(self) -> bool:
        """Whether the settings change."""
        return self.old != self.new

    def diff(self) -> list[str]:
        """The change as a diff."""
        name = str(self.config.settings)
        old, new = _text(self.old, name).splitlines(), _text(self.new, name).splitlines()
        return list(difflib.unified_diff(old, new, name, name, lineterm=""))


# --- installing ---


def plan_install(
    config: ConfigDir, events: Iterable[str], url: str | None = None, *, status_line: bool = False
) -> Change:
    """What an installation for these events would do; with an address over HTTP, and with our status line if wanted."""
    old = _read(config.settings)
    name = str(config.settings)
    merged = settings.merge(_text(old, name), settings.wanted(events, str(config.script), url), name)
    if status_line:
        merged = settings.with_our_line(merged, str(config.status_line), name)
    return Change(config, old, merged.encode())


def install(change: Change, state: Path, token: str) -> None:
    """Install everything; the settings last, so that they never name a missing script."""
    config = change.config
    note = _read_note(config)
    made_folder = note.made_folder if note else not config.folder.exists()
    config.folder.mkdir(parents=True, exist_ok=True)
    before = _before_us(change, note)
    if note is None and (foreign := _read(config.script)) is not None:
        _write(config.script_before, foreign, stat.S_IMODE(config.script.stat().st_mode))
    put_script(config, state, token)
    _install_status_line(change)
    if before is None:
        config.before.unlink(missing_ok=True)
    else:
        _write(config.before, before, 0o600)
    assert change.new is not None
    _write(config.note, msgspec.json.encode(Note(_digest(change.new), before is not None, made_folder)), 0o600)
    if change.changes:
        _write_settings(config.settings, change.new)


def put_script(config: ConfigDir, state: Path, token: str) -> None:
    """Write the script, and what it needs to reach Headspace."""
    _write(config.script, script_text().encode(), 0o700)
    _link(config.state, state)
    _write(config.conf, f"token={token}\n".encode(), 0o600)


def _install_status_line(change: Change) -> None:
    """Our status line, if the settings will name it; what they name now is kept, and its command goes on."""
    config, name = change.config, str(change.config.settings)
    if not settings.shows_our_line(settings.parse(_text(change.new, name), name)):
        return
    _write(config.status_line, _with_a_bash(SHIPPED_STATUS_LINE).encode(), 0o700)
    found = settings.parse(_text(change.old, name), name)
    if STATUS_LINE in found and not settings.shows_our_line(found):
        entry = found[STATUS_LINE]
        _write(config.status_line_before, msgspec.json.encode(entry), 0o600)
        command = entry.get("command") if isinstance(entry, dict) else None
        if isinstance(command, str) and command.strip():
            _write(config.wrapped, command.encode(), 0o600)


def _status_line_before(config: ConfigDir) -> object:
    """The entry of the previous status line; None if there was none."""
    try:
        return msgspec.json.decode(config.status_line_before.read_bytes())
    except (OSError, msgspec.DecodeError):
        return None


def _before_us(change: Change, note: Note | None) -> bytes | None:
    """The settings as they would be without us: those we found first, as long as nobody else has changed them since."""
    if note is not None and change.old is not None and _digest(change.old) == note.written:
        return _read(change.config.before) if note.existed else None
    if change.old is None:
        return None
    name = str(change.config.settings)
    return settings.remove(_text(change.old, name), name, _status_line_before(change.config)).encode()


def script_text() -> str:
    """The script, with the path of an installed bash."""
    return _with_a_bash(SHIPPED)


def _with_a_bash(shipped: Path) -> str:
    text = shipped.read_text(encoding="utf-8")
    if Path(USUAL_BASH).exists():
        return text
    found = shutil.which("bash")
    if found is None:
        raise BadConfiguration("no_bash", "There is no bash on this machine.", "Install it, or use `--transport http`.")
    return text.replace(USUAL_BASH, found, 1)


def has_hooks(config: ConfigDir) -> bool:
    """Whether the settings contain Headspace's hooks."""
    name = str(config.settings)
    return bool(settings.registered(settings.parse(_text(_read(config.settings), name), name)))


def plugins(config: ConfigDir) -> list[Path]:
    """The plugins in a configuration directory that register Headspace's hooks."""
    found = (config.path / "plugins").glob("**/hooks/hooks.json")
    return [path.parent.parent for path in found if SCRIPT_NAME in path.read_text(encoding="utf-8", errors="replace")]


# --- removing ---


def plan_uninstall(config: ConfigDir) -> Change:
    """What a removal would do."""
    old = _read(config.settings)
    note = _read_note(config)
    if old is None:
        return Change(config, None, None)
    if note is not None and _digest(old) == note.written:
        return Change(config, old, _read(config.before) if note.existed else None, restores=True)
    name = str(config.settings)
    return Change(config, old, settings.remove(_text(old, name), name, _status_line_before(config)).encode())


def uninstall(change: Change) -> None:
    """Remove everything; the settings first, so that they never name a missing script."""
    config = change.config
    note = _read_note(config)
    if change.changes:
        if change.new is None:
            _target(config.settings).unlink(missing_ok=True)
        else:
            _write_settings(config.settings, change.new)
    for path in config.ours:
        path.unlink(missing_ok=True)
    if config.script_before.exists():
        config.script_before.replace(config.script)
    if note is not None and note.made_folder and not any(config.folder.iterdir()):
        config.folder.rmdir()


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
            "Nothing was changed; check who owns it.",
        ) from error


def _text(data: bytes | None, name: str) -> str:
    try:
        return (data or b"").decode("utf-8")
    except UnicodeDecodeError as error:
        raise BadConfiguration(
            "bad_settings",
            f"{name} cannot be changed safely: it is not UTF-8 ({error.reason} at byte {error.start}).",
            "Nothing was changed. Correct the file, or move it away, and run this again.",
        ) from error


def _read_note(config: ConfigDir) -> Note | None:
    try:
        return msgspec.json.decode(config.note.read_bytes(), type=Note)
    except (OSError, msgspec.DecodeError):
        return None


def _target(path: Path) -> Path:
    """The file behind a link, whether it exists or not."""
    return Path(os.path.realpath(path)) if path.is_symlink() else path


def _write_settings(path: Path, data: bytes) -> None:
    target = _target(path)
    try:
        found = target.stat()
    except FileNotFoundError:
        _write(target, data, 0o600)
        return
    _write(target, data, stat.S_IMODE(found.st_mode), (found.st_uid, found.st_gid))


def _link(path: Path, target: Path) -> None:
    """Create a link atomically."""
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    draft.unlink(missing_ok=True)
    draft.symlink_to(target)
    draft.replace(path)


def _write(path: Path, data: bytes, mode: int, owner: tuple[int, int] | None = None) -> None:
    """Write a file atomically."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, draft = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(handle)
            if owner is not None and owner != (os.geteuid(), os.getegid()):
                os.fchown(handle, *owner)
            os.fchmod(handle, mode)
        Path(draft).replace(path)
    except OSError as error:
        Path(draft).unlink(missing_ok=True)
        raise BadConfiguration(
            "cannot_write", f"{path} cannot be written: {error.strerror}.", "Check who owns it and its directory."
        ) from error
