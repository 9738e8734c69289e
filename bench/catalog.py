"""The table of benchmarks: a new one is a module and a line here."""

from collections.abc import Callable
from dataclasses import dataclass

from bench import answers, board, evolve, growth, idle, ingest, path, policy, real_client, rpc, shim, start, stream, top
from bench.options import Options
from bench.report import Row


@dataclass(frozen=True)
class Benchmark:
    """A benchmark: what it tells, and how it is run."""

    tells: str
    run: Callable[[Options], list[Row]]


BENCHMARKS: dict[str, Benchmark] = {
    "shim": Benchmark("what one hook costs, with the daemon up and down, beside `sh -c true`", shim.run),
    "real_client": Benchmark(
        "what hooks add to a call of the real Claude Code, and how soon each state is shown", real_client.run
    ),
    "ingest": Benchmark("hook events a second through a real daemon, beside an endpoint that does nothing", ingest.run),
    "postgres": Benchmark("the same as ingest, with PostgreSQL on this machine", ingest.run_on_postgres),
    "growth": Benchmark("ingest, list and start at 0, 100,000 and 1,000,000 events; rebuild; memory", growth.run),
    "stream": Benchmark("from a hook to the message on the event stream, at 500 hooks a second", stream.run),
    "rpc": Benchmark("from a call over the socket to its answer, at 500 calls a second", rpc.run),
    "board": Benchmark("from a hook to its paint in Chromium, 500 agents, 100 hooks a second", board.run),
    "top": Benchmark("`headspace top` with 300 agents: its start, from a key to its paint, and while idle", top.run),
    "answers": Benchmark(
        "from a question to a button on an open page, and from the click to the client going on", answers.run
    ),
    "evolve": Benchmark("the kernel alone: events a second decoded and evolved in memory", evolve.run),
    "policy": Benchmark("how long a verdict on a tool call takes, over the corpus of the tests", policy.run),
    "path": Benchmark(
        "how many calls, functions and files the daemon runs for one hook; `--list` prints them", path.run
    ),
    "idle": Benchmark(
        "what sixty quiet sessions cost, and how soon an interrupt is seen that only files tell", idle.run
    ),
    "start": Benchmark("how long commands and the daemon take until they are there", start.run),
}
