"""States of agents by time, for the timeline."""

from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    """Make the index."""
    op.create_index("ix_states_agent_id_at", "states", ["agent_id", "at"])


def downgrade() -> None:
    """Remove it."""
    op.drop_index("ix_states_agent_id_at", "states")
