"""Progress bars on standard error. They are shown only on a terminal."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

Advance = Callable[[int], None]


@contextmanager
def progress_bar(what: str, total: int | None, *, quiet: bool = False) -> Iterator[Advance]:
    """A bar that `advance` moves. Without a total it only shows that the work goes on."""
    with progress_bars(quiet=quiet) as add_bar:
        yield add_bar(what, total)


@contextmanager
def progress_bars(*, quiet: bool = False) -> Iterator[Callable[[str, int | None], Advance]]:
    """Several bars, one below the other. Each is added when its work starts."""
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    with Progress(
        *columns, console=Console(stderr=True), transient=True, disable=quiet or not sys.stderr.isatty()
    ) as progress:

        def add_bar(what: str, total: int | None) -> Advance:
            task = progress.add_task(what, total=total)
            return lambda count: progress.advance(task, count)

        yield add_bar
