"""What a human is asked: the kind, the words, and the ways to answer."""

import msgspec


class Option(msgspec.Struct, frozen=True, omit_defaults=True):
    """One way to answer."""

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
    """What can be chosen: the value, and the words for it."""
    default: str | int | float | bool | None = None
    least: float | None = None
    """Of a number its least value, of a text its least length."""
    most: float | None = None
    format: str = ""


class Ask(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a human is wanted for: the kind, the words, and the ways to answer."""

    kind: str
    text: str = ""
    questions: tuple[Question, ...] = ()
    form: tuple[Field, ...] = ()
