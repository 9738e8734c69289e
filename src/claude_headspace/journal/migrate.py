"""Brings a database to the schema of this version, by Alembic's history."""

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Engine

from claude_headspace.errors import JournalUnavailable

MIGRATIONS = Path(__file__).parent / "migrations"


def alembic_config(engine: Engine) -> Config:
    """Alembic's configuration, without a file: it uses the engine that it is given."""
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    config.attributes["engine"] = engine
    return config


def upgrade(engine: Engine) -> bool:
    """Upgrade to the newest schema; tells whether anything was to be done."""
    config = alembic_config(engine)
    scripts = ScriptDirectory.from_config(config)
    with engine.connect() as connection:
        current = MigrationContext.configure(connection).get_current_revision()
    if current == scripts.get_current_head():
        return False
    if current is not None and current not in {script.revision for script in scripts.walk_revisions()}:
        raise JournalUnavailable(
            "database_too_new",
            f"The database was written by a newer Headspace (schema {current}).",
            "Upgrade Headspace, or point HEADSPACE_HOME to another directory.",
        )
    command.upgrade(config, "head")
    return True
