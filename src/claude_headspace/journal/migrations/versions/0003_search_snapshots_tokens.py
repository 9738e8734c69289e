"""What can be found, where a pruned log begins, and who may come in."""

import sqlalchemy as sa
from alembic import op

from claude_headspace.journal.search import create_words, drop_words

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Make the tables."""
    sequence = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
    op.create_table(
        "documents",
        sa.Column("id", sequence, autoincrement=False, nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.Column("agent_id", sa.Text(), nullable=False),
        sa.Column("project_id", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("actor", sa.Text(), nullable=False),
        sa.Column("tool", sa.Text(), nullable=True),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("command_id", sa.Text(), nullable=True),
        sa.Column("turn_id", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_documents"),
    )
    create_words(op.get_bind())
    op.create_table(
        "snapshots",
        sa.Column("agent_id", sa.Text(), nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("agent_id", name="pk_snapshots"),
    )
    op.create_table(
        "tokens",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("scopes", sa.Text(), nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=True),
        sa.Column("last_used_at", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("name", name="pk_tokens"),
    )
    op.add_column("roster", sa.Column("free", sa.SmallInteger(), nullable=False, server_default="1"))
    op.create_index("ix_tokens_digest", "tokens", ["digest"], unique=True)


def downgrade() -> None:
    """Remove them."""
    with op.batch_alter_table("roster") as roster:
        roster.drop_column("free")
    op.drop_table("tokens")
    op.drop_table("snapshots")
    drop_words(op.get_bind())
    op.drop_table("documents")
