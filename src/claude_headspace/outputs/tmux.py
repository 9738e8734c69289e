"""tmux: finds an agent's pane, shows it, and types into it. All access to tmux goes through this module.

Rules
- A pane belongs to an agent only while the agent's client runs in it: the client must be the pane's process or a
  descendant. This is checked immediately before typing.
- Text is typed literally. Long text and text with several lines is pasted from a tmux buffer (bracketed paste).
- Before typing, the screen is read: the input box of the client must be empty (`outputs/pane_input.py`).
- A pane id is valid for one tmux server only. The client's environment identifies its server.
"""

import contextlib
import os
import shutil
import sys
import time
from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import NamedTuple

import psutil

from claude_headspace.clients.processes import environment_of, shares_process
from claude_headspace.clients.screen import Screen
from claude_headspace.errors import BadRequest, HeadspaceError

MAX_TYPED_LENGTH = 200
"""Longer text is pasted: the client may interpret many typed keys as a paste halfway through."""
ENTER_DELAY_SECONDS = 0.35
"""Delay between the text and Enter: the client interprets an Enter during a paste as a new line."""
KEY_DELAY_SECONDS = 0.2
"""Delay between two keys. Two Esc without a delay are one key with Alt."""

TYPING_SECONDS = 10.0
"""How long after the last key press a person counts as typing."""

PANE_FORMAT = "\t".join(
    f"#{{{name}}}"
    for name in (
        "pane_id",
        "session_name",
        "window_id",
        "pane_pid",
        "pane_dead",
        "pane_in_mode",
        "pane_synchronized",
        "pane_active",
        "window_active",
    )
)
"""The fields of a `Pane` after its socket, for `parse_pane`."""


class Pane(NamedTuple):
    """The current state of a pane."""

    socket: str
    id: str
    session: str
    window: str
    pid: int
    dead: bool
    in_mode: bool
    synchronized: bool
    active: bool
    window_active: bool


class Refused(BadRequest):
    """The action was not done; the message is the reason."""

    status = 409


# --- commands and panes -----------------------------------------------------------------------------------------------


def is_installed() -> bool:
    """Whether tmux is installed on this machine."""
    return shutil.which("tmux") is not None


def require_tmux() -> None:
    """Raise `Refused` if tmux is not installed."""
    if not is_installed():
        raise Refused("no_tmux", "tmux is not installed on this machine.", "Install it, and start agents inside it.")


def run_tmux(socket: str, *arguments: str) -> list[str]:
    """Run a tmux command. Returns the lines of its output."""
    libtmux = _load_libtmux()
    require_tmux()
    try:
        result = libtmux.Server(socket_path=socket or None).cmd(*(_escape_argument(argument) for argument in arguments))
    except libtmux.exc.LibTmuxException as error:
        raise Refused("tmux_failed", f"tmux failed: {error}.", "Is it running?") from error
    if result.returncode:
        reason = "; ".join(result.stderr) or f"exit code {result.returncode}"
        raise Refused("tmux_failed", f"`tmux {arguments[0]}` failed: {reason}.", "Does the pane still exist?")
    return list(result.stdout)


def _load_libtmux() -> ModuleType:
    """Import libtmux at first use. Its import reads standard output, which Textual replaces."""
    with contextlib.redirect_stdout(sys.__stdout__):
        import libtmux

        return libtmux


def _escape_argument(text: str) -> str:
    """Escape a trailing semicolon, which tmux interprets as the end of a command."""
    return f"{text[:-1]}\\;" if text.endswith(";") else text


def server_socket(pid: int | None, env: Mapping[str, str] = os.environ) -> str:
    """Return the socket of the tmux server of a client, else of this process; empty for the default server."""
    variable = env.get("TMUX", "")
    if pid is not None:
        with contextlib.suppress(psutil.Error, OSError):
            variable = environment_of(pid).get("TMUX", "") or variable
    return variable.partition(",")[0]


def find_pane(socket: str, pane_id: str) -> Pane:
    """Return a pane by its id. Raises `Refused` if it no longer exists."""
    try:
        lines = run_tmux(socket, "display-message", "-p", "-t", pane_id, PANE_FORMAT)
    except Refused as refusal:
        if refusal.code == "no_tmux":
            raise
        raise pane_gone(pane_id) from refusal
    pane = parse_pane(socket, lines[0] if lines else "")
    if pane is None or pane.id != pane_id:
        raise pane_gone(pane_id)
    return pane


def parse_pane(socket: str, line: str) -> Pane | None:
    """The pane that a line in `PANE_FORMAT` describes; None if it describes none."""
    fields = line.split("\t")
    if len(fields) != len(Pane._fields) - 1:
        return None
    dead, in_mode, synchronized, active, window_active = (flag not in ("", "0") for flag in fields[4:9])
    return Pane(
        socket=socket,
        id=fields[0],
        session=fields[1],
        window=fields[2],
        pid=int(fields[3] or 0),
        dead=dead,
        in_mode=in_mode,
        synchronized=synchronized,
        active=active,
        window_active=window_active,
    )


def pane_gone(pane_id: str) -> Refused:
    """The refusal for a pane that no longer exists."""
    return Refused("pane_gone", f"The pane {pane_id} no longer exists.", "Look for the agent in another terminal.")


# --- panes of agents --------------------------------------------------------------------------------------------------


def find_agent_pane(name: str, pane_id: str | None, pid: int | None, env: Mapping[str, str] = os.environ) -> Pane:
    """Return the pane in which an agent's client runs. Raises `Refused` if it runs in none."""
    if not pane_id:
        raise no_pane(name, pid)
    return require_client(find_pane(server_socket(pid, env), pane_id), name, pid)


def require_client(pane: Pane, name: str, pid: int | None) -> Pane:
    """Return the pane. Raises `Refused` unless the agent's client runs in it."""
    if pid is None or pane.dead or not _runs_in(pid, pane):
        raise Refused(
            "pane_taken",
            f"The pane {pane.id} no longer runs {name}.",
            "Another program runs there now. Nothing was done.",
        )
    return pane


def no_pane(name: str, pid: int | None) -> Refused:
    """Why the pane of an agent is unknown, and what works instead."""
    if shares_process(pid):
        return Refused(
            "no_pane",
            f"{name} runs in a background process that its client shares between terminals: its terminal is unknown.",
            "Use the terminal that shows it. Agents that `headspace run` starts have a process of their own.",
        )
    return Refused(
        "no_pane",
        f"{name} does not run in tmux, as far as Headspace knows.",
        "Start agents with `headspace run`, or inside tmux.",
    )


def _runs_in(pid: int, pane: Pane) -> bool:
    """Whether a process is the pane's process or a descendant of it."""
    try:
        process = psutil.Process(pid)
        return process.status() != psutil.STATUS_ZOMBIE and pane.pid in (
            pid,
            *(parent.pid for parent in process.parents()),
        )
    except psutil.Error:
        return False


def read_screen(pane: Pane) -> Screen:
    """Return what a pane shows."""
    found = run_tmux(pane.socket, "display-message", "-p", "-t", pane.id, "#{cursor_y} #{cursor_x} #{cursor_flag}")
    lines = run_tmux(pane.socket, "capture-pane", "-p", "-e", "-t", pane.id)
    row, column, is_visible = (int(number) for number in found[0].split())
    return Screen("\n".join(lines), row, column, bool(is_visible))


# --- typing -----------------------------------------------------------------------------------------------------------


def insert_text(pane: Pane, text: str, *, paste: bool = False) -> None:
    """Type a text into a pane literally; `paste` also pastes a short one. Enter is a key of its own."""
    _prepare_pane(pane)
    if paste or "\n" in text or len(text) > MAX_TYPED_LENGTH:
        buffer = f"headspace-{os.getpid()}-{pane.id.lstrip('%')}"
        run_tmux(pane.socket, "set-buffer", "-b", buffer, "--", text)
        run_tmux(pane.socket, "paste-buffer", "-p", "-d", "-r", "-b", buffer, "-t", pane.id)
    else:
        run_tmux(pane.socket, "send-keys", "-t", pane.id, "-l", "--", text)


def press_key(pane: Pane, key: str) -> None:
    """Press a key in a pane. `key` is its tmux name."""
    press_keys(pane, [key])


def press_keys(pane: Pane, keys: Sequence[str]) -> None:
    """Press keys in a pane, one after the other."""
    _prepare_pane(pane)
    for number, key in enumerate(keys):
        if number:
            time.sleep(KEY_DELAY_SECONDS)
        run_tmux(pane.socket, "send-keys", "-t", pane.id, key)


def _prepare_pane(pane: Pane) -> None:
    """Ensure that input reaches only this pane's program: no synchronized panes, and no copy mode."""
    if pane.synchronized:
        raise Refused(
            "panes_synchronized",
            f"The panes around {pane.id} are synchronized: all of them would receive the input.",
            "Turn `synchronize-panes` off.",
        )
    if pane.in_mode:
        run_tmux(pane.socket, "send-keys", "-t", pane.id, "-X", "cancel")


# --- showing panes ----------------------------------------------------------------------------------------------------


def show_pane(pane: Pane, env: Mapping[str, str] = os.environ) -> Sequence[str]:
    """Show a pane. Outside of tmux, returns the command that attaches the terminal; inside, returns nothing."""
    run_tmux(pane.socket, "select-window", "-t", pane.window)
    run_tmux(pane.socket, "select-pane", "-t", pane.id)
    own_socket = env.get("TMUX", "").partition(",")[0]
    if not own_socket:
        return ["tmux", *(["-S", pane.socket] if pane.socket else []), "attach-session", "-t", pane.session]
    if pane.socket and os.path.realpath(own_socket) != os.path.realpath(pane.socket):
        raise Refused(
            "other_server",
            "The agent runs in a different tmux server.",
            f"In a terminal outside of tmux, run: tmux -S {pane.socket} attach -t {pane.session}",
        )
    run_tmux(pane.socket, "switch-client", "-t", pane.id)
    return []


def is_visible(pane: Pane) -> bool:
    """Whether a focused terminal shows the pane."""
    return any(shows_pane(client, pane) for client in attached_terminals(pane.socket))


class AttachedTerminal(NamedTuple):
    """A terminal that is attached to a tmux session."""

    session: str
    focused: bool
    """Whether it has the focus; always true if tmux does not track focus."""
    used_at: float
    """When a key was last pressed in it, in seconds since 1970."""


def attached_terminals(socket: str) -> list[AttachedTerminal]:
    """Return the terminals that are attached to a tmux server."""
    line_format = "#{client_session}\t#{client_flags}\t#{client_activity}"
    lines = [line.split("\t") for line in run_tmux(socket, "list-clients", "-F", line_format)]
    knows_focus = bool(lines) and run_tmux(socket, "show-options", "-gv", "focus-events") == ["on"]
    return [
        AttachedTerminal(session, not knows_focus or "focused" in flags.split(","), float(used or 0))
        for session, flags, used in (line for line in lines if len(line) == 3)
    ]


def shows_pane(terminal: AttachedTerminal, pane: Pane) -> bool:
    """Whether a focused terminal shows a pane."""
    return pane.active and pane.window_active and terminal.session == pane.session and terminal.focused


def has_recent_input(pane: Pane, seconds: float = TYPING_SECONDS) -> bool:
    """Whether a key was pressed recently in a terminal that shows the pane."""
    if not (pane.active and pane.window_active):
        return False
    lines = run_tmux(pane.socket, "list-clients", "-F", "#{client_session}\t#{client_activity}")
    pressed = [line.split("\t")[1] for line in lines if line.split("\t")[0] == pane.session]
    return any(each.isdigit() and time.time() - int(each) < seconds for each in pressed)


def open_window(command: Sequence[str], directory: str, name: str, env: Mapping[str, str] = os.environ) -> str:
    """Run a program in a new window of the current session. Returns the id of its pane."""
    socket = server_socket(None, env)
    arguments = ("new-window", "-P", "-F", "#{pane_id}", "-n", name, "-c", directory, "--", *command)
    return run_tmux(socket, *arguments)[0]


def has_session(name: str, env: Mapping[str, str] = os.environ) -> bool:
    """Return whether a tmux session of this name exists."""
    try:
        run_tmux(server_socket(None, env), "has-session", "-t", f"={name}")
    except Refused:
        return False
    return True


def current_session(env: Mapping[str, str] = os.environ) -> str | None:
    """Return the name of the tmux session of this process; None outside of tmux."""
    pane = env.get("TMUX_PANE")
    if not env.get("TMUX") or not pane:
        return None
    try:
        return find_pane(server_socket(None, env), pane).session
    except HeadspaceError:
        return None
