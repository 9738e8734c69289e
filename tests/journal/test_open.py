"""Which database is used, and the errors if it cannot be opened."""

from pathlib import Path

import pytest

from claude_headspace.config import Paths, Settings
from claude_headspace.errors import BadConfiguration, JournalUnavailable
from claude_headspace.journal.open import database_url, open_configured_journal, open_journal, sqlite_path
from tests.postgres import Postgres


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    """Paths in a temporary directory."""
    return Paths(tmp_path, tmp_path, tmp_path, tmp_path / "run")


@pytest.mark.parametrize(
    ("setting", "address"),
    [
        ("/a b/c?d%.db", "sqlite:////a b/c%3Fd%25.db"),
        ("~/c.db", "sqlite:////home/me/c.db"),
        ("sqlite:////x.db", "sqlite:////x.db"),
        ("postgresql://me@db/hs", "postgresql://me@db/hs"),
    ],
)
def test_the_setting_is_a_path_or_a_url(
    setting: str, address: str, paths: Paths, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A path becomes a SQLite URL."""
    monkeypatch.setenv("HOME", "/home/me")
    assert database_url(Settings(database=setting), paths) == address


def test_a_path_may_contain_any_character(paths: Paths, tmp_path: Path) -> None:
    """The journal is in that file, or in the data directory if nothing is set."""
    path = tmp_path / "50% of a?b#c.db"
    open_configured_journal(Settings(database=str(path)), paths).close()
    open_configured_journal(Settings(), paths).close()
    assert {path, paths.database} <= set(tmp_path.iterdir())
    assert sqlite_path(database_url(Settings(database=str(path)), paths)) == path


@pytest.mark.parametrize("setting", ["headspace.db", "./headspace.db", "sqlite:///headspace.db", "sqlite://"])
def test_a_relative_path_is_refused(setting: str, paths: Paths) -> None:
    """The working directory of the daemon must not matter."""
    with pytest.raises(BadConfiguration) as refused:
        open_configured_journal(Settings(database=setting), paths)
    assert "Use `postgresql://user@host/name`" in refused.value.hint


def test_the_hint_creates_a_missing_database(postgres: Postgres) -> None:
    """And a missing user."""
    with pytest.raises(BadConfiguration) as refused:
        open_journal(postgres.url("nowhere"))
    assert 'database "nowhere" does not exist' in refused.value.message
    assert "`createdb -E UTF8 nowhere`" in refused.value.hint
    with pytest.raises(BadConfiguration) as unknown:
        open_journal(postgres.url("postgres").replace("//postgres:", "//stranger:"))
    assert "`createuser stranger`" in unknown.value.hint


def test_a_database_that_is_not_utf8_is_refused(postgres: Postgres) -> None:
    """When it is opened, not at the first emoji."""
    postgres.execute("CREATE DATABASE old ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0")
    with pytest.raises(JournalUnavailable) as refused:
        open_journal(postgres.url("old"))
    assert refused.value.code == "database_not_utf8"
    assert "LATIN1" in refused.value.message
    assert "createdb -E UTF8" in refused.value.hint


def test_a_newer_schema_is_refused(postgres: Postgres) -> None:
    """With the advice to upgrade."""
    address = postgres.database()
    name = address.partition("?")[0].rpartition("/")[2]
    postgres.execute("UPDATE alembic_version SET version_num = '9999'", name)
    with pytest.raises(JournalUnavailable) as refused:
        open_journal(address)
    assert refused.value.hint == "Upgrade Headspace to that version, or use another database."
