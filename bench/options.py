"""The options of a run."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Options:
    """The options of one run. `progress` shows a message."""

    seconds: float | None = None
    profile: bool = False
    progress: Callable[[str], None] = lambda _text: None
    calls: bool = False
