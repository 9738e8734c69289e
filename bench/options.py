"""What a caller may choose."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Options:
    """The choices of one run; `say` tells the person who waits what is going on."""

    seconds: float | None = None
    profile: bool = False
    say: Callable[[str], None] = lambda _text: None
    calls: bool = False
