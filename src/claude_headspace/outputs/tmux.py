"""tmux: find an agent's pane, bring it forward, type into it. Everything that touches tmux stands here.

Rules
- A pane is an agent's only while the agent's client runs in it: its process must descend from the pane's. That is
  looked up right before anything is typed.
- What is typed is literal. A text of several lines, or a long one, goes through a buffer of tmux as a bracketed paste.
- A pane id means something to one tmux server only: the client's own environment says which one it runs in.
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

from claude_headspace.errors import BadRequest, HeadspaceError

MAX_TYPED_LENGTH = 200
"""Longer texts go through a buffer: typed one by one, a client may take their keys for a paste halfway."""
ENTER_DELAY_SECONDS = 0.35
"""Between the text and its Enter: the client takes an Enter that comes within a paste for a new line."""

TYPING_SECONDS = 10.0
"""So long after the last key somebody is taken to be typing."""

_FORMAT = "\t".join(
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


class Pane(NamedTuple):
    """A pane, as it is now."""

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
    """It is not done, and here is why."""

    status = 409


# --- asking tmux ------------------------------------------------------------------------------------------------------


def is_installed() -> bool:
    """Whether there is a tmux on this machine."""
    return shutil.which("tmux") is not None


def require_tmux() -> None:
    """Refuse where there is no tmux."""
    if not is_installed():
        raise Refused("no_tmux", "There is no tmux on this machine.", "Install it, and start agents inside it.")


def run_tmux(socket: str, *arguments: str) -> list[str]:
    """Run one command of tmux; what it says."""
    libtmux = _load_libtmux()
    require_tmux()
    try:
        result = libtmux.Server(socket_path=socket or None).cmd(*(_escape_argument(argument) for argument in arguments))
    except libtmux.exc.LibTmuxException as error:
        raise Refused("tmux_failed", f"tmux could not be asked: {error}.", "Is it running?") from error
    if result.returncode:
        reason = "; ".join(result.stderr) or f"exit code {result.returncode}"
        raise Refused("tmux_failed", f"tmux refused `{arguments[0]}`: {reason}.", "Is the pane still there?")
    return list(result.stdout)


def _load_libtmux() -> ModuleType:
    """libtmux, loaded when it is first needed. It looks at standard output then, which Textual replaces."""
    with contextlib.redirect_stdout(sys.__stdout__):
        import libtmux

        return libtmux


def _escape_argument(text: str) -> str:
    """tmux takes a semicolon at the end of an argument for the end of its command."""
    return f"{text[:-1]}\\;" if text.endswith(";") else text


def server_socket(pid: int | None, env: Mapping[str, str] = os.environ) -> str:
    """The socket of the tmux server that a client runs in, else of the one that we run in; empty: the usual one."""
    variable = env.get("TMUX", "")
    if pid is not None:
        with contextlib.suppress(psutil.Error, OSError):
            variable = psutil.Process(pid).environ().get("TMUX", "") or variable
    return variable.partition(",")[0]


def find_pane(socket: str, pane_id: str) -> Pane:
    """A pane by its id; one that is gone is refused."""
    try:
        lines = run_tmux(socket, "display-message", "-p", "-t", pane_id, _FORMAT)
    except Refused as refusal:
        if refusal.code == "no_tmux":
            raise
        raise _pane_gone(pane_id) from refusal
    fields = lines[0].split("\t") if lines else []
    if len(fields) != len(Pane._fields) - 1 or fields[0] != pane_id:
        raise _pane_gone(pane_id)
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


def _pane_gone(pane_id: str) -> Refused:
    return Refused("pane_gone", f"The pane {pane_id} is not there any more.", "Look for the agent in another terminal.")


# --- whose pane it is -------------------------------------------------------------------------------------------------


def find_agent_pane(name: str, pane_id: str | None, pid: int | None, env: Mapping[str, str] = os.environ) -> Pane:
    """The pane in which an agent's client runs now; refused with the reason if it does not."""
    if not pane_id:
        raise Refused(
            "no_pane",
            f"{name} does not run in tmux, as far as Headspace knows.",
            "Start agents with `headspace run`, or inside tmux.",
        )
    pane = find_pane(server_socket(pid, env), pane_id)
    if pid is None or pane.dead or not _runs_in(pid, pane):
        raise Refused(
            "pane_taken",
            f"The pane {pane_id} does not run {name} any more.",
            "Something else runs there now: nothing was done.",
        )
    return pane


def _runs_in(pid: int, pane: Pane) -> bool:
    """Whether a process is the pane's own or descends from it."""
    try:
        process = psutil.Process(pid)
        return process.status() != psutil.STATUS_ZOMBIE and pane.pid in (
            pid,
            *(parent.pid for parent in process.parents()),
        )
    except psutil.Error:
        return False


# --- typing -----------------------------------------------------------------------------------------------------------


def type_text(pane: Pane, text: str) -> None:
    """Type a text into a pane, literally, and Enter."""
    _prepare_pane(pane)
    if "\n" in text or len(text) > MAX_TYPED_LENGTH:
        buffer = f"headspace-{os.getpid()}-{pane.id.lstrip('%')}"
        run_tmux(pane.socket, "set-buffer", "-b", buffer, "--", text)
        run_tmux(pane.socket, "paste-buffer", "-p", "-d", "-r", "-b", buffer, "-t", pane.id)
    else:
        run_tmux(pane.socket, "send-keys", "-t", pane.id, "-l", "--", text)
    time.sleep(ENTER_DELAY_SECONDS)
    run_tmux(pane.socket, "send-keys", "-t", pane.id, "Enter")


def press_key(pane: Pane, key: str) -> None:
    """Press one key in a pane, by tmux's name for it."""
    _prepare_pane(pane)
    run_tmux(pane.socket, "send-keys", "-t", pane.id, key)


def _prepare_pane(pane: Pane) -> None:
    """What is typed reaches this pane's program and no other: not its neighbours, not tmux's own copy mode."""
    if pane.synchronized:
        raise Refused(
            "panes_synchronized",
            f"The panes around {pane.id} are synchronized: all of them would get it.",
            "Switch `synchronize-panes` off.",
        )
    if pane.in_mode:
        run_tmux(pane.socket, "send-keys", "-t", pane.id, "-X", "cancel")


# --- looking ----------------------------------------------------------------------------------------------------------


def show_pane(pane: Pane, env: Mapping[str, str] = os.environ) -> Sequence[str]:
    """Show a pane: in the tmux we are in, at once; else by the program that is given back, which wants the terminal."""
    run_tmux(pane.socket, "select-window", "-t", pane.window)
    run_tmux(pane.socket, "select-pane", "-t", pane.id)
    own_socket = env.get("TMUX", "").partition(",")[0]
    if not own_socket:
        return ["tmux", *(["-S", pane.socket] if pane.socket else []), "attach-session", "-t", pane.session]
    if pane.socket and os.path.realpath(own_socket) != os.path.realpath(pane.socket):
        raise Refused(
            "other_server",
            "The agent runs in another tmux server than this terminal.",
            f"In a terminal outside of tmux: tmux -S {pane.socket} attach -t {pane.session}",
        )
    run_tmux(pane.socket, "switch-client", "-t", pane.id)
    return []


def is_visible(pane: Pane) -> bool:
    """Whether somebody has the pane before him: it is on top, and its terminal is in front as far as tmux knows."""
    return any(shows_pane(client, pane) for client in attached_terminals(pane.socket))


class AttachedTerminal(NamedTuple):
    """A terminal that is attached to a session."""

    session: str
    focused: bool
    """Whether it is in front; where tmux does not ask for that, it is believed to be."""
    used_at: float
    """When a key was last pressed in it."""


def attached_terminals(socket: str) -> list[AttachedTerminal]:
    """The terminals that are attached to a server."""
    line_format = "#{client_session}\t#{client_flags}\t#{client_activity}"
    lines = [line.split("\t") for line in run_tmux(socket, "list-clients", "-F", line_format)]
    knows_focus = bool(lines) and run_tmux(socket, "show-options", "-gv", "focus-events") == ["on"]
    return [
        AttachedTerminal(session, not knows_focus or "focused" in flags.split(","), float(used or 0))
        for session, flags, used in (line for line in lines if len(line) == 3)
    ]


def shows_pane(terminal: AttachedTerminal, pane: Pane) -> bool:
    """Whether a terminal has a pane before it."""
    return pane.active and pane.window_active and terminal.session == pane.session and terminal.focused


def has_recent_input(pane: Pane, seconds: float = TYPING_SECONDS) -> bool:
    """Whether somebody who has the pane before him pressed a key just now."""
    if not (pane.active and pane.window_active):
        return False
    lines = run_tmux(pane.socket, "list-clients", "-F", "#{client_session}\t#{client_activity}")
    pressed = [line.split("\t")[1] for line in lines if line.split("\t")[0] == pane.session]
    return any(each.isdigit() and time.time() - int(each) < seconds for each in pressed)


def open_window(command: Sequence[str], directory: str, name: str, env: Mapping[str, str] = os.environ) -> str:
    """Run a program in a new window of the session that we are in; the id of its pane."""
    socket = server_socket(None, env)
    arguments = ("new-window", "-P", "-F", "#{pane_id}", "-n", name, "-c", directory, "--", *command)
    return run_tmux(socket, *arguments)[0]


def current_session(env: Mapping[str, str] = os.environ) -> str | None:
    """The name of the tmux session that we run in."""
    pane = env.get("TMUX_PANE")
    if not env.get("TMUX") or not pane:
        return None
    try:
        return find_pane(server_socket(None, env), pane).session
    except HeadspaceError:
        return None
