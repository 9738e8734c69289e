"""Path: how much code the daemon runs for one hook, from the request to the work that follows its commit.

The figures are counts. They hardly depend on the machine: work that a background check does during a recording is
included, so the smallest of several recordings is reported. A separate process records PreToolUse of a shell command
in two kinds: a repeated command, whose analysis is cached, and a new one. `path_probe` defines where a recording starts
and ends, `recorder` what is counted. The budget of both is half of `BASELINE`, and one decode of the payload. The
baseline was recorded with the analysis of the command.
"""

import json
import sys
from itertools import groupby
from typing import Any

from bench import processes
from bench.daemon import read_token
from bench.options import Options
from bench.report import BenchError, Row, at_most

SECONDS = 60.0

BASELINE_OF = "before the restructuring (2026-11-15)"
BASELINE = {"calls": 482, "functions": 296, "files": 86, "crossings": 79, "decodes": 6}
"""The figures at that time."""
WHAT = {
    "calls": "function calls",
    "functions": "distinct functions",
    "files": "files",
    "crossings": "calls from another package",
    "decodes": "decodes of the payload",
}


def run(options: Options) -> list[Row]:
    """Record the requests, and return the rows."""
    options.progress("path")
    results = record()
    if options.calls:
        for kind, result in results.items():
            print("\n".join([f"{kind} command", *tree(result["tree"]), ""]))
    return [_row(kind, name, result[name]) for kind, result in results.items() for name in WHAT]


def _row(kind: str, name: str, value: int) -> Row:
    budget, note = 1 if name == "decodes" else BASELINE[name] // 2, f"{BASELINE[name]} {BASELINE_OF}"
    return Row(f"one PreToolUse, {kind} command, {WHAT[name]}", value, budget=at_most(budget), note=note)


def record() -> dict[str, dict[str, Any]]:
    """The figures and the calls of one request of each kind."""
    with processes.scratch() as home:
        file, project = home.root / "path.json", home.project("path")
        env = {**home.env, "HEADSPACE_BENCH_TOKEN": read_token(home, "ingest")}
        processes.run([sys.executable, "-m", "bench.path_probe", str(file), str(project)], env, SECONDS)
        try:
            results: dict[str, dict[str, Any]] = json.loads(file.read_bytes())
        except (OSError, ValueError) as error:
            raise BenchError("the probe recorded nothing") from error
    return results


def tree(calls: list[dict[str, Any]]) -> list[str]:
    """The calls as an indented list in the order in which they began; equal calls in a row share a line."""
    below: dict[int | None, list[dict[str, Any]]] = {}
    for number, call in enumerate(calls):
        below.setdefault(call["caller"], []).append(call | {"number": number})

    def lines(caller: int | None, depth: int) -> list[str]:
        blocks = ([_line(call, depth), *lines(call["number"], depth + 1)] for call in below.get(caller, []))
        return [line for block, equal in groupby(blocks) for line in _times(block, len(list(equal)))]

    return lines(None, 0)


def _line(call: dict[str, Any], depth: int) -> str:
    notes = [
        "" if call["is_counted"] else "began before",
        f"thread {call['thread']}" if depth == 0 else "",
        "decodes the payload" if call["decodes"] else "",
    ]
    return "; ".join(filter(None, [f"{'  ' * depth}{call['function']}  {call['file']}", *notes]))


def _times(block: list[str], times: int) -> list[str]:
    """The lines of a call and what it called, with the number of equal calls in the first."""
    return [f"{block[0]}  ×{times}", *block[1:]] if times > 1 else block
