"""Settings and places: where each value comes from, and that a wrong one is named with the place it stands in."""

import json
import os
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

import pytest

from claude_headspace.config import (
    Paths,
    Settings,
    claude_config_dirs,
    describe_settings,
    effective_settings,
    find_paths,
    load_settings,
    update_config_dirs,
    without_password,
)
from claude_headspace.errors import BadConfiguration


@pytest.fixture
def places(tmp_path: Path) -> Paths:
    """The places of a home of its own."""
    return find_paths({"HEADSPACE_HOME": str(tmp_path)})


def test_nothing_needs_configuring(places: Paths) -> None:
    """Without file and environment the defaults hold, and they are those of the specification."""
    settings = load_settings(places, {})
    assert settings == Settings()
    assert (settings.host, settings.port, settings.ingest) == ("127.0.0.1", 5055, "open")
    assert (settings.polling_seconds, settings.silent_polling_seconds, settings.hooks_silent_after) == (60, 2, 300)
    assert settings.max_body_bytes == 64 * 1024 * 1024


def test_later_words_win(places: Paths) -> None:
    """The file over the defaults, the environment over the file, the command line over all; each is told apart."""
    places.config_file.write_text('port = 1\nheartbeat_seconds = 2\nmachine = "file"\nlog_level = "debug"\n')
    settings, origins = effective_settings(
        places, {"HEADSPACE_PORT": "2", "HEADSPACE_MACHINE": "environment"}, {"port": 3}
    )
    assert (settings.port, settings.machine, settings.heartbeat_seconds) == (3, "environment", 2.0)
    assert origins["port"] == "command line"
    assert origins["machine"] == "environment"
    assert origins["heartbeat_seconds"] == origins["log_level"] == str(places.config_file)
    assert origins["host"] == "default"


SHAPED = {"public_url": "https://headspace.example.net"}
"""Values of settings that take no other text."""


def sample(kind: Any) -> Any:
    """A value of a setting's type, other than any default."""
    if get_origin(kind) is Literal:
        return get_args(kind)[-1]
    return {int: 2048, float: 1.5, str: "text", tuple: ("a", "b"), bool: True}[get_origin(kind) or kind]


def test_every_setting_can_come_from_everywhere(places: Paths) -> None:
    """Each one has its variable, its line in the file, and a description."""
    samples = {name: sample(kind) for name, kind in get_type_hints(Settings).items()} | SHAPED
    assert samples.keys() == set(Settings.__struct_fields__)
    for name, value in samples.items():
        text = ",".join(value) if isinstance(value, tuple) else str(value)
        assert getattr(load_settings(places, {f"HEADSPACE_{name.upper()}": text}), name) == value
        written = list(value) if isinstance(value, tuple) else value
        places.config_file.write_text(f"{name} = {json.dumps(written)}\n")
        assert getattr(load_settings(places, {}), name) == value
        places.config_file.unlink()
    described = {name: (default, description) for name, default, description in describe_settings()}
    assert described.keys() == samples.keys()
    assert all(description for _, description in described.values())


def test_the_database_has_a_second_variable(places: Paths) -> None:
    """The usual name of database addresses is understood."""
    url = "postgresql://localhost/headspace"
    assert load_settings(places, {"HEADSPACE_DATABASE_URL": url}).database == url


def test_an_empty_variable_is_none(places: Paths) -> None:
    """A variable that is set to nothing leaves the setting as it is."""
    assert load_settings(places, {"HEADSPACE_PORT": "", "HEADSPACE_ALLOWED_HOSTS": ""}) == Settings()


@pytest.mark.parametrize("text", ["a.lan,b.lan", "a.lan, b.lan", " a.lan ,b.lan,", ",a.lan,,b.lan"])
def test_a_list_of_names_is_written_with_commas(places: Paths, text: str) -> None:
    """Spaces and empty places in the list mean nothing, least of all an empty name."""
    assert load_settings(places, {"HEADSPACE_ALLOWED_HOSTS": text}).allowed_hosts == ("a.lan", "b.lan")


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
def test_a_wrong_line_is_named(places: Paths, line: str) -> None:
    """The message names the setting and the file, and the hint says what there is."""
    places.config_file.write_text(line + "\n")
    with pytest.raises(BadConfiguration) as caught:
        load_settings(places, {})
    assert BAD[line] in caught.value.message
    assert str(places.config_file) in caught.value.message
    assert "port" in caught.value.hint


@pytest.mark.parametrize(
    ("name", "value"), [("PORT", "http"), ("PORT", "70000"), ("HEARTBEAT_SECONDS", "nan"), ("INGEST", "x")]
)
def test_a_wrong_variable_is_named(places: Paths, name: str, value: str) -> None:
    """What the environment says wrongly is told to come from there."""
    with pytest.raises(BadConfiguration, match="environment"):
        load_settings(places, {f"HEADSPACE_{name}": value})


@pytest.mark.parametrize("content", [b"port = ", b"\xff\xfe", b"port = 1\nport = 2\n", b"{}"])
def test_a_file_that_is_no_toml_is_named(places: Paths, content: bytes) -> None:
    """The message names the file, and the hint a way out."""
    places.config_file.write_bytes(content)
    with pytest.raises(BadConfiguration) as caught:
        load_settings(places, {})
    assert str(places.config_file) in caught.value.message
    assert "remove it" in caught.value.hint


def test_a_directory_in_place_of_the_file_is_named(places: Paths) -> None:
    """What cannot be opened is no default."""
    places.config_file.mkdir(parents=True)
    with pytest.raises(BadConfiguration, match=r"config\.toml"):
        load_settings(places, {})


def test_one_variable_moves_everything(tmp_path: Path) -> None:
    """With HEADSPACE_HOME all places lie under that directory, by its absolute name."""
    places = find_paths({"HEADSPACE_HOME": str(tmp_path / "home")})
    for path in (places.config_file, places.database, places.spool, places.log_file, places.secret_file):
        assert path.is_relative_to(tmp_path / "home")
    assert places.daemon_file.is_relative_to(tmp_path / "home")
    assert find_paths({"HEADSPACE_HOME": "relative"}).data == Path.cwd() / "relative"


def test_places_are_made_for_their_user_alone(tmp_path: Path) -> None:
    """Nobody else can look into them."""
    places = find_paths({"HEADSPACE_HOME": str(tmp_path / "home")})
    places.create_directories()
    places.create_directories()
    for place in (places.data, places.runtime, places.spool):
        assert place.stat().st_mode & 0o777 == 0o700


def test_the_machine_has_a_name() -> None:
    """Agents carry the host's name, or the one that the user gave."""
    assert Settings().host_name == os.uname().nodename
    assert Settings(machine="laptop").host_name == "laptop"


def test_config_dirs_with_our_hooks_are_remembered(places: Paths, tmp_path: Path) -> None:
    """They are looked into beside the usual ones while they exist, each once, until the hooks are taken away."""
    work, gone, env = tmp_path / "work", tmp_path / "gone", {"CLAUDE_CONFIG_DIR": str(tmp_path / "own")}
    work.mkdir()
    places.create_directories()
    usual = claude_config_dirs(Settings(), places, env)
    update_config_dirs(places, installed=[work, work, gone])
    update_config_dirs(places, installed=[work])
    assert claude_config_dirs(Settings(), places, env) == (*usual, work)
    update_config_dirs(places, removed=[work])
    assert claude_config_dirs(Settings(), places, env) == usual


def test_a_table_is_a_way_to_write_long_names(tmp_path: Path) -> None:
    """`preset` below `[policy]` is `policy_preset`; a table that stands for nothing is an unknown setting."""
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
def test_an_address_is_shown_as_it_is_written_without_its_password(address: str, shown: str) -> None:
    """It can be used as it is shown, and tells no password, whatever stands in it."""
    assert without_password(address) == shown
