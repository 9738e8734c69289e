"""What agents used: cost and tokens."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"

NUMBERS = (
    *("input_tokens", "cache_read_tokens", "cache_write_tokens", "output_tokens", "unpriced_tokens"),
    "cost_micros",
)


def upgrade() -> None:
    """Make the table. Its rows follow from the log."""
    op.create_table(
        "usage",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("agent_id", sa.Text(), nullable=False),
        sa.Column("session_id", sa.Text(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        *(sa.Column(name, sa.BigInteger(), nullable=False) for name in NUMBERS),
        sa.PrimaryKeyConstraint("id", name="pk_usage"),
        info={"projection": True},
    )
    op.create_index("ix_usage_at", "usage", ["at"])
    op.create_index("ix_usage_agent_id_at", "usage", ["agent_id", "at"])


def downgrade() -> None:
    """Remove it."""
    op.drop_table("usage")
