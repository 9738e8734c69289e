"""Parameters of a command, read from the signature of its function.

    def show(agent: Annotated[str, Argument("AGENT", help="…")], full: Annotated[bool, Option("--full")] = False)

A parameter without a default is required. Types: `str`, `int`, `float`, `Path`, `bool` (an option without a value),
`Literal` and `Enum` (choices), and lists of these (an option that can be repeated, or all further arguments). A
parameter of the type `ForwardedArguments` receives what the command passes on to the program that it starts.
"""

from collections.abc import Callable
from enum import Enum
from pathlib import Path
from types import UnionType
from typing import Any, Literal, NamedTuple, Union, get_args, get_origin

Complete = Callable[[str], list[str]]
"""The values that start with a text."""


class ForwardedArguments(list[str]):
    """Unknown arguments, in their order."""


class Option:
    """An option and its names. `action` is called at once, and then the program ends."""

    is_value: Callable[[str], bool] | None = None
    """If its value can be left out: whether the next word is the value."""

    def __init__(
        self,
        *names: str,
        help: str = "",  # reads best
        metavar: str = "",
        min: float | None = None,
        max: float | None = None,
        hidden: bool = False,
        show_default: bool = True,
        complete: Complete | None = None,
        action: Callable[[], None] | None = None,
    ) -> None:
        self.names = names
        self.help = help
        self.metavar = metavar
        self.range = (min, max)
        self.hidden = hidden
        self.show_default = show_default
        self.complete = complete
        self.action = action

    def value_if(self, is_value: Callable[[str], bool]) -> "Option":
        """The option with a value that can be left out, and is "" then. `is_value` tells whether a word is one."""
        self.is_value = is_value
        return self


class Argument:
    """An argument and its name in the help."""

    def __init__(self, name: str, *, help: str = "", complete: Complete | None = None) -> None:
        self.name = name
        self.help = help
        self.complete = complete


class Parameter(NamedTuple):
    """A parameter of a function."""

    name: str
    described: Option | Argument
    type: Any
    """The type of one value."""
    is_list: bool
    is_required: bool
    default: Any

    @property
    def is_flag(self) -> bool:
        """Whether it is an option without a value."""
        return self.type is bool

    @property
    def label(self) -> str:
        """Its name in messages."""
        described = self.described
        return described.name if isinstance(described, Argument) else max(described.names, key=len)

    @property
    def choices(self) -> tuple[str, ...]:
        """The permitted values, if they are known."""
        if get_origin(self.type) is Literal:
            return get_args(self.type)
        return tuple(each.value for each in self.type) if issubclass(self.type, Enum) else ()

    def convert(self, text: str) -> Any:
        """The value for a text. Raises `ValueError` with the reason."""
        if self.choices:
            return self._choose(text)
        if self.type in (int, float):
            return self._number(text)
        return Path(text) if self.type is Path else text

    def _choose(self, text: str) -> Any:
        if text not in self.choices:
            raise ValueError(f"{text!r} is not one of {', '.join(map(repr, self.choices))}.")
        return text if get_origin(self.type) is Literal else self.type(text)

    def _number(self, text: str) -> Any:
        try:
            number = self.type(text)
        except ValueError:
            raise ValueError(f"{text!r} is not {'a whole number' if self.type is int else 'a number'}.") from None
        low, high = self.described.range if isinstance(self.described, Option) else (None, None)
        if (low is not None and not number >= low) or (high is not None and not number <= high):
            raise ValueError(f"{text} is not in the range {format_range(low, high)}.")
        return number


def format_range(low: float | None, high: float | None) -> str:
    """A range of numbers: `1<=x<=100`, `x>=1`."""
    if high is None:
        return f"x>={low}"
    return f"x<={high}" if low is None else f"{low}<=x<={high}"


def read_parameters(function: Callable[..., Any]) -> list[Parameter]:
    """The parameters of a function that people give."""
    defaults = _defaults(function)
    return [
        _parameter(name, annotation, defaults)
        for name, annotation in function.__annotations__.items()
        if name != "return" and annotation is not ForwardedArguments
    ]


def find_forwarded(function: Callable[..., Any]) -> str | None:
    """The name of the parameter that receives unknown arguments."""
    return next((name for name, kind in function.__annotations__.items() if kind is ForwardedArguments), None)


def _defaults(function: Callable[..., Any]) -> dict[str, Any]:
    values = function.__defaults__ or ()
    count = function.__code__.co_argcount
    names = function.__code__.co_varnames[count - len(values) : count]
    return dict(zip(names, values, strict=True)) | (function.__kwdefaults__ or {})


def _parameter(name: str, annotation: Any, defaults: dict[str, Any]) -> Parameter:
    kind, described = get_args(annotation)
    if get_origin(kind) in (Union, UnionType):
        kind = next(each for each in get_args(kind) if each is not type(None))
    is_list = get_origin(kind) is list
    item = get_args(kind)[0] if is_list else kind
    return Parameter(name, described, item, is_list, name not in defaults, defaults.get(name))
