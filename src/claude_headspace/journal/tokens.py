"""Named tokens on SQL. They are read anew for every request, so that one that is revoked is refused at once."""

from abc import ABC, abstractmethod
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from sqlalchemy import select, update

from claude_headspace.journal import rows, schema
from claude_headspace.journal.bulk_insert import insert_rows
from claude_headspace.journal.reader import SqlReader
from claude_headspace.kernel.envelope import Micros
from claude_headspace.ports import NamedToken

if TYPE_CHECKING:
    from claude_headspace.journal.transaction import SqlTransaction

_table = schema.tokens.c


class SqlTokenStore(SqlReader, ABC):
    """The tokens of a journal."""

    @abstractmethod
    def transaction(self) -> AbstractContextManager["SqlTransaction"]:
        """One batch of the writer."""

    def tokens(self) -> list[NamedToken]:
        """All of them, by name."""
        return [_token(row) for row in self._rows(select(schema.tokens).order_by(_table.name))]

    def token(self, digest: str) -> NamedToken | None:
        """The one with this digest."""
        found = self._rows(select(schema.tokens).where(_table.digest == digest))
        return _token(found[0]) if found else None

    def add_token(self, token: NamedToken, digest: str) -> bool:
        """Keep a new one; False if the name is taken."""
        with self.transaction() as batch:
            taken = batch.connection.execute(select(_table.name).where(_table.name == token.name)).first()
            if taken is None:
                insert_rows(batch.connection, schema.tokens, [_row(token, digest)])
            return taken is None

    def remove_token(self, name: str) -> bool:
        """Forget one; False if there is none."""
        with self.transaction() as batch:
            return batch.connection.execute(schema.tokens.delete().where(_table.name == name)).rowcount > 0

    def record_token_use(self, name: str, at: Micros) -> None:
        """Note that one was used."""
        with self.transaction() as batch:
            batch.connection.execute(update(schema.tokens).where(_table.name == name).values(last_used_at=at))


def _token(row: rows.Row) -> NamedToken:
    return NamedToken(
        name=row["name"],
        scopes=tuple(row["scopes"].split(",")),
        owner=row["owner"],
        created_at=row["created_at"],
        expires_at=row["expires_at"],
        last_used_at=row["last_used_at"],
    )


def _row(token: NamedToken, digest: str) -> rows.Row:
    return {
        "name": token.name,
        "digest": digest,
        "scopes": ",".join(token.scopes),
        "owner": rows.replace_nul(token.owner),
        "created_at": token.created_at,
        "expires_at": token.expires_at,
        "last_used_at": token.last_used_at,
    }
