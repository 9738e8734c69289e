"""Tasks, efforts, their windows and messages."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "tasks",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("host", sa.Text(), nullable=False),
        sa.Column("dir_path", sa.Text(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_tasks"),
        info={"projection": True},
    )
    op.create_table(
        "efforts",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("task_id", sa.Text(), nullable=False),
        sa.Column("host", sa.Text(), nullable=False),
        sa.Column("lifecycle", sa.Text(), nullable=False),
        sa.Column("started_at", sa.BigInteger(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_efforts"),
        info={"projection": True},
    )
    op.create_index("ix_efforts_lifecycle_host", "efforts", ["lifecycle", "host"])
    op.create_index("ix_efforts_started_at", "efforts", ["started_at"])
    op.create_table(
        "windows",
        sa.Column("effort_id", sa.Text(), nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("started_at", sa.BigInteger(), nullable=False),
        sa.Column("ended_at", sa.BigInteger(), nullable=True),
        sa.Column("body", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("effort_id", "id", name="pk_windows"),
        info={"projection": True},
    )
    op.create_table(
        "messages",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("effort_id", sa.Text(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("session_id", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_messages"),
        info={"projection": True},
    )
    op.create_index("ix_messages_effort_id_at", "messages", ["effort_id", "at"])


def downgrade() -> None:
    """Remove them."""
    for table in ("messages", "windows", "efforts", "tasks"):
        op.drop_table(table)
