"""Values that both databases accept."""

from typing import Any, TypeVar

import msgspec

Row = dict[str, Any]
"""The values of a table row, by column name."""

Value = TypeVar("Value")

_encode = msgspec.json.Encoder().encode


def replace_nul(value: Value) -> Value:
    """Replace NUL characters in a text, which PostgreSQL does not accept; other values stay as they are."""
    return value.replace("\0", "\ufffd") if isinstance(value, str) and "\0" in value else value  # type: ignore[return-value]


def encode_body(value: msgspec.Struct) -> str:
    """A value as JSON text. JSON escapes NUL, so the text has none."""
    return _encode(value).decode()


def body_row(value: msgspec.Struct, *columns: str) -> Row:
    """A row with some fields of a value as columns, and all of it as JSON in the column `body`."""
    return {name: replace_nul(getattr(value, name)) for name in columns} | {"body": encode_body(value)}
