"""What all views have in common: fields that are copied from the source."""

from typing import TypeVar

import msgspec

View = TypeVar("View", bound=msgspec.Struct)


def view_of(kind: type[View], source: msgspec.Struct, **computed: object) -> View:
    """A view with these computed fields; all others are the fields of the same name of the source."""
    return kind(**{name: getattr(source, name) for name in kind.__struct_fields__ if name not in computed}, **computed)
