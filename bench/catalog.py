"""The table of benchmarks. A new benchmark is a module and a line here."""

from collections.abc import Callable
from dataclasses import dataclass

from bench import (
    answers,
    board,
    changed_files,
    changes,
    conversation,
    evolve,
    finding,
    growth,
    hook_script,
    idle,
    ingest,
    path,
    policy,
    real_client,
    rpc,
    start,
    stream,
    top,
)
from bench.options import Options
from bench.report import Row


@dataclass(frozen=True)
class Benchmark:
    """The description and the function of a benchmark."""

    description: str
    run: Callable[[Options], list[Row]]


BENCHMARKS: dict[str, Benchmark] = {
    "hook_script": Benchmark(
        "run time of one hook, with and without a daemon, compared with `sh -c true`", hook_script.run
    ),
    "real_client": Benchmark(
        "latency that hooks add to a tool call of the real Claude Code, and detection time of each state",
        real_client.run,
    ),
    "ingest": Benchmark(
        "hook events per second of a real daemon, compared with an endpoint that does nothing", ingest.run
    ),
    "postgres": Benchmark("ingest with PostgreSQL on this machine", ingest.run_on_postgres),
    "growth": Benchmark("ingest, list and start with 0, 100,000 and 1,000,000 events; rebuild; memory", growth.run),
    "stream": Benchmark("from a hook to its message on the event stream, at 500 hooks per second", stream.run),
    "rpc": Benchmark("from a socket request to its reply, at 500 requests per second", rpc.run),
    "board": Benchmark("from a hook to its paint in Chromium, 500 agents, 100 hooks per second", board.run),
    "changes": Benchmark("changes of 200 files and 20,000 lines in Chromium: time to paint, scrolling", changes.run),
    "conversation": Benchmark(
        "20,000 turns of one agent in Chromium: time to the newest and to a linked turn, scrolling", conversation.run
    ),
    "top": Benchmark("`headspace top` with 300 agents: start, key to paint, idle cost", top.run),
    "finding": Benchmark("preview and picker with 200 agents: key to paint, idle cost", finding.run),
    "answers": Benchmark(
        "from a question to a button on an open page, and from the click to the start of the command", answers.run
    ),
    "changed_files": Benchmark(
        "the API: what the latest command changed, with 1,000,000 events in the journal", changed_files.run
    ),
    "evolve": Benchmark("the kernel alone: events per second, decoded and evolved in memory", evolve.run),
    "policy": Benchmark("time of a verdict on a tool call, over the corpus of the tests", policy.run),
    "path": Benchmark(
        "how many calls, functions and files the daemon runs for one hook; `--list` prints them", path.run
    ),
    "idle": Benchmark("cost of sixty idle sessions, and detection time of an interrupt that only files show", idle.run),
    "start": Benchmark("start time of commands and of the daemon", start.run),
}
