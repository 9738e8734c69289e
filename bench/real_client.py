"""Real client: the latency that hooks add to a tool call of the real Claude Code, and the detection time of each state.

Hooks: the client runs headless and calls a tool thirty times, with a model on loopback that replies at once. The time
from each reply of the model to the client's next request is the client's own: the tool, and the hooks before and after
it. The kinds of hooks alternate. The added latency of a kind is its median minus that without hooks. Only PreToolUse
and PostToolUse are registered, so that all kinds do the same; one row has all hooks of an installation.

States: the scenarios of `tests/real_client` with both versions. The time is from the hook that reports the state, or
from the key press if no hook reports it, until the event stream shows the state.
"""

import json
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bench.options import Options
from bench.report import BenchError, Row, at_most, failed
from tests.real_client.cases import Case, run_cases
from tests.real_client.client import Home, Terminals
from tests.real_client.installation import Installation
from tests.real_client.model import ScriptedModel, reply, text, tool
from tests.real_client.program import NEW, VERSIONS, Unavailable
from tests.real_client.run import Timing
from tests.real_client.session_scenarios import ALL

CALLS = 30
ROUNDS = 5
RATIO = 1.5
HOOK_MS = 200.0
FILES_MS = 2_000.0
RUN_SECONDS = 120.0
SETTLE_SECONDS = 10.0
EVENTS = ("PreToolUse", "PostToolUse")

NONE, TRUE, OURS, ALL_HOOKS = "no hooks", "hooks that run `true`", "our hooks", "all our hooks"
HTTP, CURL, PYTHON = "http hooks", "curl hooks", "Python hooks"

PYTHON_HOOK = """
import sys, urllib.request
body, kind = sys.stdin.buffer.read(), {"Content-Type": "application/json"}
urllib.request.urlopen(urllib.request.Request(sys.argv[1], body, kind), timeout=2).read()
"""

Hook = Callable[[str, Installation], dict[str, Any]]


def run(options: Options) -> list[Row]:
    """Measure and return the rows."""
    try:
        return [*_hooks(options), *_states(options)]
    except Unavailable as reason:
        raise BenchError(str(reason)) from None
    except AssertionError as error:
        raise BenchError(str(error).splitlines()[0]) from None


@contextmanager
def _scratch() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="hs-bench-", ignore_cleanup_errors=True) as root:
        yield Path(root)


# --- hooks ------------------------------------------------------------------------------------------------------------


def _address(event: str, installation: Installation) -> str:
    return f"{installation.daemon.url}/hook/{event}"


def _curl(event: str, installation: Installation) -> dict[str, Any]:
    options = "-s -m 2 -o /dev/null -H 'Content-Type: application/json' --data-binary @-"
    return {"type": "command", "command": f"curl {options} {_address(event, installation)}"}


def _python(event: str, installation: Installation) -> dict[str, Any]:
    return {"type": "command", "command": sys.executable, "args": ["-c", PYTHON_HOOK, _address(event, installation)]}


OTHER_HOOKS: dict[str, Hook] = {
    TRUE: lambda _event, _house: {"type": "command", "command": "true", "args": []},
    HTTP: lambda event, installation: {"type": "http", "url": _address(event, installation), "timeout": 5},
    CURL: _curl,
    PYTHON: _python,
}
"""Hooks of other kinds, for one event."""


def _hooks(options: Options) -> list[Row]:
    """Thirty tool calls with every kind of hook, alternating."""
    kinds = [NONE, TRUE, OURS, ALL_HOOKS, HTTP, PYTHON, *([CURL] if shutil.which("curl") else [])]
    pauses: dict[str, list[float]] = {kind: [] for kind in kinds}
    with _scratch() as root, Terminals() as terminals:
        homes = {kind: Home(root / f"home-{number}", NEW) for number, kind in enumerate(kinds)}
        with Installation(root / "headspace", terminals, list(homes.values())) as installation:
            installation.install()
            installation.start()
            for kind, home in homes.items():
                _register(kind, home, installation)
            for number in range(1 if options.seconds else ROUNDS):
                for kind, home in homes.items():
                    options.progress(f"real client: round {number + 1}, {kind}")
                    before = _received(installation)
                    pauses[kind] += _thirty_calls(home)
                    if kind not in (NONE, TRUE):
                        _wait_for(lambda before=before: _received(installation) >= before + len(EVENTS) * CALLS, kind)  # type: ignore[misc]
    return hook_rows({kind: 1000 * statistics.median(seconds) for kind, seconds in pauses.items()})


def _received(installation: Installation) -> int:
    return int(installation.daemon.status["events_total"])


def _wait_for(condition: Callable[[], bool], kind: str) -> None:
    """Wait until the events of the hooks have arrived. Hooks that do not work would cost nothing."""
    deadline = time.monotonic() + SETTLE_SECONDS
    while not condition():
        if time.monotonic() > deadline:
            raise BenchError(f"{kind}: not all events arrived")
        time.sleep(0.05)


def _register(kind: str, home: Home, installation: Installation) -> None:
    """Write settings with only the hooks of this kind."""
    path = home.config_dir / "settings.json"
    settings = json.loads(path.read_bytes())
    if kind in OTHER_HOOKS:
        settings["hooks"] = {event: [{"hooks": [OTHER_HOOKS[kind](event, installation)]}] for event in EVENTS}
    elif kind != ALL_HOOKS:
        kept = EVENTS if kind == OURS else ()
        settings["hooks"] = {event: hooks for event, hooks in settings["hooks"].items() if event in kept}
    path.write_text(json.dumps(settings))


def _thirty_calls(home: Home) -> list[float]:
    """The client's own time for each tool call."""
    (home.project / "notes.txt").write_text("nothing\n")
    look = reply(tool("Read", file_path=str(home.project / "notes.txt")))
    with ScriptedModel({"Look thirty times": [*[look] * CALLS, reply(text("Done."))]}) as model:
        done = subprocess.run(
            ["env", "-i", *home.command(model.url, "-p", "Look thirty times")],
            cwd=home.project,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=RUN_SECONDS,
            check=False,
        )
        if done.returncode or len(model.pauses) < CALLS:
            raise BenchError(f"the client made {len(model.pauses)} calls and ended with {done.returncode}")
        return model.pauses[-CALLS:]


def hook_rows(medians: dict[str, float]) -> list[Row]:
    """The latency that each kind adds to a tool call, and the ratio of ours to the cheapest."""
    added = {kind: median - medians[NONE] for kind, median in medians.items()}
    what = "real client, our hooks, ratio to `true`"
    if added[TRUE] <= 0:
        return [failed(what, "hooks that run `true` seem to cost nothing; the machine is too busy to measure")]
    note = f"{CALLS} tool calls, Pre + Post; a call without hooks takes {medians[NONE]:.1f} ms"
    return [
        Row(what, added[OURS] / added[TRUE], "×", at_most(RATIO), note),
        *(Row(f"real client, {kind} add", added[kind], "ms", None, _words(kind)) for kind in medians if kind != NONE),
    ]


def _words(kind: str) -> str:
    return "also PostToolBatch and hooks outside of tool calls" if kind == ALL_HOOKS else "per tool call"


# --- states -----------------------------------------------------------------------------------------------------------


def _states(options: Options) -> list[Row]:
    """Run all scenarios, two at a time."""
    cases = [Case(scenario, version) for version in VERSIONS for scenario in ALL]
    timings: list[Timing] = []
    missed: list[str] = []
    with _scratch() as root, run_cases(cases, root, workers=2) as results:
        for name, future in results.items():
            options.progress(f"real client: {name}")
            try:
                timings += future.result()
            except AssertionError:
                missed.append(name)
    return [*state_rows(timings), Row("real client, failed scenarios", len(missed), "", at_most(0), *missed[:1])]


def state_rows(timings: Iterable[Timing]) -> list[Row]:
    """The slowest detection of each state, separately for hooks and for files and processes."""
    groups: dict[tuple[str, bool], list[Timing]] = {}
    for timing in timings:
        groups.setdefault((timing.state, timing.source == "hook"), []).append(timing)
    return [_state_row(state, group, by_hook=by_hook) for (state, by_hook), group in sorted(groups.items())]


def _state_row(state: str, group: list[Timing], *, by_hook: bool) -> Row:
    worst = max(group, key=lambda timing: timing.seconds)
    median = 1000 * statistics.median(timing.seconds for timing in group)
    by = "a hook" if by_hook else "/".join(sorted({timing.source for timing in group}))
    note = f"worst of {len(group)}, median {median:.0f} ms; {worst.scenario}, {worst.version}"
    limit = HOOK_MS if by_hook else FILES_MS
    return Row(f"real client, {state}, reported by {by}", 1000 * worst.seconds, "ms", at_most(limit), note)
