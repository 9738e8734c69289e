"""Tool calls are analysed within a budget, large ones in a process that can be ended."""

import sys
from collections.abc import Iterator

import pytest

from claude_headspace.inputs.policy.analyser import TOO_COMPLEX, Analyser, AnalysisFailed
from claude_headspace.inputs.policy.effects import Invocation, analyse_effects
from claude_headspace.inputs.policy.shell.budget import IN_PROCESS, BudgetExceeded
from claude_headspace.inputs.policy.shell.commands import MAX_ARGUMENT_CHARS
from claude_headspace.kernel.policy.call import Trait

LONG = "echo " + "x" * 5_000 + "; rm -rf /etc"


def invocation(text: str) -> Invocation:
    """Return the invocation of a shell command."""
    return Invocation("Bash", (text,), directory="/tmp", home="/home/dev")


@pytest.fixture
def analyser() -> Iterator[Analyser]:
    """An analyser whose process is ended afterwards."""
    found = Analyser()
    yield found
    found.close()


def test_small_call_is_analysed_in_this_process(analyser: Analyser) -> None:
    """No other process is started."""
    assert [use.path for use in analyser.analyse(invocation("rm -rf /etc")).paths] == ["/etc"]
    assert analyser.process_id is None


def test_large_call_is_analysed_in_another_process(analyser: Analyser) -> None:
    """It exceeds the limits of this process. The result is the same."""
    with pytest.raises(BudgetExceeded):
        analyse_effects(invocation(LONG), IN_PROCESS)
    assert analyser.analyse(invocation(LONG)) == analyse_effects(invocation(LONG))
    assert analyser.process_id is not None


def test_script_counts_towards_the_limits(analyser: Analyser, tmp_path_factory: pytest.TempPathFactory) -> None:
    """A short command that runs a long script is analysed in the other process."""
    script = tmp_path_factory.mktemp("scripts") / "long.sh"
    script.write_text(LONG)
    assert [use.path for use in analyser.analyse(invocation(f"sh {script}")).paths] == ["/etc"]
    assert analyser.process_id is not None


def test_process_that_takes_too_long_is_replaced(analyser: Analyser) -> None:
    """A text that the parser needs seconds for fails with a reason. The next call gets a result."""
    with pytest.raises(AnalysisFailed, match=TOO_COMPLEX):
        analyser.analyse(invocation("a[ " * 10_000))
    assert analyser.analyse(invocation(LONG)).programs
    assert analyser.restarts == 1


def test_exceeded_budget_is_a_trait(analyser: Analyser) -> None:
    """The process reports what it found, and that the rest is unknown."""
    found = analyser.analyse(invocation("rm -rf /etc;" + "for a in {1..9}; do " * 5 + "echo;" + "done;" * 5))
    assert [use.path for use in found.paths] == ["/etc"]
    assert found.traits == (Trait.TOO_COMPLEX,)


def test_long_arguments_are_shortened() -> None:
    """Rules see the beginning and the end."""
    argument = analyse_effects(invocation(f"curl {'a' * 5_000}{'b' * 5_000}")).programs[0].arguments[0]
    assert (argument[0], argument[-1], len(argument)) == ("a", "b", MAX_ARGUMENT_CHARS)


def test_a_process_that_cannot_be_started_is_reported(analyser: Analyser, monkeypatch: pytest.MonkeyPatch) -> None:
    """After three failures in a row, until one is available again."""
    with monkeypatch.context() as without_python:
        without_python.setattr(sys, "executable", "/nowhere/python")
        for _ in range(3):
            assert analyser.failure is None
            with pytest.raises(AnalysisFailed):
                analyser.analyse(invocation(LONG))
        assert analyser.failure is not None
    analyser.analyse(invocation(LONG))
    assert analyser.failure is None
