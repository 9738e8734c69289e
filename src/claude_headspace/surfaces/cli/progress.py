"""How far something is, on standard error, for as long as it takes. Pipes and files see nothing of it."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Advance = Callable[[int], None]


@contextmanager
def progress_bar(what: str, total: int | None, *, quiet: bool = False) -> Iterator[Advance]:
    """A bar that is moved on by so much; without a total it only says that something goes on."""
    with progress_bars(quiet=quiet) as begin:
        yield begin(what, total)


@contextmanager
def progress_bars(*, quiet: bool = False) -> Iterator[Callable[[str, int | None], Advance]]:
    """Bars one below the other, each begun when what it shows begins."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    with Progress(
        *columns, console=Console(stderr=True), transient=True, disable=quiet or not sys.stderr.isatty()
    ) as progress:

        def begin(what: str, total: int | None) -> Advance:
            task = progress.add_task(what, total=total)
            return lambda count: progress.advance(task, count)

        yield begin
