"""Settings and places: what a user may change, and where files live.

Nothing needs configuring. Order, later wins: the defaults here, `config.toml`, the environment (`HEADSPACE_PORT` for
`port`, and so on), the command line. `HEADSPACE_HOME=DIR` puts everything under DIR; otherwise the XDG directories are
used.
"""

import os
import re
import socket
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, get_type_hints
from urllib.parse import unquote

import msgspec
from msgspec import Meta

from claude_headspace.errors import BadConfiguration

KIB = 1024
MIB = 1024 * KIB


LIST_SETTINGS = ("allowed_hosts", "config_dirs", "asked_hooks", "redact", "claude_os_core")
"""Settings that are lists; in the environment their parts stand between commas."""


class Settings(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Every setting, with its default and what it is for."""

    host: Annotated[str, Meta(description='Address to listen on. Anything but loopback needs `ingest = "token"`.')] = (
        "127.0.0.1"
    )
    port: Annotated[int, Meta(description="Port to listen on; 0 takes a free one.", ge=0, le=65535)] = 5055
    database: Annotated[
        str,
        Meta(
            description="Database address: `postgresql://user@host/headspace`, or a whole path for SQLite, such as "
            "`~/headspace.db`; empty means SQLite in the data directory. `HEADSPACE_DATABASE_URL` is understood too."
        ),
    ] = ""
    ingest: Annotated[
        Literal["open", "token"],
        Meta(description="Who may send hook events: any local program (only recorded), or only holders of a token."),
    ] = "open"
    allowed_hosts: Annotated[
        tuple[str, ...], Meta(description="More host names that the page and API may be reached by, beside loopback.")
    ] = ()
    config_dirs: Annotated[
        tuple[str, ...],
        Meta(
            description="More config dirs of Claude Code to look into, beside `~/.claude`, `$CLAUDE_CONFIG_DIR` and "
            "those that hooks were installed in."
        ),
    ] = ()
    asked_hooks: Annotated[
        tuple[str, ...],
        Meta(
            description="Hook events that wait for Headspace's answer, by name; `*` means all. The others only tell, "
            "which costs less."
        ),
    ] = ()
    policy_preset: Annotated[
        Literal["guard", "strict", "watch", "off"],
        Meta(
            description="What agents are kept from: `guard` denies what nothing brings back and asks before `sudo` and "
            "the like, `strict` denies all of it, `watch` only records what `guard` would do, `off` looks at nothing."
        ),
    ] = "guard"
    hold_seconds: Annotated[
        float,
        Meta(
            description="How long a question of Claude Code can be answered through Headspace, in seconds. Its own "
            "dialog stays usable all the while. 0: never.",
            ge=0,
            le=86_000,
        ),
    ] = 3600.0
    public_url: Annotated[
        str,
        Meta(
            description="The address under which people reach this Headspace from elsewhere, such as "
            "`https://headspace.example.net`: messages then carry links that answer. Its name is one of "
            "`allowed_hosts`. Empty: no links.",
            pattern="^(https?://[^/?#@]+/?)?$",
        ),
    ] = ""
    hold_headless: Annotated[
        bool, Meta(description="Whether clients that nobody sits in front of (`claude -p`) wait for an answer too.")
    ] = False
    claude_os_root: Annotated[
        str,
        Meta(
            description="Directory with the core files, `.claude/roles/` and `.claude/modes/` of all sessions; "
            "empty: only sessions with a role or a mode are given files, from their own project."
        ),
    ] = ""
    claude_os_core: Annotated[
        tuple[str, ...],
        Meta(
            description="The core files, below that directory; none named: `Desktop/TODAY.md`, `Desktop/MEMORY.md` and "
            "`Desktop/SYSTEM-INDEX.md`, where they exist."
        ),
    ] = ()
    claude_os_prefix: Annotated[
        str, Meta(description="What stands before what sessions are told: `[CLAUDE OS SYS: INFO]: …`.", max_length=60)
    ] = "CLAUDE OS SYS"
    claude_os_warnings: Annotated[
        Literal["auto", "all", "off"],
        Meta(
            description="Who is told that the context fills up and that a note is missing: `auto` sessions with a role "
            "or a mode, and all where `claude_os_root` or `claude_os_core` is set; `all` every session; `off` nobody."
        ),
    ] = "auto"
    claude_os_note_after: Annotated[
        float,
        Meta(description="After how many seconds without a note a session is asked for one, once. 0: never.", ge=0),
    ] = 120.0
    machine: Annotated[
        str,
        Meta(
            description="This machine's name on the board, and what tells its agents from those of others that share "
            "the database; empty takes the host name."
        ),
    ] = ""
    patience_seconds: Annotated[
        float,
        Meta(description="How long a hook waits for the database; then its event waits in the spool.", gt=0),
    ] = 1.0
    max_body_bytes: Annotated[
        int, Meta(description="Largest hook or request that is read; a larger one gets 413.", ge=1024)
    ] = 64 * MIB
    max_text_bytes: Annotated[
        int, Meta(description="How much is kept of what was said; more is cut in the middle.", ge=1024)
    ] = 256 * KIB
    max_result_bytes: Annotated[
        int, Meta(description="How much is kept of a tool's input or result; more is cut in the middle.", ge=1024)
    ] = 32 * KIB
    redact: Annotated[
        tuple[str, ...],
        Meta(description="Regular expressions of secrets that are not kept, beside the well known kinds."),
    ] = ()
    retention_days: Annotated[
        int, Meta(description="How long events are kept before `db prune` takes them; 0 keeps everything.", ge=0)
    ] = 0
    heartbeat_seconds: Annotated[float, Meta(description="Pause between heartbeat comments of the stream.", gt=0)] = (
        15.0
    )
    hooks_silent_after: Annotated[
        float, Meta(description="Seconds without a hook after which Headspace looks for itself more often.", gt=0)
    ] = 300.0
    polling_seconds: Annotated[float, Meta(description="Pause between looks while hooks arrive.", gt=0)] = 60.0
    silent_polling_seconds: Annotated[float, Meta(description="Pause between looks while hooks are silent.", gt=0)] = (
        2.0
    )
    tmux_colours: Annotated[
        bool, Meta(description="Whether tmux's windows have the colour of the most urgent agent in them.")
    ] = False
    log_level: Annotated[
        Literal["debug", "info", "warning", "error"], Meta(description="What goes into the log file.")
    ] = "info"

    @property
    def host_name(self) -> str:
        """The name that agents of this machine carry."""
        return self.machine or socket.gethostname()


class Paths(msgspec.Struct, frozen=True):
    """Where things live. Directories are made 0700 when first used, files 0600."""

    config: Path
    data: Path
    state: Path
    runtime: Path

    @property
    def config_file(self) -> Path:
        """The user's settings."""
        return self.config / "config.toml"

    @property
    def policy_file(self) -> Path:
        """The user's own rules for what agents may do."""
        return self.config / "policy.toml"

    @property
    def notify_file(self) -> Path:
        """How the user wants to be called."""
        return self.config / "notify.toml"

    @property
    def contacts_file(self) -> Path:
        """The people that agents may write to."""
        return self.config / "contacts.toml"

    @property
    def database(self) -> Path:
        """The embedded journal."""
        return self.data / "headspace.db"

    @property
    def spool(self) -> Path:
        """Events on their way to the daemon."""
        return self.state / "spool"

    @property
    def address_file(self) -> Path:
        """What the shims know of the running daemon."""
        return self.state / "address"

    @property
    def asked_hooks_dir(self) -> Path:
        """A file for each hook event that waits for an answer."""
        return self.state / "asked"

    @property
    def outages_file(self) -> Path:
        """When the journal could not be written, and why."""
        return self.state / "troubles.json"

    @property
    def config_dirs_file(self) -> Path:
        """The config dirs of Claude Code in which our hooks are installed, one a line."""
        return self.state / "config-dirs"

    @property
    def no_answer_file(self) -> Path:
        """Put there by a shim that got no answer in time."""
        return self.state / "silent"

    @property
    def status_file(self) -> Path:
        """The board in one line, for status lines."""
        return self.state / "glance"

    @property
    def log_file(self) -> Path:
        """What the daemon did."""
        return self.state / "headspace.log"

    @property
    def secret_file(self) -> Path:
        """What the tokens of this home are made from."""
        return self.state / "secret"

    @property
    def lock_file(self) -> Path:
        """Held by the running daemon."""
        return self.runtime / "daemon.lock"

    @property
    def socket_file(self) -> Path:
        """Where the running daemon takes commands."""
        return self.runtime / "headspace.sock"

    @property
    def daemon_file(self) -> Path:
        """Where the running daemon can be reached."""
        return self.runtime / "daemon.json"

    def create_directories(self) -> None:
        """Make the directories, closed to others."""
        for place in (self.config, self.data, self.state, self.runtime, self.spool):
            place.mkdir(parents=True, exist_ok=True, mode=0o700)


def find_paths(env: Mapping[str, str] = os.environ) -> Paths:
    """The places that the environment names."""
    if home := env.get("HEADSPACE_HOME"):
        root = Path(home).expanduser().absolute()
        return Paths(root, root, root, root / "run")
    from platformdirs import PlatformDirs

    dirs = PlatformDirs("headspace", appauthor=False)
    # Without a runtime directory of the user's own platformdirs takes one in /tmp, where others could wait for us.
    runtime = dirs.user_runtime_path if env.get("XDG_RUNTIME_DIR") else dirs.user_state_path / "run"
    return Paths(dirs.user_config_path, dirs.user_data_path, dirs.user_state_path, runtime)


def claude_config_dirs(settings: Settings, places: Paths, env: Mapping[str, str] = os.environ) -> tuple[Path, ...]:
    """The directories in which clients keep their registry and transcripts, each once; read anew at every call."""
    named = [*settings.config_dirs, env.get("CLAUDE_CONFIG_DIR", ""), str(Path.home() / ".claude")]
    asked_for = [Path(name).expanduser().absolute() for name in named if name.strip()]
    return tuple(dict.fromkeys([*asked_for, *installed_config_dirs(places)]))


def installed_config_dirs(places: Paths) -> list[Path]:
    """The config dirs in which our hooks are installed and which still exist."""
    try:
        lines = places.config_dirs_file.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return []
    return [path for path in map(Path, lines) if path.is_absolute() and path.is_dir()]


def update_config_dirs(places: Paths, *, installed: Iterable[Path] = (), removed: Iterable[Path] = ()) -> None:
    """Remember where our hooks are, and where no more; the running daemon looks there within seconds."""
    noted = dict.fromkeys([*installed_config_dirs(places), *installed])
    for path in removed:
        noted.pop(path, None)
    draft = places.config_dirs_file.with_suffix(".new")
    draft.touch(mode=0o600)
    draft.write_text("".join(f"{path}\n" for path in noted), encoding="utf-8", errors="surrogateescape")
    draft.replace(places.config_dirs_file)


def load_settings(
    places: Paths, env: Mapping[str, str] = os.environ, overrides: Mapping[str, Any] | None = None
) -> Settings:
    """The settings in force; what cannot be used is named, with the place it comes from."""
    return effective_settings(places, env, overrides)[0]


def effective_settings(
    places: Paths, env: Mapping[str, str] = os.environ, overrides: Mapping[str, Any] | None = None
) -> tuple[Settings, dict[str, str]]:
    """The settings, and for each where it comes from."""
    values: dict[str, Any] = {}
    origins = dict.fromkeys(Settings.__struct_fields__, "default")
    for origin, found in (
        (str(places.config_file), _from_file(places.config_file)),
        ("environment", _from_environment(env)),
        ("command line", dict(overrides or {})),
    ):
        _check(found, origin)
        values.update(found)
        origins.update(dict.fromkeys(found, origin))
    return msgspec.convert(values, Settings, strict=False), origins


def describe_settings() -> list[tuple[str, Any, str]]:
    """Name, default and description of every setting."""
    hints = get_type_hints(Settings, include_extras=True)
    defaults = Settings()
    return [
        (name, getattr(defaults, name), hints[name].__metadata__[0].description) for name in Settings.__struct_fields__
    ]


def _from_file(path: Path) -> dict[str, Any]:
    try:
        return _flat(tomllib.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise BadConfiguration(
            "bad_configuration",
            f"{path} cannot be read: {error}",
            "Correct the file, or move it away to use the defaults.",
        ) from error


def _flat(values: dict[str, Any]) -> dict[str, Any]:
    """A table is a way to write long names: `preset` below `[policy]` is `policy_preset`."""
    found: dict[str, Any] = {}
    for name, value in values.items():
        is_prefix = isinstance(value, dict) and any(f"{name}_{inner}" in Settings.__struct_fields__ for inner in value)
        found |= {f"{name}_{inner}": each for inner, each in value.items()} if is_prefix else {name: value}
    return found


def _from_environment(env: Mapping[str, str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name in Settings.__struct_fields__:
        value = env.get(f"HEADSPACE_{name.upper()}")
        if value:
            found[name] = (
                [part.strip() for part in value.split(",") if part.strip()] if name in LIST_SETTINGS else value
            )
    if url := env.get("HEADSPACE_DATABASE_URL"):
        found["database"] = url
    return found


def _check(values: dict[str, Any], origin: str) -> None:
    try:
        for pattern in msgspec.convert(values, Settings, strict=False).redact:
            re.compile(pattern)
    except (msgspec.ValidationError, re.error) as error:
        known = ", ".join(Settings.__struct_fields__)
        raise BadConfiguration(
            "bad_configuration",
            f"A setting from {origin} cannot be used: {error}",
            f"Correct it. `headspace config` explains every setting: {known}.",
        ) from error


def without_password(url: str) -> str:
    """A database address that is safe to show: the password is removed, a SQLite URL becomes a path."""
    if url.startswith("sqlite:///"):
        return unquote(url.removeprefix("sqlite:///"))
    plain = re.sub(r"^postgresql\+\w+://", "postgresql://", url)
    return re.sub(r"(?<=[?&])\w*password=[^&]*&?", "", re.sub(r"(://[^:/@]*):.*@", r"\1@", plain)).rstrip("?&")
