"""Brings a database to the schema of this version, by Alembic's history.

Alembic is only loaded when there is something to do: it is a tenth of a daemon's memory, and of its start.
"""

from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import Engine, inspect, text

from claude_headspace.errors import JournalUnavailable

if TYPE_CHECKING:
    from alembic.config import Config

MIGRATIONS = Path(__file__).parent / "migrations"
NEWEST = max(path.name.partition("_")[0] for path in (MIGRATIONS / "versions").glob("[0-9]*.py"))
"""The revision that this version writes: files are named by theirs."""


def upgrade(engine: Engine) -> bool:
    """Upgrade to the newest schema; tells whether anything was to be done."""
    current = _current(engine)
    if current == NEWEST:
        return False
    if current is not None and current > NEWEST:
        raise JournalUnavailable(
            "database_too_new",
            f"The database was written by a newer Headspace (schema {current}).",
            "Upgrade Headspace to that version, or use another database.",
        )
    from alembic import command

    command.upgrade(alembic_config(engine), "head")
    return True


def _current(engine: Engine) -> str | None:
    """The revision that the database has, if any."""
    with engine.connect() as connection:
        if not inspect(connection).has_table("alembic_version"):
            return None
        return connection.execute(text("SELECT version_num FROM alembic_version")).scalar()


def alembic_config(engine: Engine) -> "Config":
    """Alembic's configuration, without a file: it uses the engine that it is given."""
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    config.attributes["engine"] = engine
    return config
