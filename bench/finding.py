"""Finding: the preview in `headspace top` and the picker with 200 agents, each in a tmux pane of its own."""

import http.client
import json
import statistics
import subprocess
import time

from bench import processes
from bench.daemon import daemon, read_token
from bench.load import percentile
from bench.options import Options
from bench.report import BenchError, Row, at_most
from bench.top import (
    AGO_SECONDS,
    HEIGHT,
    IDLE_PERCENT,
    IDLE_SECONDS,
    KEY_MS,
    SELECTED,
    WIDTH,
    Screen,
    idle_percent,
    screen,
)
from claude_headspace.outputs.pane_screen import read_agent_screen

AGENTS = 200
KEYS = 40
SHOWN = b"screen-"
"""A text on the screen of every agent."""
PROGRAM = r"""for i in 1 2 3 4 5 6 7 1 2 3 4 5 6 7 1 2 3 4 5 6 7 1 2 3 4 5 6 7 1 2 3 4 5 6 7; do
printf '\033[3%dmsome work\033[0m in progress: step %d\n' $i $i; done
printf '\033[1mscreen-%s\033[0m' "$1"; exec cat"""
"""What runs in a pane: it fills the screen with colours."""
READ_RATIO = 3.0
"""How much longer than `tmux capture-pane` the read of a screen may take: it checks whose screen it is."""
TYPED = "project-1"
"""What is typed into the picker, again and again."""


def run(options: Options) -> list[Row]:
    """Measure and return the rows."""
    with processes.scratch() as home, daemon(home) as server:
        options.progress(f"finding: starting {AGENTS} panes")
        try:
            panes = start_panes(home.env)
            create_agents(server.port, read_token(home, "ingest"), panes)
            ratio = _read_ratio(home.env, *panes[0])
            seconds = options.seconds or IDLE_SECONDS
            options.progress("finding: preview")
            with screen(home.env) as shown:
                shown.wait_for(b"Conversation")
                shown.settle()
                before = idle_percent(shown.process.pid, seconds)
                plain = [_paint(shown, SELECTED, "j" if number < KEYS // 2 else "k") for number in range(KEYS)]
                shown.press("p")
                shown.wait_for(SHOWN)
                previews = [_paint(shown, SHOWN, "j" if number < KEYS // 2 else "k") for number in range(KEYS)]
                visible = idle_percent(shown.process.pid, seconds)
                shown.press("p")
                shown.settle()
                after = idle_percent(shown.process.pid, seconds)
            options.progress("finding: picker")
            with screen(home.env, "show") as shown:
                started = (shown.wait_for(b"esc cancel") - shown.began) * 1000
                keys = (TYPED + "\x7f" * len(TYPED)) * (KEYS // len(TYPED) // 2)
                typed = [_paint(shown, b"esc cancel", key) for key in keys]
                shown.press("\x1b")
        finally:
            _tmux(home.env, "kill-server")
    return [
        Row("preview, key to paint, p95", percentile(previews, 95), "ms", at_most(KEY_MS), f"{AGENTS} agents"),
        Row("preview, key to paint, p50", percentile(previews, 50), "ms"),
        Row("top, key to paint without preview, p95", percentile(plain, 95), "ms", None, "in the same run"),
        Row("preview, reading a screen, ratio to tmux", ratio, "×", at_most(READ_RATIO), "medians, alternating"),
        Row("picker, key to paint, p95", percentile(typed, 95), "ms", at_most(KEY_MS), f"{AGENTS} agents"),
        Row("picker, start", started, "ms", None, "process start to the list"),
        Row("top, idle, preview not opened", before, "%", at_most(IDLE_PERCENT), "processor time of one core"),
        Row("top, idle, preview visible", visible, "%", None, "a screen that does not change"),
        Row("top, idle, preview closed", after, "%", at_most(IDLE_PERCENT), "as before it was opened"),
    ]


def start_panes(env: dict[str, str]) -> list[tuple[str, int]]:
    """One pane for each agent, with its process; all in one server."""
    size = ("-x", str(WIDTH), "-y", str(HEIGHT))
    _tmux(env, "-f", "/dev/null", "new-session", "-d", *size, "-s", "agents", "cat")
    for number in range(AGENTS):
        _tmux(env, "new-window", "-d", "-t", "agents:", "sh", "-c", PROGRAM, "sh", str(number))
    listed = _tmux(env, "list-panes", "-s", "-t", "agents", "-F", "#{pane_id} #{pane_pid}").splitlines()
    return [(pane, int(pid)) for pane, pid in (line.split() for line in listed[1:])]


def _tmux(env: dict[str, str], *arguments: str) -> str:
    done = subprocess.run(["tmux", *arguments], env=env, capture_output=True, text=True, check=False)
    if done.returncode and "kill-server" not in arguments:
        raise BenchError(f"tmux failed: {done.stderr.strip()}")
    return done.stdout


def create_agents(port: int, token: str, panes: list[tuple[str, int]]) -> None:
    """Create an agent in the middle of a turn in each pane, with events some minutes ago."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    for number, (pane, pid) in enumerate(panes):
        headers = {
            "Content-Type": "application/json",
            "Authorization": f"Bearer {token}",
            "X-Headspace-Fired-At": f"{time.time() - AGO_SECONDS:.3f}",
            "X-Headspace-Tmux-Pane": pane,
            "X-Headspace-Client-Pid": str(pid),
        }
        session = {"session_id": f"finding-{number}", "cwd": f"/home/dev/project-{number}"}
        for event in ("session-start", "user-prompt-submit"):
            body = json.dumps({**session, "prompt": f"Task {number}"})
            connection.request("POST", f"/hook/{event}", body, headers)
            with connection.getresponse() as response:
                response.read()
                if response.status != 200:
                    raise BenchError(f"a hook got the status {response.status}")
    connection.close()


def _paint(shown: Screen, awaited: bytes, key: str) -> float:
    """The seconds from a key to a text on the terminal."""
    began = shown.press(key)
    took = shown.wait_for(awaited) - began
    shown.drain()
    return took


def _read_ratio(env: dict[str, str], pane: str, pid: int) -> float:
    """How much longer the read of a screen takes than tmux alone."""
    bare: list[float] = []
    ours: list[float] = []
    for _ in range(KEYS):
        began = time.perf_counter()
        _tmux(env, "capture-pane", "-p", "-e", "-t", pane)
        between = time.perf_counter()
        read_agent_screen("agent", pane, pid, env)
        ours.append(time.perf_counter() - between)
        bare.append(between - began)
    return statistics.median(ours) / statistics.median(bare)
