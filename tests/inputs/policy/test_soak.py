"""Generated shell texts: no input crashes, hangs or grows the guard."""

import resource

import pytest

from claude_headspace.inputs.policy.analyser import Analyser, AnalysisFailed
from claude_headspace.inputs.policy.effects import Effects, Invocation
from tests.inputs.policy.hostile import generate

MAX_GROWTH_KILOBYTES = 150_000


def soak(count: int) -> None:
    """Analyse texts. Each gets a result or fails with a reason, and the memory of this process stays bounded."""
    analyser = Analyser()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    results = {"effects": 0, "failures": 0}
    try:
        for text in generate(count):
            try:
                found = analyser.analyse(Invocation("Bash", (text,), directory="/tmp", home="/home/dev"))
                assert isinstance(found, Effects)
                results["effects"] += 1
            except AnalysisFailed:
                results["failures"] += 1
    finally:
        analyser.close()
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert sum(results.values()) == count
    assert results["failures"] <= count // 10
    assert grown < MAX_GROWTH_KILOBYTES


def test_generated_texts() -> None:
    """A few hundred texts, nested, cut off and huge."""
    soak(300)


@pytest.mark.full
def test_ten_thousand_generated_texts() -> None:
    """The long soak."""
    soak(10_000)
