"""`headspace top`: the board, full screen."""

from typing import Annotated, Literal

import typer

from claude_headspace.surfaces.cli.options import now


def top(
    theme: Annotated[
        Literal["dark", "light", "terminal"], typer.Option("--theme", help="Colours; `t` walks through them.")
    ] = "dark",
    once: Annotated[bool, typer.Option("--once", help="Quit after a jump, as a popup of tmux wants it.")] = False,
    silent: Annotated[bool, typer.Option("--silent", help="No bell when an agent needs you.")] = False,
) -> None:
    """Show the board full screen, live: those that need you first.

    Enter jumps to an agent's tmux pane, s types a prompt to it, r brings an ended one back, ? shows every key. It goes
    on when the daemon is restarted.
    """
    import gc
    import sys

    from claude_headspace.errors import HeadspaceError

    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise HeadspaceError("no_terminal", "`headspace top` needs a terminal.", "Use `headspace list` in a pipe.")
    from claude_headspace.surfaces.tui.feed import LiveFeed

    feed = LiveFeed()
    feed.follow()  # the board is read while the screen's modules, most of what a start takes, are loaded
    gc.disable()  # nothing of them is garbage: looking for it would take a tenth of that time
    from claude_headspace.surfaces.tui.app import Top
    from claude_headspace.surfaces.tui.terminal_actions import TerminalActions

    gc.freeze()
    gc.enable()
    Top(feed, TerminalActions(), now, theme, bell=not silent, once=once).run()
