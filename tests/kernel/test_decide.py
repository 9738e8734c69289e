"""The verdict is that of the strictest matching rule, and names the rule."""

import pytest

from claude_headspace.kernel.decide import decide, get_subject, with_verdict
from claude_headspace.kernel.policy.call import Call, PathUse, Program, Subject, Trait, Use
from claude_headspace.kernel.policy.policy import Policy
from claude_headspace.kernel.policy.rules import Rule
from claude_headspace.kernel.policy.verdict import ABSTAIN, Ruling, Verdict
from claude_headspace.testing import hook
from tests.kernel.story import Story

GIT = Call(tool="Bash", programs=(Program("git", ("status",)),))


def rule(name: str, outcome: Ruling, **fields: object) -> Rule:
    """Return a rule."""
    return Rule(id=name, outcome=outcome, **fields)  # type: ignore[arg-type]  # the fields of a rule


def ruling(call: Call, *rules: Rule, strict: bool = False) -> tuple[str, str | None]:
    """Return the ruling of rules on a call, and the id of the rule."""
    verdict = decide(Policy(rules=rules, strict=strict), Subject(), call)
    return verdict.ruling.value, verdict.rule


def test_no_rule_abstains() -> None:
    """The decision is left to the client."""
    assert decide(Policy(), Subject(), GIT) is ABSTAIN


def test_strictest_rule_wins() -> None:
    """`deny` wins over `ask`, `warn` and `allow`, in any order. Among equal rulings the first rule wins."""
    rules = [rule(each.value, each, commands=("git",)) for each in Ruling if each is not Ruling.ABSTAIN]
    assert ruling(GIT, *rules) == ("deny", "deny")
    assert ruling(GIT, *reversed(rules[:3])) == ("ask", "ask")
    assert ruling(GIT, *rules[:2]) == ("warn", "warn")
    assert ruling(GIT, rules[0]) == ("allow", "allow")
    assert ruling(GIT, rule("a", Ruling.DENY, tools=("Bash",)), rules[3]) == ("deny", "a")


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (GIT, "allow"),
        (Call(tool="Bash", programs=(Program("git"), Program("curl"))), "abstain"),
        (Call(tool="Bash", programs=(Program("git"), Program("ls"))), "allow"),
        (Call(tool="Bash", programs=(Program("git"),), traits=(Trait.UNREADABLE_SCRIPT,)), "abstain"),
    ],
)
def test_allow_must_cover_the_whole_call(call: Call, expected: str) -> None:
    """A program that no rule allows, or a trait, leads to `abstain`."""
    allowing = (rule("git", Ruling.ALLOW, commands=("git",)), rule("ls", Ruling.ALLOW, commands=("ls",)))
    assert ruling(call, *allowing)[0] == expected


def test_allow_for_a_file() -> None:
    """A rule about a file allows a tool that writes it."""
    call = Call(tool="Write", paths=(PathUse("/p/a", Use.WRITE, used_by="Write"),), project="/p")
    assert ruling(call, rule("own", Ruling.ALLOW, writes=("{project}/**",))) == ("allow", "own")


def test_strict_and_record_only() -> None:
    """A strict policy uses the `strict` outcome. A policy that only records enforces nothing."""
    asking = rule("x", Ruling.ASK, commands=("git",), strict=Ruling.DENY)
    assert ruling(GIT, asking) == ("ask", "x")
    assert ruling(GIT, asking, strict=True) == ("deny", "x")
    assert decide(Policy(rules=(asking,), record_only=True), Subject(), GIT).enforced is False


def test_reason() -> None:
    """The reason contains what would happen, the rule's own reason, and its id."""
    verdict = decide(Policy(rules=(rule("x", Ruling.DENY, commands=("git",), reason="Not now."),)), Subject(), GIT)
    assert verdict.reason == "Headspace does not allow this: git status. Not now. (rule x)"


def test_verdict_is_stored_with_the_envelope() -> None:
    """An abstention is not stored."""
    envelope = hook("PreToolUse")
    assert with_verdict(envelope, ABSTAIN) is envelope
    verdict = Verdict(Ruling.DENY, "x", "because")
    assert with_verdict(envelope, verdict).decisions.verdict == verdict


def test_subject() -> None:
    """It has the mode, the role, and the id, name and root of the project."""
    agent = Story().agent
    found = get_subject(agent)
    assert (found.mode, found.role) == (agent.mode, agent.role)
    assert found.projects == (agent.project.id, agent.project.name, agent.project.root)
