"""The CLI command `top`: the board, full screen."""

import gc
import sys
from typing import Annotated, Literal

from claude_headspace.config import find_paths
from claude_headspace.errors import HeadspaceError
from claude_headspace.surfaces.cli.arguments.parameters import Option
from claude_headspace.surfaces.cli.options import examples, now
from claude_headspace.surfaces.tui.feed import LiveFeed
from claude_headspace.surfaces.tui.keymap import load_keys


@examples("headspace top", "headspace top --theme terminal")
def top(
    theme: Annotated[
        Literal["dark", "light", "terminal"], Option("--theme", help="Colour theme; `t` switches it.")
    ] = "dark",
    once: Annotated[bool, Option("--once", help="Quit after a jump, for a tmux popup.")] = False,
    silent: Annotated[bool, Option("--silent", help="No bell when an agent needs you.")] = False,
) -> None:
    """Show the board full screen, live.

    Agents that need you come first. Enter jumps to the tmux pane of an agent, s sends it a prompt, r resumes an ended
    one, ? lists all keys. The board reconnects when the daemon restarts.
    """
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise HeadspaceError("no_terminal", "`headspace top` needs a terminal.", "Use `headspace list` in a pipe.")
    keys = load_keys(find_paths().keys_file)
    feed = LiveFeed()
    feed.follow()
    # The feed reads the board in a thread while the modules of the screen are imported, which takes most of the start.
    # They contain no garbage, and looking for it would take a tenth of that time.
    gc.disable()
    from claude_headspace.surfaces.tui.actions import TerminalActions  # noqa: PLC0415
    from claude_headspace.surfaces.tui.app import Top  # noqa: PLC0415

    gc.freeze()
    gc.enable()
    Top(feed, TerminalActions(), now, theme, bell=not silent, once=once, keys=keys).run()
