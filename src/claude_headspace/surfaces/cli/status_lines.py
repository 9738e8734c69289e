"""Headspace at a glance: `statusline` for Claude Code's own status line, `tmux` for that of tmux."""

import os
from typing import Annotated

import typer

from claude_headspace.surfaces.cli.options import places


def statusline(
    line: Annotated[
        str,
        typer.Option(
            "--line", "-l", help="Words to print; {model}, {context}, {cost}, {limit} and {fleet} are filled in."
        ),
    ] = "{model} {context} {cost} {fleet}",
) -> None:
    """Read Claude Code's status line payload, tell it to Headspace, and print a line.

    `headspace install --statusline` installs the script behind this command, which starts faster.
    """
    import shutil

    from claude_headspace.clients.claude_code.hooks.installation import DEFAULT_BASH, STATUS_LINE_SCRIPT

    bash = DEFAULT_BASH if os.path.exists(DEFAULT_BASH) else shutil.which("bash") or DEFAULT_BASH  # noqa: PTH110
    env = {**os.environ, "HEADSPACE_STATE": str(places().state), "HEADSPACE_STATUSLINE": line}
    os.execve(bash, [bash, "-p", str(STATUS_LINE_SCRIPT)], env)  # noqa: S606  # our own script, without a shell line


TMUX = """\
# Headspace: who waits, in the status line; the board in a popup on prefix {key}.
set -g focus-events on
set -g status-interval 2
set -g status-right-length 80
set -ag status-right ' #(cat {glance})'
bind-key {key} display-popup -E -w 95% -h 85% {popup}
"""


BORDERS = """\
# Each pane's border says what its agent is, in its colour; the daemon tells it with `tmux_colours = true`.
set -g pane-border-status top
set -g pane-border-format '#{?@headspace,#[#{@headspace_style}] #{@headspace} #[default],} #{pane_title} '
"""


def tmux(
    key: Annotated[str, typer.Option("--key", "-k", help="The key, after tmux's prefix, that opens the board.")] = "h",
    borders: Annotated[
        bool, typer.Option("--borders", help="Also lines that let each pane's border say what its agent is.")
    ] = False,
) -> None:
    """Print what to add to ~/.tmux.conf: who waits in the status line, and a key for the board.

    The daemon keeps one small file that tmux reads; nothing is asked for each pane.
    """
    import shlex
    import sys

    from claude_headspace.surfaces.cli import output as terminal

    command = shlex.join([sys.executable, "-m", "claude_headspace", "top", "--once"])
    text = TMUX.format(key=key, glance=shlex.quote(str(places().status_file)), popup=shlex.quote(command))
    text += BORDERS if borders else ""
    terminal.screen().show([terminal.line(each) for each in text.splitlines()])
