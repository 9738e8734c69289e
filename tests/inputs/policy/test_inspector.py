"""Tool calls are inspected within a budget, large ones in a process that can be ended."""

from collections.abc import Iterator

import pytest

from claude_headspace.inputs.policy.inspection import MAX_ARGUMENT_CHARS, Request, inspect
from claude_headspace.inputs.policy.inspector import TOO_COMPLEX, InspectionFailed, Inspector
from claude_headspace.inputs.policy.shell.budget import IN_PROCESS, BudgetExceeded
from claude_headspace.kernel.policy.call import Trait

LONG = "echo " + "x" * 5_000 + "; rm -rf /etc"


def request(text: str) -> Request:
    """Return the request for a shell command."""
    return Request("Bash", (text,), directory="/tmp", home="/home/dev")


@pytest.fixture
def inspector() -> Iterator[Inspector]:
    """An inspector whose worker is ended afterwards."""
    found = Inspector()
    yield found
    found.close()


def test_small_call_is_inspected_in_this_process(inspector: Inspector) -> None:
    """No worker is started."""
    assert [use.path for use in inspector.inspect(request("rm -rf /etc")).paths] == ["/etc"]
    assert inspector.worker_pid is None


def test_large_call_is_inspected_in_the_worker(inspector: Inspector) -> None:
    """It exceeds the limits of this process. The result is the same."""
    with pytest.raises(BudgetExceeded):
        inspect(request(LONG), IN_PROCESS)
    assert inspector.inspect(request(LONG)) == inspect(request(LONG))
    assert inspector.worker_pid is not None


def test_script_counts_towards_the_limits(inspector: Inspector, tmp_path_factory: pytest.TempPathFactory) -> None:
    """A short command that runs a long script is inspected in the worker."""
    script = tmp_path_factory.mktemp("scripts") / "long.sh"
    script.write_text(LONG)
    assert [use.path for use in inspector.inspect(request(f"sh {script}")).paths] == ["/etc"]
    assert inspector.worker_pid is not None


def test_worker_that_takes_too_long_is_replaced(inspector: Inspector) -> None:
    """A text that the parser needs seconds for fails with a reason. The next call gets a result."""
    with pytest.raises(InspectionFailed, match=TOO_COMPLEX):
        inspector.inspect(request("${" * 20_000))
    assert inspector.inspect(request(LONG)).programs
    assert inspector.restarts == 1


def test_exceeded_budget_is_a_trait(inspector: Inspector) -> None:
    """The worker reports what it found, and that the rest is unknown."""
    found = inspector.inspect(request("rm -rf /etc;" + "for a in {1..9}; do " * 5 + "echo;" + "done;" * 5))
    assert [use.path for use in found.paths] == ["/etc"]
    assert found.traits == (Trait.TOO_COMPLEX,)


def test_long_arguments_are_shortened() -> None:
    """Rules see the beginning and the end."""
    argument = inspect(request(f"curl {'a' * 5_000}{'b' * 5_000}")).programs[0].arguments[0]
    assert (argument[0], argument[-1], len(argument)) == ("a", "b", MAX_ARGUMENT_CHARS)
