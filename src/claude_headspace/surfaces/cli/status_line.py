"""Status lines: `statusline` for that of Claude Code, `tmux` for that of tmux."""

import os
import shlex
import shutil
import sys
from typing import Annotated

from claude_headspace.clients.claude_code.hooks.installation import STATUS_LINE_SCRIPT
from claude_headspace.clients.hook_files import DEFAULT_BASH
from claude_headspace.config import find_paths
from claude_headspace.surfaces.cli import output
from claude_headspace.surfaces.cli.arguments.parameters import Option
from claude_headspace.surfaces.cli.options import examples

TMUX = """\
# Headspace: waiting agents in the status line; the board in a popup on prefix {key}.
set -g focus-events on
set -g status-interval 2
set -g status-right-length 80
set -ag status-right ' #(exec 2>/dev/null; read -r _ _ pid <{address} && kill -0 $pid && cat {status_file})'
bind-key {key} display-popup -E -w 95% -h 85% {popup}
"""

BORDERS = """\
# The border of each pane shows its agent, in the colour of its state. Needs `tmux_colours = true`.
set -g pane-border-status top
set -g pane-border-format '#{?@headspace,#[#{@headspace_style}] #{@headspace} #[default],} #{pane_title} '
"""


@examples("headspace statusline <payload.json", "headspace install --statusline    (the faster way)")
def statusline(
    line: Annotated[
        str,
        Option(
            "--line", "-l", help="Text to print, with {model}, {context}, {cost}, {limit} and {fleet} as placeholders."
        ),
    ] = "{model} {context} {cost} {fleet}",
) -> None:
    """Report a status line payload and print a status line.

    Reads the payload that Claude Code passes to status line commands. `headspace install --statusline` installs a
    script that does the same and starts faster.
    """
    bash = DEFAULT_BASH if os.path.exists(DEFAULT_BASH) else shutil.which("bash") or DEFAULT_BASH  # noqa: PTH110
    env = {**os.environ, "HEADSPACE_STATE": str(find_paths().state), "HEADSPACE_STATUSLINE": line}
    os.execve(bash, [bash, "-p", str(STATUS_LINE_SCRIPT)], env)  # noqa: S606  # our own script, without a shell line


@examples("headspace tmux >>~/.tmux.conf", "headspace tmux --key b")
def tmux(
    key: Annotated[str, Option("--key", "-k", help="Key that opens the board, after the tmux prefix.")] = "h",
    borders: Annotated[bool, Option("--borders", help="Also show the agent in the border of each pane.")] = False,
) -> None:
    """Print lines for ~/.tmux.conf.

    They show waiting agents in the status line and bind a key that opens the board. tmux reads one small file that the
    daemon updates, while the process of the daemon exists.
    """
    command = shlex.join([sys.executable, "-m", "claude_headspace", "top", "--once"])
    paths = find_paths()
    address, status_file = (shlex.quote(str(path)) for path in (paths.address_file, paths.status_file))
    text = TMUX.format(key=key, address=address, status_file=status_file, popup=shlex.quote(command))
    text += BORDERS if borders else ""
    output.screen().show([output.line(each) for each in text.splitlines()])
