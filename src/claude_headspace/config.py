"""Settings, and the paths of all files.

No setting is required. The sources in order of precedence, lowest first: the defaults, `config.toml`, the environment
(`HEADSPACE_PORT` for `port`, and so on), the command line. `HEADSPACE_HOME=DIR` puts all files into DIR; otherwise the
XDG directories are used.
"""

import contextlib
import errno
import os
import re
import socket
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_type_hints
from urllib.parse import unquote

import msgspec
from msgspec import Meta
from platformdirs import PlatformDirs

from claude_headspace.errors import BadConfiguration

KIB = 1024
MIB = 1024 * KIB


LIST_SETTINGS = (
    *("allowed_hosts", "config_dirs", "asked_hooks", "redact", "claude_os_core"),
    *("effort_except", "effort_gates", "push_services"),
)
"""Settings that are lists. In the environment their items are separated by commas."""

ENVIRONMENT, COMMAND_LINE = "environment", "command line"
PLACES = {ENVIRONMENT: "in the environment", COMMAND_LINE: "on the command line"}
"""The sources of settings besides the file."""

TYPE_NAMES = {"int": "an integer", "float": "a number", "bool": "true or false", "str": "a text"}


class Settings(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """All settings with defaults and descriptions."""

    host: Annotated[
        str, Meta(description='Address to listen on. Addresses other than loopback require `ingest = "token"`.')
    ] = "127.0.0.1"
    port: Annotated[int, Meta(description="Port to listen on; 0 chooses a free port.", ge=0, le=65535)] = 5055
    database: Annotated[
        str,
        Meta(
            description="Database address: `postgresql://user@host/headspace`, or an absolute path for SQLite, such as "
            "`~/headspace.db`. Empty: SQLite in the data directory. `HEADSPACE_DATABASE_URL` works, too."
        ),
    ] = ""
    ingest: Annotated[
        Literal["open", "token"],
        Meta(description="Who may send hook events: `open` accepts all local programs, `token` requires a token."),
    ] = "open"
    allowed_hosts: Annotated[
        tuple[str, ...], Meta(description="Host names, besides loopback, that the dashboard and the API accept.")
    ] = ()
    config_dirs: Annotated[
        tuple[str, ...],
        Meta(
            description="Config dirs of Claude Code to read, besides `~/.claude`, `$CLAUDE_CONFIG_DIR` and those with "
            "installed hooks."
        ),
    ] = ()
    asked_hooks: Annotated[
        tuple[str, ...],
        Meta(
            description="Hook events that wait for a reply from Headspace, by name; `*` means all. Other events cost "
            "less time."
        ),
    ] = ()
    policy_preset: Annotated[
        Literal["guard", "strict", "watch", "off"],
        Meta(
            description="Rules for tool calls: `guard` denies irreversible calls and asks before risky ones such as "
            "`sudo`, `strict` denies both, `watch` only records what `guard` would do, `off` checks nothing."
        ),
    ] = "guard"
    hold_seconds: Annotated[
        float,
        Meta(
            description="How long a question of a client can be answered through Headspace, in seconds. The dialog "
            "in the terminal stays usable. 0: never.",
            ge=0,
            le=86_000,
        ),
    ] = 3600.0
    public_url: Annotated[
        str,
        Meta(
            description="Public URL of this daemon, such as `https://headspace.example.net`. Notifications then "
            "contain links to answer. Its host name is accepted automatically. Empty: no links.",
            pattern="^(https?://[^/?#@]+/?)?$",
        ),
    ] = ""
    push_services: Annotated[
        tuple[str, ...],
        Meta(
            description="Origins of your own push services, such as `http://192.168.1.5:8080`. All others need https "
            "and a public address."
        ),
    ] = ()
    hold_headless: Annotated[
        bool, Meta(description="Whether clients without a terminal (`claude -p`) also wait for an answer.")
    ] = False
    claude_os_root: Annotated[
        str,
        Meta(
            description="Claude OS directory: core files, `.claude/roles/` and `.claude/modes/` for all sessions. "
            "Empty: only sessions with a role or a mode get files, from their own project."
        ),
    ] = ""
    claude_os_core: Annotated[
        tuple[str, ...],
        Meta(
            description="Core files, relative to that directory. Empty: `Desktop/TODAY.md`, `Desktop/MEMORY.md` and "
            "`Desktop/SYSTEM-INDEX.md`, if they exist."
        ),
    ] = ()
    claude_os_prefix: Annotated[
        str, Meta(description="Prefix of texts for sessions: `[CLAUDE OS SYS: INFO]: …`.", max_length=60)
    ] = "CLAUDE OS SYS"
    claude_os_warnings: Annotated[
        Literal["auto", "all", "off"],
        Meta(
            description="Which sessions are warned about a full context and reminded of a missing note: `auto` those "
            "with a role or a mode, or all if `claude_os_root` or `claude_os_core` is set; `all`; `off` none."
        ),
    ] = "auto"
    claude_os_note_after: Annotated[
        float,
        Meta(description="Seconds without a note after which a session is reminded once. 0: never.", ge=0),
    ] = 120.0
    effort_start: Annotated[
        Literal["phases", "off"],
        Meta(
            description="Whether typing `/skill` in a client starts an effort: `phases` if the skill declares phases, "
            "`off` never. `effort: true` or `effort: false` in a SKILL.md decides for one skill."
        ),
    ] = "phases"
    effort_except: Annotated[
        tuple[str, ...],
        Meta(
            description="Where typing `/skill` starts no effort: names of skills, directories of projects, or both as "
            "`~/code/shop:fix`."
        ),
    ] = ()
    effort_heartbeat_limit: Annotated[
        int, Meta(description="Tool calls without a log entry from which on an effort denies them.", ge=1)
    ] = 10
    effort_heartbeat_warn: Annotated[
        int, Meta(description="Tool calls without a log entry from which on an effort warns.", ge=1)
    ] = 7
    effort_overflow_at: Annotated[
        int, Meta(description="Context usage in percent at which an effort requests the handover.", ge=1)
    ] = 90
    effort_gates: Annotated[
        tuple[str, ...],
        Meta(
            description="What a new effort requires before tools run: `session` (opened), and paths of files to read."
        ),
    ] = ()
    machine: Annotated[
        str,
        Meta(
            description="Name of this machine on the board. Identifies its agents in a shared database. Empty: the "
            "host name."
        ),
    ] = ""
    patience_seconds: Annotated[
        float,
        Meta(description="How long a hook waits for the database, in seconds. Then its event goes to the spool.", gt=0),
    ] = 1.0
    max_body_bytes: Annotated[
        int, Meta(description="Maximum size of a hook or request; larger ones are rejected with status 413.", ge=1024)
    ] = 64 * MIB
    max_text_bytes: Annotated[
        int, Meta(description="Maximum size of a stored prompt or reply; longer texts are cut in the middle.", ge=1024)
    ] = 256 * KIB
    max_result_bytes: Annotated[
        int,
        Meta(description="Maximum size of a stored tool input or result; longer ones are cut in the middle.", ge=1024),
    ] = 32 * KIB
    max_connections: Annotated[
        int,
        Meta(description="Maximum number of HTTP connections; above it, the one that waited longest is closed.", ge=16),
    ] = 1024
    max_connections_per_peer: Annotated[
        int, Meta(description="The same for the connections from one address.", ge=8)
    ] = 768
    idle_seconds: Annotated[
        float,
        Meta(
            description="Seconds after which an HTTP connection without requests, or that is not read, is closed.",
            gt=0,
        ),
    ] = 10.0
    request_seconds: Annotated[
        float,
        Meta(
            description="Seconds for a new connection to send its first request, and between two parts of a request.",
            gt=0,
        ),
    ] = 5.0
    max_buffered_bytes: Annotated[
        int,
        Meta(
            description="Maximum size of all requests that are being received; above it, the one that stalled longest "
            "is dropped.",
            ge=1024,
        ),
    ] = 64 * MIB
    redact: Annotated[
        tuple[str, ...],
        Meta(description="Regular expressions for secrets to redact, besides the built-in ones."),
    ] = ()
    retention_days: Annotated[
        int, Meta(description="Days after which `db prune` deletes events; 0 keeps all events.", ge=0)
    ] = 0
    heartbeat_seconds: Annotated[float, Meta(description="Seconds between heartbeat comments of the stream.", gt=0)] = (
        15.0
    )
    hooks_silent_after: Annotated[
        float, Meta(description="Seconds without a hook after which sessions are checked more often.", gt=0)
    ] = 300.0
    polling_seconds: Annotated[
        float, Meta(description="Seconds between checks of sessions while hooks arrive.", gt=0)
    ] = 60.0
    silent_polling_seconds: Annotated[
        float, Meta(description="Seconds between checks of sessions while no hooks arrive.", gt=0)
    ] = 2.0
    tmux_colours: Annotated[
        bool, Meta(description="Whether tmux windows show the colour of their most urgent agent.")
    ] = False
    worktree_directory: Annotated[
        str,
        Meta(min_length=1, description="Where `run --worktree` creates worktrees; relative to the repository."),
    ] = "../{project}-worktrees"
    log_level: Annotated[
        Literal["debug", "info", "warning", "error"], Meta(description="Minimum level of entries in the log file.")
    ] = "info"

    @property
    def host_name(self) -> str:
        """The machine name of local agents."""
        return self.machine or socket.gethostname()


class PathBelow:
    """A path below another path of the same object, which is named by its attribute."""

    def __init__(self, directory: str, name: str) -> None:
        self._directory = directory
        self._name = name

    def __get__(self, owner: object, _owner_type: type | None = None) -> Path:
        directory: Path = getattr(owner, self._directory)
        return directory / self._name


class Paths(msgspec.Struct, frozen=True):
    """The paths of all files. Directories have mode 0700, files 0600."""

    config: Path
    data: Path
    state: Path
    runtime: Path

    config_file = PathBelow("config", "config.toml")
    """The settings of the user."""
    policy_file = PathBelow("config", "policy.toml")
    """The policy rules of the user."""
    notify_file = PathBelow("config", "notify.toml")
    """The notification rules of the user."""
    redaction_file = PathBelow("config", "redact.toml")
    """The rules of the user for secrets."""
    contacts_file = PathBelow("config", "contacts.toml")
    """The people that agents may send messages to."""
    keys_file = PathBelow("config", "keys.toml")
    """The user's own keys of `headspace top`."""
    prompts_dir = PathBelow("config", "prompts")
    """The saved prompts of the user, one file each."""
    database = PathBelow("data", "headspace.db")
    """The SQLite database."""
    spool = PathBelow("state", "spool")
    """Events that wait for the daemon."""
    address_file = PathBelow("state", "address")
    """The address of the running daemon, for hook scripts."""
    asked_hooks_dir = PathBelow("state", "asked")
    """The directory with one file for each hook event that waits for a reply."""
    outages_file = PathBelow("state", "troubles.json")
    """Recorded outages of the database."""
    config_dirs_file = PathBelow("state", "config-dirs")
    """The config dirs of Claude Code with installed hooks, one per line."""
    no_answer_file = PathBelow("state", "silent")
    """Created by a hook script that got no answer in time."""
    demo_file = PathBelow("state", "demo")
    """Exists in the temporary home of the demo, whose agents have no terminal."""
    board_view_file = PathBelow("state", "board.json")
    """How you want to see the board in `list` and `top`: order, groups, pins."""
    status_file = PathBelow("state", "glance")
    """The board in one line, for status lines."""
    log_file = PathBelow("state", "headspace.log")
    """The log of the daemon."""
    reserve_file = PathBelow("state", "reserve")
    """Space on the disk that a daemon frees if it starts on a full one."""
    secret_file = PathBelow("state", "secret")
    """The secret that local tokens are made from."""
    push_key_file = PathBelow("state", "push-key.pem")
    """The key that signs pushes."""
    push_subscriptions_file = PathBelow("state", "push-subscriptions.json")
    """The browsers that receive pushes."""
    lock_file = PathBelow("runtime", "daemon.lock")
    """The lock that the running daemon holds."""
    socket_file = PathBelow("runtime", "headspace.sock")
    """The Unix socket of the running daemon."""
    daemon_file = PathBelow("runtime", "daemon.json")
    """The address, pid and version of the running daemon."""

    def create_directories(self) -> None:
        """Create the directories, private to the user."""
        for directory in (self.config, self.data, self.state, self.runtime, self.spool):
            directory.mkdir(parents=True, exist_ok=True, mode=0o700)


def find_paths(env: Mapping[str, str] = os.environ) -> Paths:
    """The paths for an environment."""
    if home := env.get("HEADSPACE_HOME"):
        root = Path(home).expanduser().absolute()
        return Paths(root, root, root, root / "run")

    dirs = PlatformDirs("headspace", appauthor=False)
    # Without XDG_RUNTIME_DIR platformdirs chooses a directory in /tmp, which other users could prepare.
    runtime = dirs.user_runtime_path if env.get("XDG_RUNTIME_DIR") else dirs.user_state_path / "run"
    return Paths(dirs.user_config_path, dirs.user_data_path, dirs.user_state_path, runtime)


def write_private_file(path: Path, content: bytes) -> None:
    """Write a file atomically, readable by its user alone."""
    draft = path.with_name(f"{path.name}.new")
    draft.unlink(missing_ok=True)
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(handle, "wb") as file:
        file.write(content)
    draft.replace(path)


NO_SPACE = (errno.ENOSPC, errno.EDQUOT)


def write_kept_file(path: Path, content: bytes) -> None:
    """Write a private file. On a full disk it uses the space that `withdraw_file` kept, or that of the file itself."""
    try:
        write_private_file(path, content)
    except OSError as error:
        path.with_name(f"{path.name}.new").unlink(missing_ok=True)
        found = next((each for each in (_kept(path), path) if each.is_file()), None)
        if error.errno not in NO_SPACE or found is None:
            raise
        _overwrite(found, content)
        found.replace(path)


def withdraw_file(path: Path) -> None:
    """Remove a file, but keep its space under another name, so that it can be written again on a full disk."""
    with contextlib.suppress(OSError):
        _overwrite(path, b"\n" * path.lstat().st_size)
        path.replace(_kept(path))
    path.unlink(missing_ok=True)


def _kept(path: Path) -> Path:
    return path.with_name(f"{path.name}.kept")


def _overwrite(path: Path, content: bytes) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        os.pwrite(handle, content, 0)
        os.ftruncate(handle, len(content))
    finally:
        os.close(handle)


def load_settings(
    paths: Paths, env: Mapping[str, str] = os.environ, overrides: Mapping[str, Any] | None = None
) -> Settings:
    """The settings in use. Raises `BadConfiguration` with the name and the source of an invalid setting."""
    return effective_settings(paths, env, overrides)[0]


def effective_settings(
    paths: Paths, env: Mapping[str, str] = os.environ, overrides: Mapping[str, Any] | None = None
) -> tuple[Settings, dict[str, str]]:
    """The settings in use, and the source of each."""
    values: dict[str, Any] = {}
    origins = dict.fromkeys(Settings.__struct_fields__, "default")
    for origin, found in (
        (str(paths.config_file), _from_file(paths.config_file)),
        (ENVIRONMENT, _from_environment(env)),
        (COMMAND_LINE, dict(overrides or {})),
    ):
        check_settings(found, origin)
        values.update(found)
        origins.update(dict.fromkeys(found, origin))
    return msgspec.convert(values, Settings, strict=False), origins


def parse_value(name: str, text: str) -> Any:
    """The value that a text means for a setting. Raises `BadConfiguration` if it is invalid."""
    found = _from_environment({f"HEADSPACE_{name.upper()}": text}) or {name: text}
    check_settings(found, COMMAND_LINE)
    return getattr(msgspec.convert(found, Settings, strict=False), name)


def describe_settings() -> list[tuple[str, Any, str]]:
    """Name, default and description of every setting."""
    hints = get_type_hints(Settings, include_extras=True)
    defaults = Settings()
    return [
        (name, getattr(defaults, name), hints[name].__metadata__[0].description) for name in Settings.__struct_fields__
    ]


def choices_of(name: str) -> list[str]:
    """The possible values of a setting; empty if there are others."""
    return [] if name in LIST_SETTINGS else list(get_args(get_type_hints(Settings)[name]))


def _from_file(path: Path) -> dict[str, Any]:
    return parse_settings(read_settings(path), str(path))


def read_settings(path: Path) -> str:
    """The text of a file of settings; empty if it does not exist."""
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as error:
        raise _unreadable(str(path), error) from error


def parse_settings(text: str, file: str) -> dict[str, Any]:
    """The settings in the text of a file, by name. They are not validated."""
    try:
        return _flat(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise _unreadable(file, error) from error


def _unreadable(file: str, error: Exception) -> BadConfiguration:
    return BadConfiguration(
        "bad_configuration", f"{file} cannot be read: {error}", "Fix the file, or remove it to use the defaults."
    )


def _flat(values: dict[str, Any]) -> dict[str, Any]:
    """Settings without tables: `preset` in the table `[policy]` becomes `policy_preset`."""
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


def check_settings(values: Mapping[str, Any], origin: str) -> None:
    """Raise `BadConfiguration` with the name and the source of the first invalid setting."""
    for name, value in values.items():
        try:
            for pattern in msgspec.convert({name: value}, Settings, strict=False).redact:
                re.compile(pattern)
        except (msgspec.ValidationError, re.error) as error:
            raise BadConfiguration(
                "bad_configuration",
                _describe_problem(name, value, origin, error),
                f"Correct `{name}` {PLACES.get(origin, f'in {origin}')}. docs/configuration.md lists all settings.",
            ) from error


def _describe_problem(name: str, value: Any, origin: str, error: Exception) -> str:
    """Why a value is invalid: "`HEADSPACE_PORT` must be an integer, not 'abc'."."""
    if name not in Settings.__struct_fields__:
        return f"There is no setting `{name}`."
    shown = f"HEADSPACE_{name.upper()}" if origin == ENVIRONMENT else name
    if isinstance(error, re.error):
        return f"`{shown}` contains an invalid regular expression: {error}."
    if choices := choices_of(name):
        return f"`{shown}` must be {', '.join(map(repr, choices[:-1]))} or {choices[-1]!r}, not {value!r}."
    if name in LIST_SETTINGS:
        return f"`{shown}` must be a list of texts, not {value!r}."
    if expected := re.match(r"Expected `(\w+)`(?:,|( [<>]=? [\d.]+))", str(error)):
        return f"`{shown}` must be {TYPE_NAMES[expected[1]]}{expected[2] or ''}, not {value!r}."
    return f"`{shown}` is not valid: {value!r}."


def without_password(url: str) -> str:
    """A database address that is safe to show: the password is removed, a SQLite URL becomes a path."""
    if url.startswith("sqlite:///"):
        return unquote(url.removeprefix("sqlite:///"))
    plain = re.sub(r"^postgresql\+\w+://", "postgresql://", url)
    return re.sub(r"(?<=[?&])\w*password=[^&]*&?", "", re.sub(r"(://[^:/@]*):.*@", r"\1@", plain)).rstrip("?&")
