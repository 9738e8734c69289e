"""The CLI command `demo`: starts a sandbox, plays the scenarios, and removes everything at the end."""

import asyncio
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import Annotated

from claude_headspace.demo.player import Player
from claude_headspace.demo.sandbox import Sandbox, create_sandbox
from claude_headspace.demo.scenarios import SCENARIOS
from claude_headspace.demo.schedule import Scenario, SimulatedAgent, ToldScenario
from claude_headspace.kernel.names import suggest_names
from claude_headspace.surfaces.cli import output
from claude_headspace.surfaces.cli.arguments.parameters import Option
from claude_headspace.surfaces.cli.open import open_in_browser
from claude_headspace.surfaces.cli.options import examples, now
from claude_headspace.surfaces.cli.presentation.setup import demo_intro
from claude_headspace.surfaces.text.timestamps import parse_duration
from claude_headspace.surfaces.tui.actions import TerminalActions
from claude_headspace.surfaces.tui.app import Top
from claude_headspace.surfaces.tui.feed import LiveFeed


@examples("headspace demo", "headspace demo --tui", "headspace demo --for 60s --speed 4 --print")
def demo(
    length: Annotated[
        str | None, Option("--for", metavar="DURATION", help="Stop after this time. Without it: until Ctrl+C.")
    ] = None,
    tui: Annotated[bool, Option("--tui", help="Show the board in this terminal. Quit it to stop.")] = False,
    only_print: Annotated[bool, Option("--print", "-p", help="Print the link, do not open a browser.")] = False,
    seed: Annotated[int, Option("--seed", help="Varies the timing. The same seed gives the same timing.")] = 1,
    speed: Annotated[
        float, Option("--speed", min=0, help="Speed of time. 0 stops time at the start of the demo.")
    ] = 1.0,
    agents: Annotated[
        int | None, Option("--agents", min=1, help="Number of agents. Scenarios repeat if there are too few.")
    ] = None,
    directory: Annotated[
        Path | None,
        Option("--directory", metavar="DIR", help="A new directory instead of a temporary one."),
    ] = None,
) -> None:
    """Run a demo with simulated agents.

    Starts a separate daemon with the real hooks, in a temporary directory. The agents work, ask, plan, fail and wait.
    Answer them in the browser: they continue with your answer. Your settings and sessions are not used, and everything
    is removed at the end.
    """
    seconds = None if length is None else parse_duration("--for", length)
    _stop_on_signals()
    with suppress(KeyboardInterrupt):
        output.screen().show([output.dim("Starting the demo…")])
        with started_demo(seed, speed, agents, directory) as (sandbox, player):
            _show_links(sandbox, only_print=only_print, tui=tui)
            asyncio.run(_show_board(sandbox, player, seconds) if tui else player.play(seconds))
    output.screen().show([output.line("The demo has ended. All its files were removed.")])


def _stop_on_signals() -> None:
    """SIGTERM and SIGHUP stop the demo like Ctrl+C. A script may have started it with SIGINT ignored."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)

    def stop(_number: int, _frame: FrameType | None) -> None:
        signal.raise_signal(signal.SIGINT)

    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, stop)


@contextmanager
def started_demo(
    seed: int = 1, speed: float = 1.0, agents: int | None = None, directory: Path | None = None
) -> Iterator[tuple[Sandbox, Player]]:
    """A sandbox with a running daemon and the history of all agents. The caller runs the player."""
    with create_sandbox(directory) as sandbox:
        home, scenarios = str(sandbox.root), enumerate(choose_scenarios(agents))
        player = Player(sandbox, [SimulatedAgent(each, seed, number, home) for number, each in scenarios], speed)
        player.write_history()
        sandbox.start_daemon()
        player.finish_setup()
        yield sandbox, player


def choose_scenarios(number: int | None) -> list[Scenario | ToldScenario]:
    """This many scenarios. Repeated ones get another name and start at another time of their loop."""
    chosen = list(SCENARIOS[:number])
    names = {scenario.profile.name for scenario in SCENARIOS}
    for index in range(len(chosen), number or 0):
        name = next(name for name in suggest_names(f"demo {index}") if name not in names)
        names.add(name)
        scenario = SCENARIOS[index % len(SCENARIOS)]
        elapsed = scenario.elapsed + 7.0 * index % 300
        chosen.append(scenario._replace(profile=scenario.profile._replace(name=name), elapsed=elapsed))
    return chosen


def _show_links(sandbox: Sandbox, *, only_print: bool, tui: bool) -> None:
    client = sandbox.client
    link = client.url + client.create_sign_in_link()["path"]
    is_open = not only_print and not tui and open_in_browser(link)
    screen = output.screen()
    home = str(sandbox.paths.state)
    screen.show(demo_intro(client.url if is_open else link, home, is_open=is_open, width=screen.width))


async def _show_board(sandbox: Sandbox, player: Player, seconds: float | None) -> None:
    """Show `headspace top` while the player runs. Either one ends the other."""
    os.environ.update(sandbox.environment)
    top = Top(LiveFeed(), TerminalActions(), now, "dark", bell=False, once=False)
    play = asyncio.create_task(player.play(seconds))
    play.add_done_callback(lambda _task: top.exit())
    try:
        await top.run_async()
    finally:
        play.cancel()
        await asyncio.wait([play])
