"""Which database is used, and what is said when it cannot be."""

from pathlib import Path

import pytest

from claude_headspace.config import Paths, Settings
from claude_headspace.errors import BadConfiguration, JournalUnavailable
from claude_headspace.journal.open import database_url, open_configured_journal, open_journal, sqlite_path
from tests.postgres import Postgres


@pytest.fixture
def places(tmp_path: Path) -> Paths:
    """Where things live."""
    return Paths(tmp_path, tmp_path, tmp_path, tmp_path / "run")


@pytest.mark.parametrize(
    ("told", "address"),
    [
        ("/a b/c?d%.db", "sqlite:////a b/c%3Fd%25.db"),
        ("~/c.db", "sqlite:////home/me/c.db"),
        ("sqlite:////x.db", "sqlite:////x.db"),
        ("postgresql://me@db/hs", "postgresql://me@db/hs"),
    ],
)
def test_a_database_is_a_path_or_an_address(
    told: str, address: str, places: Paths, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both are understood as the setting."""
    monkeypatch.setenv("HOME", "/home/me")
    assert database_url(Settings(database=told), places) == address


def test_a_path_is_used_whatever_stands_in_it(places: Paths, tmp_path: Path) -> None:
    """The journal lies in that very file, and in the data directory when nothing is set."""
    told = tmp_path / "50% of a?b#c.db"
    open_configured_journal(Settings(database=str(told)), places).close()
    open_configured_journal(Settings(), places).close()
    assert {told, places.database} <= set(tmp_path.iterdir())
    assert sqlite_path(database_url(Settings(database=str(told)), places)) == told


@pytest.mark.parametrize("told", ["headspace.db", "./headspace.db", "sqlite:///headspace.db", "sqlite://"])
def test_where_the_daemon_starts_does_not_matter(told: str, places: Paths) -> None:
    """A path that begins nowhere is refused."""
    with pytest.raises(BadConfiguration) as refused:
        open_configured_journal(Settings(database=told), places)
    assert "Use `postgresql://user@host/name`" in refused.value.hint


def test_a_database_that_is_missing_can_be_made(postgres: Postgres) -> None:
    """The hint names the command, for a user that is missing too."""
    with pytest.raises(BadConfiguration) as refused:
        open_journal(postgres.url("nowhere"))
    assert 'database "nowhere" does not exist' in refused.value.message
    assert "`createdb -E UTF8 nowhere`" in refused.value.hint
    with pytest.raises(BadConfiguration) as unknown:
        open_journal(postgres.url("postgres").replace("//postgres:", "//stranger:"))
    assert "`createuser stranger`" in unknown.value.hint


def test_a_database_without_room_for_all_scripts_is_refused(postgres: Postgres) -> None:
    """It is not left to the first emoji to find out."""
    postgres.execute("CREATE DATABASE old ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0")
    with pytest.raises(JournalUnavailable) as refused:
        open_journal(postgres.url("old"))
    assert refused.value.code == "database_not_utf8"
    assert "LATIN1" in refused.value.message
    assert "createdb -E UTF8" in refused.value.hint


def test_a_newer_schema_is_left_alone(postgres: Postgres) -> None:
    """On a server nobody is told to move a directory."""
    address = postgres.database()
    name = address.partition("?")[0].rpartition("/")[2]
    postgres.execute("UPDATE alembic_version SET version_num = '9999'", name)
    with pytest.raises(JournalUnavailable) as refused:
        open_journal(address)
    assert refused.value.hint == "Upgrade Headspace to that version, or use another database."
