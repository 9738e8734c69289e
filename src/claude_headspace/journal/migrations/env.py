"""Runs the migrations on the engine that `journal.migrate` hands over."""

from alembic import context
from sqlalchemy import Engine

from claude_headspace.journal.schema import metadata

engine: Engine = context.config.attributes["engine"]

with engine.begin() as connection:
    context.configure(connection=connection, target_metadata=metadata, render_as_batch=True)
    context.run_migrations()
