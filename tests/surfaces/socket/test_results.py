"""Results without an agent or an effort."""

import pytest

from claude_headspace.kernel.policy.verdict import Ruling, Verdict
from claude_headspace.surfaces.socket.results import HOOK_COMMANDS, HookOutcome, pre_tool_use

ALLOWED_EMPTY: tuple[object, ...] = (None, False, True, [])


@pytest.mark.parametrize("name", sorted(HOOK_COMMANDS))
def test_results_without_the_journal(name: str) -> None:
    """Every command returns all fields, empty, and allows."""
    command = HOOK_COMMANDS[name]
    answer = command.result(HookOutcome())
    assert answer
    assert [value for value in answer.values() if value not in ALLOWED_EMPTY] == []
    assert answer.get("allow", True) is True


def test_a_policy_denial_has_its_reason() -> None:
    """`allow` is false."""
    answer = pre_tool_use(HookOutcome(verdict=Verdict(Ruling.DENY, "no-rm", "Dangerous.")))
    assert (answer["allow"], answer["reason"]) == (False, "Dangerous.")
