"""The request of a wait to a person: its kind, its text, and the possible answers."""

import msgspec


class Option(msgspec.Struct, frozen=True, omit_defaults=True):
    """One possible answer."""

    label: str
    description: str = ""


class Question(msgspec.Struct, frozen=True, omit_defaults=True):
    """A question with its options."""

    text: str
    header: str = ""
    options: tuple[Option, ...] = ()
    several: bool = False


class Field(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """One field of a form."""

    name: str
    kind: str
    """`text`, `number`, `integer`, `boolean`, `choice` or `choices`."""
    title: str = ""
    description: str = ""
    required: bool = False
    options: tuple[Option, ...] = ()
    """The choices: value and label."""
    default: str | int | float | bool | None = None
    least: float | None = None
    """The minimum of a number, or the minimum length of a text."""
    most: float | None = None
    format: str = ""


class Ask(msgspec.Struct, frozen=True, omit_defaults=True):
    """A request to a person."""

    kind: str
    text: str = ""
    questions: tuple[Question, ...] = ()
    form: tuple[Field, ...] = ()
