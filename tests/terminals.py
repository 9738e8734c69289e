"""Terminals for tests: a separate tmux server, and a small client that behaves like Claude Code.

    with terminal(tmp_path, daemon) as tmux:
        pane = tmux.start("claude")
        tmux.keys(pane, "hello", "Enter")

The client reads prompts as Claude Code does (raw, with bracketed paste), fires the installed hooks, and records its
input. It replaces the real client where that is not available.
"""

import contextlib
import json
import os
import shlex
import shutil
import subprocess
import sys
import uuid
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.support import LIMIT_SECONDS, RunningDaemon, environment, wait_until
from tests.support_hooks import Hooks

needs_tmux = pytest.mark.skipif(shutil.which("tmux") is None, reason="there is no tmux on this machine")

CLIENT = r'''
"""Stands in for Claude Code: prompts in, hooks out."""
import json, os, select, subprocess, sys, termios, tty, uuid

config = os.environ["CLAUDE_CONFIG_DIR"]
args = sys.argv[1:]
resumed = "--resume" in args and "--fork-session" not in args
session = args[args.index("--resume") + 1] if resumed else str(uuid.uuid4())
journal = open(os.environ["FAKE_CLIENT_LOG"], "a", buffering=1)

def note(**what):
    journal.write(json.dumps({"pid": os.getpid(), **what}) + "\n")

def fire(event, **more):
    settings = json.load(open(config + "/settings.json"))
    payload = json.dumps({"session_id": session, "cwd": os.getcwd(), "hook_event_name": event, **more}).encode()
    for group in settings.get("hooks", {}).get(event, ()):
        for hook in group["hooks"]:
            env = {**os.environ, "CLAUDE_PID": str(os.getpid())}
            subprocess.run([hook["command"], *hook.get("args", [])], input=payload, env=env)

def prompt(text):
    note(prompt=text)
    if text == "/exit" or text.startswith("/exit "):
        fire("SessionEnd", reason="prompt_input_exit")
        sys.stdout.write("\x1b[?2004l")
        sys.exit(int(text.partition(" ")[2] or 0))
    fire("UserPromptSubmit", prompt=text)
    if text == "ask":
        options = [{"label": "A", "description": ""}]
        question = {"questions": [{"question": "Which?", "header": "H", "options": options}]}
        fire("PreToolUse", tool_name="AskUserQuestion", tool_use_id="q", tool_input=question)
        fire("PermissionRequest", tool_name="AskUserQuestion", tool_input=question)
    elif text == "permit":
        fire("PermissionRequest", tool_name="Bash", tool_input={"command": "make test"})
    elif text == "work":
        return
    elif text == "overflow":
        fire("PreCompact", trigger="auto")
    else:
        fire("Stop", last_assistant_message="Done: " + text[:40] + ".")

ours = ("CLAUDE_HEADSPACE", "CLAUDE_SESSION", "TMUX")
note(start=args, env={k: v for k, v in os.environ.items() if k.startswith(ours)})
old = termios.tcgetattr(0)
tty.setcbreak(0)
changed = termios.tcgetattr(0)
changed[0] &= ~termios.IXON  # Ctrl+S is a key
termios.tcsetattr(0, termios.TCSADRAIN, changed)
border, rows = "\u2500" * 60, 0

def draw(text):
    """Draw the input box over the last one; the cursor stays in it."""
    global rows
    erase()
    parts = [line[at : at + 50] for line in text.split("\n") for at in range(0, len(line) or 1, 50)]
    lines = [("\u276f\u00a0" if number == 0 else "  ") + part for number, part in enumerate(parts)]
    sys.stdout.write("\r\n".join([border, *lines, border]) + "\x1b[1A\r")
    sys.stdout.flush()
    rows = len(lines)

def erase():
    global rows
    sys.stdout.write(f"\x1b[{rows}A\r\x1b[J" if rows else "\r\n")  # a hook may have written something
    sys.stdout.flush()
    rows = 0

sys.stdout.write("\x1b[?2004h\x1b]0;fake\x07")
draw("")
while (gate := os.environ.get("FAKE_CLIENT_GATE")) and not os.path.exists(gate):
    select.select([], [], [], 0.02)
fire("SessionStart", source="resume" if "--resume" in args else "startup")
text, stash, pasting, raw = "", "", False, b""
try:
    while True:
        chunk = os.read(0, 4096)
        if not chunk:
            break
        raw += chunk
        while raw:
            if raw.startswith(b"\x1b[200~"):
                pasting, raw = True, raw[6:]
            elif raw.startswith(b"\x1b[201~"):
                pasting, raw = False, raw[6:]
            elif raw == b"\x1b" and not select.select([0], [], [], 0.2)[0]:
                note(esc=True)
                raw = b""
            elif raw.startswith(b"\x1b") and len(raw) < 6:
                break
            else:
                first = raw[0]
                size = 1 if first < 0x80 else 2 if first < 0xE0 else 3 if first < 0xF0 else 4
                if len(raw) < size:
                    break
                sign, raw = raw[:size].decode("utf-8", "replace"), raw[size:]
                if sign in "\r\n" and not pasting:
                    erase()
                    prompt(text)
                    text, stash = stash, ""
                elif sign == "\x13":
                    text, stash = ("", text) if text else (stash, "")
                else:
                    text += "\n" if sign == "\r" else sign
                if not raw:
                    draw(text)
finally:
    termios.tcsetattr(0, termios.TCSADRAIN, old)
'''


class Terminal:
    """A tmux server that only the test uses."""

    def __init__(self, folder: Path, daemon: RunningDaemon, width: int = 120, height: int = 30) -> None:
        self.daemon = daemon
        self.folder = folder
        self.log = folder / "client.jsonl"
        self.sockets = Path("/tmp") / f"hs-tmux-{uuid.uuid4().hex[:8]}"  # paths of sockets are short
        self.sockets.mkdir(mode=0o700)
        self._size = (str(width), str(height))
        self.projects = folder / "projects"
        self._make_client()
        self.hooks = Hooks(daemon.home)
        self.tmux("new-session", "-d", "-s", "keeper", "cat")  # a server ends with its last session

    def _make_client(self) -> None:
        binaries = self.folder / "bin"
        binaries.mkdir(parents=True)
        source = binaries / "fake_client.py"
        source.write_text(CLIENT)
        program = binaries / "claude"
        program.write_text(f'#!/bin/sh\nexec {sys.executable} {source} "$@"\n')
        program.chmod(0o755)
        headspace = binaries / "headspace"
        headspace.write_text(f'#!/bin/sh\nexec {sys.executable} -m claude_headspace "$@"\n')
        headspace.chmod(0o755)

    @property
    def env(self) -> dict[str, str]:
        """The environment of programs in the terminal."""
        home = self.daemon.home
        return {
            **environment(home),
            "PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}",
            "CLAUDE_CONFIG_DIR": str(home / ".claude"),
            "FAKE_CLIENT_LOG": str(self.log),
            "TMUX_TMPDIR": str(self.sockets),
            "TERM": "xterm-256color",
            "LANG": "C.UTF-8",
            "TZ": "UTC",
            "SHELL": "/bin/sh",
        }

    # --- tmux ---

    def tmux(self, *arguments: str, check: bool = True) -> str:
        """Run a tmux command; returns its output."""
        done = subprocess.run(
            ["tmux", "-f", "/dev/null", *arguments],
            env=self.env,
            capture_output=True,
            text=True,
            timeout=LIMIT_SECONDS,
            check=False,
        )
        assert not check or done.returncode == 0, (arguments, done.stderr)
        return done.stdout.rstrip("\n")

    def start(self, command: str, session: str = "", project: str = "", **variables: str) -> str:
        """Run a command in a new session and directory; returns the id of its pane."""
        directory = self.projects / (project or f"p{uuid.uuid4().hex[:6]}")
        directory.mkdir(parents=True, exist_ok=True)
        width, height = self._size
        given = [part for name, value in variables.items() for part in ("-e", f"{name}={value}")]
        made = ("new-session", "-d", "-P", "-F", "#{pane_id}", "-s", session or f"s{uuid.uuid4().hex[:6]}")
        return self.tmux(*made, "-x", width, "-y", height, "-c", str(directory), *given, command)

    def keys(self, pane: str, *keys: str) -> None:
        """Press keys."""
        self.tmux("send-keys", "-t", pane, *keys)

    def screen(self, pane: str) -> str:
        """The content of a pane."""
        return self.tmux("capture-pane", "-p", "-t", pane)

    def wait_for(self, pane: str, text: str) -> str:
        """Wait until a pane shows a text, also over two lines; returns its content."""
        shown = partial(self.tmux, "capture-pane", "-pJ", "-t", pane)
        wait_until(lambda: text in shown(), f"{text!r} on the screen")
        return self.screen(pane)

    @contextlib.contextmanager
    def attached(self, session: str) -> Iterator[None]:
        """A person is attached to a session: `script` provides the terminal."""
        command = ["script", "-qec", f"tmux attach -t {shlex.quote(session)}", "/dev/null"]
        with subprocess.Popen(command, env=self.env, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as person:
            try:
                yield
            finally:
                self.tmux("detach-client", "-a", check=False)
                person.kill()

    def end(self) -> None:
        """End the server and everything in it."""
        self.tmux("kill-server", check=False)
        shutil.rmtree(self.sockets, ignore_errors=True)

    # --- the client ---

    def notes(self) -> list[dict[str, Any]]:
        """What the clients recorded."""
        return [json.loads(line) for line in self.log.read_text().splitlines()] if self.log.exists() else []

    def prompts(self) -> list[str]:
        """The prompts that the clients received."""
        return [note["prompt"] for note in self.notes() if "prompt" in note]

    def agent_in(self, pane: str, state: str = "idle") -> dict[str, Any]:
        """The agent of a pane, once it is in a state."""

        def found() -> list[dict[str, Any]]:
            return [a for a in self.daemon.agents() if a["tmux"]["pane"] == pane and a["state"] == state]

        return wait_until(found, f"an agent in {pane} that is {state}")[0]


@contextlib.contextmanager
def terminal(folder: Path, daemon: RunningDaemon, **size: int) -> Iterator[Terminal]:
    """A terminal that is closed at the end."""
    made = Terminal(folder, daemon, **size)
    try:
        yield made
    finally:
        made.end()


def run_in(
    terminal: Terminal, *arguments: str, directory: Path | None = None, **variables: str
) -> "subprocess.CompletedProcess[str]":
    """Run a command of Headspace outside the terminal, with a pipe as output."""
    return subprocess.run(
        [sys.executable, "-m", "claude_headspace", *arguments],
        env={**terminal.env, **variables},
        cwd=directory,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=LIMIT_SECONDS,
        check=False,
    )
