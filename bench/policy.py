"""Policy: the time of a verdict, from the payload of a tool call to the rule, over the corpus of the tests.

It runs in this process, without a daemon: parsing the call (shell, paths on disk) and judging it with the built-in
rules. The total time of a hook that asks is in `hook_script`.
"""

import contextlib
import statistics
import tempfile
import time
from pathlib import Path

from bench.options import Options
from bench.report import Row, at_most
from claude_headspace.clients.decode import decode
from claude_headspace.config import Paths
from claude_headspace.inputs.policy.analyser import Analyser, AnalysisFailed
from claude_headspace.inputs.policy.calls import analyse_call
from claude_headspace.inputs.policy.cases import Case, read_cases
from claude_headspace.inputs.policy.effects import Invocation
from claude_headspace.inputs.policy.files import RuleBook, load_rules
from claude_headspace.kernel.decide import decide
from claude_headspace.kernel.envelope import Envelope
from claude_headspace.kernel.policy.call import Subject
from claude_headspace.testing import hook
from tests.inputs.policy.hostile import HUGE

CORPUS = Path(__file__).resolve().parent.parent / "tests/inputs/policy/corpus"
SECONDS = 4.0


def run(options: Options) -> list[Row]:
    """Measure and return the rows."""
    options.progress("policy")
    with tempfile.TemporaryDirectory() as scratch:
        home = Path(scratch)
        book = load_rules(Paths(home, home, home, home), "guard")
        envelopes = [_envelope(case, home) for path in sorted(CORPUS.glob("*.toml")) for case in read_cases(path)]
        durations = sorted(_measured(envelopes, book, str(home), options.seconds or SECONDS))
        worst, slowest = _measure_worst(str(home))
    note = f"{len(envelopes)} tool calls of the corpus, {len(durations)} verdicts"
    return [
        Row("verdict, median", statistics.median(durations) * 1e3, "ms", at_most(0.3), note),
        Row("verdict, 99th percentile", durations[int(len(durations) * 0.99)] * 1e3, "ms"),
        Row("analysis, worst input", worst * 1e3, "ms", at_most(50.0), slowest),
    ]


def _measure_worst(home: str) -> tuple[float, str]:
    """The longest analysis of a hostile text, each the fastest of three, and the beginning of that text."""
    analyser, found = Analyser(), list[tuple[float, str]]()
    try:
        for text in ("echo " + "x" * 5_000, *HUGE):
            invocation, runs = Invocation("Bash", (text,), directory=home, home=home), list[float]()
            for _ in range(3):
                began = time.perf_counter()
                with contextlib.suppress(AnalysisFailed):
                    analyser.analyse(invocation)
                runs.append(time.perf_counter() - began)
                with contextlib.suppress(AnalysisFailed):  # after a failure: wait for the next process
                    analyser.analyse(Invocation("Bash", ("echo " + "x" * 5_000,), directory=home, home=home))
            found.append((min(runs), text[:20]))
    finally:
        analyser.close()
    return max(found)


def _envelope(case: Case, home: Path) -> Envelope:
    return hook("PreToolUse", tool_name=case.tool, tool_input=case.input, cwd=str(home))


def _measured(envelopes: list[Envelope], book: RuleBook, home: str, seconds: float) -> list[float]:
    """The duration of each verdict, in at least one pass."""
    durations: list[float] = []
    deadline = time.perf_counter() + seconds
    while not durations or time.perf_counter() < deadline:
        for envelope in envelopes:
            began = time.perf_counter()
            call = analyse_call(decode(envelope).tool, book, directory=home, home=home, project=home)
            decide(book.policy, Subject(), call)
            durations.append(time.perf_counter() - began)
    return durations
