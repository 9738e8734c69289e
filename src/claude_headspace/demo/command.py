"""The command `demo`: a stage, a team, a page, and nothing left afterwards."""

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from claude_headspace.demo.director import Director
    from claude_headspace.demo.stage import Stage
    from claude_headspace.demo.steps import Life


def demo(
    length: Annotated[
        str | None, typer.Option("--for", metavar="60s", help="End by itself after so long; without it, with Ctrl+C.")
    ] = None,
    tui: Annotated[bool, typer.Option("--tui", help="Show the board in this terminal; the demo ends with it.")] = False,
    only_print: Annotated[bool, typer.Option("--print", "-p", help="Print the page's link, open nothing.")] = False,
    seed: Annotated[int, typer.Option("--seed", help="Another seed, other moments; the same seed, the same ones.")] = 1,
    speed: Annotated[
        float, typer.Option("--speed", min=0, help="How fast time passes; 0 shows the first moment and stands still.")
    ] = 1.0,
    agents: Annotated[
        int | None,
        typer.Option("--agents", min=1, help="How many; more than the team has play its parts again."),
    ] = None,
    directory: Annotated[
        Path | None, typer.Option("--directory", help="A new directory for its files, instead of a temporary one.")
    ] = None,
) -> None:
    """Show Headspace at work: the agents of a web shop's team, in a home of their own.

    A daemon of its own, the real hooks, and a dozen agents who work, ask, plan, fail and rest. Answer them on the page:
    they go on with what you say. Nothing of yours is touched, and nothing is left when it ends.
    """
    import asyncio

    from claude_headspace.surfaces.cli import output as terminal

    seconds = None if length is None else _seconds(length)
    _hear_every_end()
    with suppress(KeyboardInterrupt):
        terminal.screen().show([terminal.dim("Raising the curtain…")])
        with raised(seed, speed, agents, directory) as (stage, director):
            _tell(stage, only_print=only_print, tui=tui)
            if tui:
                _show_board(stage, director, seconds)
            else:
                asyncio.run(director.play(seconds))
    terminal.screen().show([terminal.line("The demo is over; nothing of it is left.")])


def _seconds(length: str) -> float:
    from claude_headspace.surfaces.text.timestamps import parse_duration

    return parse_duration("--for", length)


def _hear_every_end() -> None:
    """A closed terminal and a polite kill end it as Ctrl+C does, also where a script started it deaf to that."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)

    def stop(_number: int, _frame: FrameType | None) -> None:
        signal.raise_signal(signal.SIGINT)

    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, stop)


@contextmanager
def raised(
    seed: int = 1, speed: float = 1.0, agents: int | None = None, directory: Path | None = None
) -> "Iterator[tuple[Stage, Director]]":
    """A stage on which everybody is in the middle of their day; whoever calls this lets the director play."""
    from claude_headspace.demo.actor import Actor
    from claude_headspace.demo.director import Director
    from claude_headspace.demo.stage import set_up

    with set_up(directory) as stage:
        lives = cast(agents)
        actors = [Actor(life, seed, number, str(stage.projects)) for number, life in enumerate(lives)]
        director = Director(stage, actors, speed)
        director.write_history()
        stage.start()
        director.introduce()
        yield stage, director


def cast(agents: int | None) -> "list[Life]":
    """So many lives; where there are more than the team has, they have other names and are elsewhere in their day."""
    import msgspec

    from claude_headspace.demo.team import TEAM
    from claude_headspace.kernel.names import suggestions

    wanted = len(TEAM) if agents is None else agents
    taken = {life.name for life in TEAM}
    lives = list(TEAM[:wanted])
    for number in range(len(TEAM), wanted):
        name = next(each for each in suggestions(f"demo {number}") if each not in taken)
        taken.add(name)
        life = TEAM[number % len(TEAM)]
        lives.append(msgspec.structs.replace(life, name=name, since=life.since + 7.0 * number % 300))
    return lives


def _tell(stage: "Stage", *, only_print: bool, tui: bool) -> None:
    """Where to look, and how it ends."""
    from claude_headspace.surfaces.cli import output as terminal
    from claude_headspace.surfaces.cli.open import opened
    from claude_headspace.surfaces.cli.presentation.setup import programme

    client = stage.client
    link = client.url + client.create_sign_in_link()["path"]
    is_open = not only_print and not tui and opened(link)
    screen = terminal.screen()
    home = str(stage.places.state)
    screen.show(programme(client.url if is_open else link, home, is_open=is_open, width=screen.width))


def _show_board(stage: "Stage", director: "Director", seconds: float | None) -> None:
    """The terminal's board in front, the actors behind it."""
    from claude_headspace.surfaces.cli.options import now
    from claude_headspace.surfaces.tui.app import Top
    from claude_headspace.surfaces.tui.feed import LiveFeed
    from claude_headspace.surfaces.tui.terminal_actions import TerminalHands

    os.environ.update(stage.environment)
    top = Top(LiveFeed(), TerminalHands(), now, "dark", bell=False, once=False)
    with playing(director, seconds, lambda: top.call_from_thread(top.exit)):
        top.run()


@contextmanager
def playing(
    director: "Director", seconds: float | None = None, over: Callable[[], object] = lambda: None
) -> Iterator[None]:
    """The actors, in a thread of their own; `over` is called when they are done before we are."""
    import asyncio
    import threading

    loop = asyncio.new_event_loop()
    play = loop.create_task(director.play(seconds))

    def run() -> None:
        with suppress(asyncio.CancelledError):
            loop.run_until_complete(play)
            over()
        loop.close()

    thread = threading.Thread(target=run, name="demo")
    thread.start()
    try:
        yield
    finally:
        with suppress(RuntimeError):  # they are done already
            loop.call_soon_threadsafe(play.cancel)
        thread.join()
