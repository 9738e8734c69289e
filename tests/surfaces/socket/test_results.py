"""What the socket answers where nothing is known."""

import pytest

from claude_headspace.kernel.policy.verdict import Ruling, Verdict
from claude_headspace.surfaces.socket.results import HOOK_COMMANDS, HookOutcome, pre_tool_use

ALLOWED_EMPTY: tuple[object, ...] = (None, False, True, [])


@pytest.mark.parametrize("name", sorted(HOOK_COMMANDS))
def test_while_the_journal_is_away_nothing_is_decided(name: str) -> None:
    """Every handler answers its fields, all of them empty, and allows."""
    command = HOOK_COMMANDS[name]
    answer = command.result(HookOutcome())
    assert answer
    assert [value for value in answer.values() if value not in ALLOWED_EMPTY] == []
    assert answer.get("allow", True) is True


def test_a_policys_denial_is_told_with_its_reason() -> None:
    """Whoever denies, `allow` is false."""
    answer = pre_tool_use(HookOutcome(verdict=Verdict(Ruling.DENY, "no-rm", "Dangerous.")))
    assert (answer["allow"], answer["reason"]) == (False, "Dangerous.")
