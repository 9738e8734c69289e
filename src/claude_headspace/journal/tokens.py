"""Named tokens in the database. Every request reads them, so a revoked token is refused immediately."""

import msgspec
from sqlalchemy import select, update

from claude_headspace.journal import schema
from claude_headspace.journal.rows import Row, insert_rows, replace_nul
from claude_headspace.journal.writer import SqlWriter
from claude_headspace.kernel.envelope import Micros
from claude_headspace.ports import NamedToken

_table = schema.tokens.c


class SqlTokenStore(SqlWriter):
    """Reads and writes the tokens of a journal."""

    def tokens(self) -> list[NamedToken]:
        return [_token(row) for row in self._rows(select(schema.tokens).order_by(_table.name))]

    def token(self, digest: str) -> NamedToken | None:
        found = self._rows(select(schema.tokens).where(_table.digest == digest))
        return _token(found[0]) if found else None

    def add_token(self, token: NamedToken, digest: str) -> bool:
        with self.transaction() as batch:
            existing = batch.connection.execute(select(_table.name).where(_table.name == token.name)).first()
            if existing is None:
                insert_rows(batch.connection, schema.tokens, [_row(token, digest)])
            return existing is None

    def remove_token(self, name: str) -> bool:
        with self.transaction() as batch:
            return batch.connection.execute(schema.tokens.delete().where(_table.name == name)).rowcount > 0

    def record_token_use(self, name: str, at: Micros) -> None:
        with self.transaction() as batch:
            batch.connection.execute(update(schema.tokens).where(_table.name == name).values(last_used_at=at))


def _token(row: Row) -> NamedToken:
    values = {name: row[name] for name in NamedToken.__struct_fields__}
    return NamedToken(**values | {"scopes": tuple(row["scopes"].split(","))})


def _row(token: NamedToken, digest: str) -> Row:
    converted = {"digest": digest, "scopes": ",".join(token.scopes), "owner": replace_nul(token.owner)}
    return msgspec.structs.asdict(token) | converted
