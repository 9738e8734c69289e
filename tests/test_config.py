"""Settings with their sources, and the paths of files."""

import json
import os
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

import pytest

from claude_headspace.config import (
    Paths,
    Settings,
    describe_settings,
    effective_settings,
    find_paths,
    load_settings,
    without_password,
)
from claude_headspace.errors import BadConfiguration


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    """The paths of a scratch home."""
    return find_paths({"HEADSPACE_HOME": str(tmp_path)})


def test_defaults(paths: Paths) -> None:
    """No file and no variable is required."""
    settings = load_settings(paths, {})
    assert settings == Settings()
    assert (settings.host, settings.port, settings.ingest) == ("127.0.0.1", 5055, "open")
    assert (settings.polling_seconds, settings.silent_polling_seconds, settings.hooks_silent_after) == (60, 2, 300)
    assert settings.max_body_bytes == 64 * 1024 * 1024


def test_precedence_of_sources(paths: Paths) -> None:
    """The command line wins over the environment, the environment over the file, the file over the defaults."""
    paths.config_file.write_text('port = 1\nheartbeat_seconds = 2\nmachine = "file"\nlog_level = "debug"\n')
    settings, origins = effective_settings(
        paths, {"HEADSPACE_PORT": "2", "HEADSPACE_MACHINE": "environment"}, {"port": 3}
    )
    assert (settings.port, settings.machine, settings.heartbeat_seconds) == (3, "environment", 2.0)
    assert origins["port"] == "command line"
    assert origins["machine"] == "environment"
    assert origins["heartbeat_seconds"] == origins["log_level"] == str(paths.config_file)
    assert origins["host"] == "default"


SHAPED = {"public_url": "https://headspace.example.net"}
"""Values of settings that take no other text."""


def sample(kind: Any) -> Any:
    """A value of a setting's type, other than any default."""
    if get_origin(kind) is Literal:
        return get_args(kind)[-1]
    return {int: 2048, float: 1.5, str: "text", tuple: ("a", "b"), bool: True}[get_origin(kind) or kind]


def test_every_setting_has_a_variable_and_a_description(paths: Paths) -> None:
    """And can be set in the file."""
    samples = {name: sample(kind) for name, kind in get_type_hints(Settings).items()} | SHAPED
    assert samples.keys() == set(Settings.__struct_fields__)
    for name, value in samples.items():
        text = ",".join(value) if isinstance(value, tuple) else str(value)
        assert getattr(load_settings(paths, {f"HEADSPACE_{name.upper()}": text}), name) == value
        written = list(value) if isinstance(value, tuple) else value
        paths.config_file.write_text(f"{name} = {json.dumps(written)}\n")
        assert getattr(load_settings(paths, {}), name) == value
        paths.config_file.unlink()
    described = {name: (default, description) for name, default, description in describe_settings()}
    assert described.keys() == samples.keys()
    assert all(description for _, description in described.values())


def test_the_database_has_a_second_variable(paths: Paths) -> None:
    """HEADSPACE_DATABASE_URL works, too."""
    url = "postgresql://localhost/headspace"
    assert load_settings(paths, {"HEADSPACE_DATABASE_URL": url}).database == url


def test_an_empty_variable_is_ignored(paths: Paths) -> None:
    """The setting keeps its value."""
    assert load_settings(paths, {"HEADSPACE_PORT": "", "HEADSPACE_ALLOWED_HOSTS": ""}) == Settings()


@pytest.mark.parametrize("text", ["a.lan,b.lan", "a.lan, b.lan", " a.lan ,b.lan,", ",a.lan,,b.lan"])
def test_lists_are_separated_by_commas(paths: Paths, text: str) -> None:
    """Spaces and empty items are ignored."""
    assert load_settings(paths, {"HEADSPACE_ALLOWED_HOSTS": text}).allowed_hosts == ("a.lan", "b.lan")


BAD = {
    "port = 65536": "port",
    "port = -1": "port",
    'port = "many"': "port",
    "port = 1.5": "port",
    "heartbeat_seconds = 0": "heartbeat_seconds",
    "heartbeat_seconds = nan": "heartbeat_seconds",
    "polling_seconds = -1": "polling_seconds",
    "max_body_bytes = 1": "max_body_bytes",
    'ingest = "maybe"': "ingest",
    'log_level = "loud"': "log_level",
    'allowed_hosts = "a.lan"': "allowed_hosts",
    "allowed_hosts = [1]": "allowed_hosts",
    "prot = 5055": "prot",
    "[port]": "port",
    "host = 127": "host",
}


@pytest.mark.parametrize("line", BAD)
def test_an_invalid_setting_in_the_file(paths: Paths, line: str) -> None:
    """The error names the setting, and the hint names the setting and the file."""
    paths.config_file.write_text(line + "\n")
    with pytest.raises(BadConfiguration) as caught:
        load_settings(paths, {})
    assert BAD[line] in caught.value.message
    assert str(paths.config_file) in caught.value.hint
    assert BAD[line] in caught.value.hint


@pytest.mark.parametrize(
    ("name", "value"), [("PORT", "http"), ("PORT", "70000"), ("HEARTBEAT_SECONDS", "nan"), ("INGEST", "x")]
)
def test_an_invalid_variable(paths: Paths, name: str, value: str) -> None:
    """The error names the variable, and the hint names the environment."""
    with pytest.raises(BadConfiguration, match=f"`HEADSPACE_{name}` must be") as caught:
        load_settings(paths, {f"HEADSPACE_{name}": value})
    assert "in the environment" in caught.value.hint


@pytest.mark.parametrize("content", [b"port = ", b"\xff\xfe", b"port = 1\nport = 2\n", b"{}"])
def test_an_invalid_file(paths: Paths, content: bytes) -> None:
    """The error names the file, and the hint says what to do."""
    paths.config_file.write_bytes(content)
    with pytest.raises(BadConfiguration) as caught:
        load_settings(paths, {})
    assert str(paths.config_file) in caught.value.message
    assert "remove it" in caught.value.hint


def test_a_directory_instead_of_the_file(paths: Paths) -> None:
    """It is an error and not treated as missing."""
    paths.config_file.mkdir(parents=True)
    with pytest.raises(BadConfiguration, match=r"config\.toml"):
        load_settings(paths, {})


def test_headspace_home(tmp_path: Path) -> None:
    """All paths are in this directory, as absolute paths."""
    paths = find_paths({"HEADSPACE_HOME": str(tmp_path / "home")})
    for path in (paths.config_file, paths.database, paths.spool, paths.log_file, paths.secret_file):
        assert path.is_relative_to(tmp_path / "home")
    assert paths.daemon_file.is_relative_to(tmp_path / "home")
    assert find_paths({"HEADSPACE_HOME": "relative"}).data == Path.cwd() / "relative"


def test_directories_are_private(tmp_path: Path) -> None:
    """Other users have no access."""
    paths = find_paths({"HEADSPACE_HOME": str(tmp_path / "home")})
    paths.create_directories()
    paths.create_directories()
    for place in (paths.data, paths.runtime, paths.spool):
        assert place.stat().st_mode & 0o777 == 0o700


def test_machine_name() -> None:
    """The host name, or the setting."""
    assert Settings().host_name == os.uname().nodename
    assert Settings(machine="laptop").host_name == "laptop"


def test_tables_are_prefixes(tmp_path: Path) -> None:
    """`preset` in `[policy]` is `policy_preset`; an unknown table is an unknown setting."""
    (tmp_path / "config.toml").write_text('[policy]\npreset = "watch"\n')
    assert load_settings(find_paths({"HEADSPACE_HOME": str(tmp_path)}), {}).policy_preset == "watch"
    (tmp_path / "config.toml").write_text('[policy]\npresent = "watch"\n')
    with pytest.raises(BadConfiguration, match="policy"):
        load_settings(find_paths({"HEADSPACE_HOME": str(tmp_path)}), {})


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("postgresql://me:p@ss/w@host/db", "postgresql://me@host/db"),
        ("postgresql+psycopg://me:sesame@host:5433/db", "postgresql://me@host:5433/db"),
        ("postgresql://me@host/db?password=sesame&sslmode=require", "postgresql://me@host/db?sslmode=require"),
        ("postgresql://me@host/db?sslmode=require&password=sesame", "postgresql://me@host/db?sslmode=require"),
        ("postgresql:///db?host=/run/postgresql", "postgresql:///db?host=/run/postgresql"),
        ("sqlite:////data/a b%3F.db", "/data/a b?.db"),
        ("~/headspace.db", "~/headspace.db"),
        ("", ""),
    ],
)
def test_addresses_without_passwords(address: str, shown: str) -> None:
    """The address stays usable."""
    assert without_password(address) == shown
