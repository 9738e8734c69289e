"""Results without an agent or an effort."""

import pytest

from claude_headspace.kernel.effort.advice import Advice
from claude_headspace.kernel.policy.verdict import Ruling, Verdict
from claude_headspace.surfaces.socket.results import HOOK_COMMANDS, HookOutcome, pre_tool_use

ALLOWED_EMPTY: tuple[object, ...] = (None, False, True, [], "allow")


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
    assert (answer["allow"], answer["decision"], answer["reason"]) == (False, "deny", "Dangerous.")


def test_a_question_of_the_policy_has_its_reason() -> None:
    """Requirement: "`{ allow, … reason? }`". A person must decide, so `allow` is false; only a rule in force counts."""
    asked = pre_tool_use(HookOutcome(verdict=Verdict(Ruling.ASK, "sudo", "Headspace asks you to decide: sudo.")))
    assert (asked["allow"], asked["decision"]) == (False, "ask")
    assert asked["reason"] == "Headspace asks you to decide: sudo."
    recorded = pre_tool_use(HookOutcome(verdict=Verdict(Ruling.ASK, "sudo", "Asks.", enforced=False)))
    assert (recorded["allow"], "reason" in recorded) == (True, False)
    warned = pre_tool_use(HookOutcome(verdict=Verdict(Ruling.WARN, "slow", "Headspace warns: slow.")))
    assert (warned["allow"], warned["warnings"]) == (True, ["Headspace warns: slow."])


def test_a_denial_of_the_effort_comes_before_a_question() -> None:
    """The call would be denied whatever a person decides."""
    verdict = Verdict(Ruling.ASK, "sudo", "Asks.")
    answer = pre_tool_use(HookOutcome(verdict=verdict, advice=Advice(rule="heartbeat", reason="Log first.")))
    assert (answer["decision"], answer["reason"]) == ("deny", "Log first.")
