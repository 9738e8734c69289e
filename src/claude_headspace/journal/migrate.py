"""Migrates a database to the schema of this version, with Alembic.

Alembic is imported only if there is something to migrate: it takes a tenth of the daemon's memory and start time.
"""

from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import Engine, inspect, text

from claude_headspace.errors import JournalUnavailable

if TYPE_CHECKING:
    from alembic.config import Config

MIGRATIONS = Path(__file__).parent / "migrations"
NEWEST = max(path.name.partition("_")[0] for path in (MIGRATIONS / "versions").glob("[0-9]*.py"))
"""The newest revision. Migration files start with their revision."""


def upgrade(engine: Engine) -> bool:
    """Upgrade to the newest schema; returns whether anything was migrated."""
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
    """The revision of the database, if it has one."""
    with engine.connect() as connection:
        if not inspect(connection).has_table("alembic_version"):
            return None
        return connection.execute(text("SELECT version_num FROM alembic_version")).scalar()


def alembic_config(engine: Engine) -> "Config":
    """Alembic's configuration, without a file: it uses the given engine."""
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    config.attributes["engine"] = engine
    return config
