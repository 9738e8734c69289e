"""The log, the stream and the projections."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Make the tables, and the counter that numbers everything."""
    op.create_table(
        "agents",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("kernel_version", sa.SmallInteger(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_agents"),
        info={"projection": True},
    )
    op.create_table(
        "commands",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("agent_id", sa.Text(), nullable=False),
        sa.Column("started_at", sa.BigInteger(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_commands"),
        info={"projection": True},
    )
    op.create_index("ix_commands_agent_id_started_at", "commands", ["agent_id", "started_at"])
    op.create_table(
        "counters",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("value", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_counters"),
    )
    op.create_table(
        "events",
        sa.Column("seq", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("delivery_id", sa.Text(), nullable=True),
        sa.Column("agent_id", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("origin", sa.Text(), nullable=False),
        sa.Column("client", sa.Text(), nullable=False),
        sa.Column("host", sa.Text(), nullable=False),
        sa.Column("fired_at", sa.BigInteger(), nullable=False),
        sa.Column("received_at", sa.BigInteger(), nullable=False),
        sa.Column("strategy", sa.Text(), nullable=False),
        sa.Column("context", sa.Text(), nullable=False),
        sa.Column("payload", sa.Text(), nullable=False),
        sa.Column("anomaly", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("seq", name="pk_events"),
    )
    op.create_index("ix_events_agent_id_seq", "events", ["agent_id", "seq"])
    op.create_index(
        "ix_events_anomaly",
        "events",
        ["seq"],
        sqlite_where=sa.text("anomaly IS NOT NULL"),
        postgresql_where=sa.text("anomaly IS NOT NULL"),
    )
    op.create_index(
        "ix_events_delivery_id",
        "events",
        ["delivery_id"],
        unique=True,
        sqlite_where=sa.text("delivery_id IS NOT NULL"),
        postgresql_where=sa.text("delivery_id IS NOT NULL"),
    )
    op.create_table(
        "identities",
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("agent_id", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("kind", "key", name="pk_identities"),
        info={"projection": True},
        sqlite_with_rowid=False,
    )
    op.create_table(
        "roster",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("project_id", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("ended_at", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_roster"),
        info={"projection": True},
    )
    op.create_index("ix_roster_ended_at", "roster", ["ended_at"])
    op.create_index("ix_roster_name", "roster", ["name"])
    op.create_index("ix_roster_project_id_ended_at", "roster", ["project_id", "ended_at"])
    op.create_table(
        "sessions",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("agent_id", sa.Text(), nullable=False),
        sa.Column("ordinal", sa.Integer(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_sessions"),
        info={"projection": True},
    )
    op.create_index("ix_sessions_agent_id_ordinal", "sessions", ["agent_id", "ordinal"])
    op.create_table(
        "states",
        sa.Column("seq", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("agent_id", sa.Text(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("waiting_for", sa.Text(), nullable=True),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("confidence", sa.Text(), nullable=False),
        sa.Column("why", sa.Text(), nullable=False),
        sa.Column("event", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("seq", name="pk_states"),
        info={"projection": True},
    )
    op.create_index("ix_states_agent_id_seq", "states", ["agent_id", "seq"])
    op.create_table(
        "stream",
        sa.Column("seq", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("type", sa.Text(), nullable=False),
        sa.Column("agent_id", sa.Text(), nullable=False),
        sa.Column("project_id", sa.Text(), nullable=False),
        sa.Column("data", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("seq", name="pk_stream"),
    )
    op.create_table(
        "turns",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("agent_id", sa.Text(), nullable=False),
        sa.Column("project_id", sa.Text(), nullable=False),
        sa.Column("command_id", sa.Text(), nullable=False),
        sa.Column("actor", sa.Text(), nullable=False),
        sa.Column("intent", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("timestamp_source", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_turns"),
        info={"projection": True},
    )
    op.create_index("ix_turns_agent_id_at", "turns", ["agent_id", "at"])
    op.create_index("ix_turns_command_id_at", "turns", ["command_id", "at"])
    op.create_table(
        "waits",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("agent_id", sa.Text(), nullable=False),
        sa.Column("opened_at", sa.BigInteger(), nullable=False),
        sa.Column("closed_at", sa.BigInteger(), nullable=True),
        sa.Column("body", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_waits"),
        info={"projection": True},
    )
    op.create_index("ix_waits_agent_id_opened_at", "waits", ["agent_id", "opened_at"])
    op.create_index(
        "ix_waits_open",
        "waits",
        ["opened_at"],
        sqlite_where=sa.text("closed_at IS NULL"),
        postgresql_where=sa.text("closed_at IS NULL"),
    )
    counters = sa.table("counters", sa.column("name", sa.Text), sa.column("value", sa.BigInteger))
    op.bulk_insert(counters, [{"name": "journal", "value": 0}])


def downgrade() -> None:
    """Remove them all."""
    projections = ("states", "waits", "turns", "commands", "sessions", "identities", "roster", "agents")
    for table in (*projections, "stream", "events", "counters"):
        op.drop_table(table)
