"""The migrations create exactly the schema."""

from pathlib import Path

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import URL, create_engine, inspect, make_url, text

from claude_headspace.errors import JournalUnavailable
from claude_headspace.journal.migrate import alembic_config, upgrade
from claude_headspace.journal.schema import metadata


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> URL:
    """An empty database of each kind."""
    if request.param == "sqlite":
        return make_url(f"sqlite:///{tmp_path}/new.db")
    return make_url(request.getfixturevalue("postgres").empty()).set(drivername="postgresql+psycopg")


def is_described(name: str | None, kind: str, _parents: object) -> bool:
    """Whether the metadata describes it; the search index is created separately for each database."""
    return kind != "table" or not (name or "").startswith("words")


def test_migrations_and_schema_agree(url: URL) -> None:
    """After all migrations the database equals the metadata."""
    engine = create_engine(url)
    assert upgrade(engine)
    options = {"include_name": is_described}
    with engine.connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection, opts=options), metadata) == []
    engine.dispose()


def test_upgrading_twice_does_nothing(tmp_path: Path) -> None:
    """A current database is not changed."""
    engine = create_engine(f"sqlite:///{tmp_path}/new.db")
    assert upgrade(engine)
    assert not upgrade(engine)
    engine.dispose()


def test_downgrading_removes_all_tables(url: URL) -> None:
    """Only Alembic's own table is left."""
    engine = create_engine(url)
    upgrade(engine)
    command.downgrade(alembic_config(engine), "base")
    assert inspect(engine).get_table_names() == ["alembic_version"]
    engine.dispose()


def test_a_newer_database_is_refused(tmp_path: Path) -> None:
    """With the advice to upgrade."""
    engine = create_engine(f"sqlite:///{tmp_path}/new.db")
    upgrade(engine)
    with engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(JournalUnavailable, match="newer"):
        upgrade(engine)
    engine.dispose()
