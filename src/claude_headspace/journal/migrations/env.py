"""Runs the migrations on the engine of `journal.migrate`, one daemon at a time."""

from alembic import context
from sqlalchemy import Engine

from claude_headspace.journal.dialects import lock_journal
from claude_headspace.journal.schema import metadata

engine: Engine = context.config.attributes["engine"]

with engine.begin() as connection:
    if connection.dialect.name == "postgresql":
        lock_journal(connection)  # a daemon that waited here finds nothing to migrate
    context.configure(connection=connection, target_metadata=metadata, render_as_batch=True)
    context.run_migrations()
