"""The strictest rule speaks, and names itself."""

import pytest

from claude_headspace.kernel.decide import decide, subject_of, with_verdict
from claude_headspace.kernel.policy.call import Call, PathUse, Program, Subject, Trait, Use
from claude_headspace.kernel.policy.policy import Policy
from claude_headspace.kernel.policy.rules import Rule
from claude_headspace.kernel.policy.verdict import ABSTAIN, Ruling, Verdict
from claude_headspace.testing import hook
from tests.kernel.story import Story

GIT = Call(tool="Bash", programs=(Program("git", ("status",)),))


def rule(name: str, outcome: Ruling, **fields: object) -> Rule:
    """A rule."""
    return Rule(id=name, outcome=outcome, **fields)  # type: ignore[arg-type]  # the fields of a rule


def ruling(call: Call, *rules: Rule, strict: bool = False) -> tuple[str, str | None]:
    """What rules say of a call, and which of them."""
    verdict = decide(Policy(rules=rules, strict=strict), Subject(), call)
    return verdict.ruling.value, verdict.rule


def test_without_a_rule_nothing_is_said() -> None:
    """The decision stays where it was."""
    assert decide(Policy(), Subject(), GIT) is ABSTAIN


def test_the_strictest_wins() -> None:
    """`deny` over `ask` over `warn` over `allow`, in whatever order they stand; among equals the first."""
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
def test_allow_speaks_only_for_what_it_covers(call: Call, expected: str) -> None:
    """One program that no rule allows, or one doubt, and the decision stays where it was."""
    allowing = (rule("git", Ruling.ALLOW, commands=("git",)), rule("ls", Ruling.ALLOW, commands=("ls",)))
    assert ruling(call, *allowing)[0] == expected


def test_allow_for_a_file() -> None:
    """A tool that writes one file is allowed by a rule about that file."""
    call = Call(tool="Write", paths=(PathUse("/p/a", Use.WRITE, by="Write"),), project="/p")
    assert ruling(call, rule("own", Ruling.ALLOW, writes=("{project}/**",))) == ("allow", "own")


def test_the_preset_strict_and_the_shadow() -> None:
    """A rule may be stricter under `strict`; in the shadow nothing is enforced."""
    asking = rule("x", Ruling.ASK, commands=("git",), strict=Ruling.DENY)
    assert ruling(GIT, asking) == ("ask", "x")
    assert ruling(GIT, asking, strict=True) == ("deny", "x")
    assert decide(Policy(rules=(asking,), shadow=True), Subject(), GIT).enforced is False


def test_the_reason_names_what_and_which() -> None:
    """The words for the model: what would happen, why not, which rule."""
    verdict = decide(Policy(rules=(rule("x", Ruling.DENY, commands=("git",), reason="Not now."),)), Subject(), GIT)
    assert verdict.reason == "Headspace does not allow this: git status. Not now. (rule x)"


def test_a_verdict_travels_with_its_event() -> None:
    """It is stored with the envelope; where nothing was said nothing is stored."""
    envelope = hook("PreToolUse")
    assert with_verdict(envelope, ABSTAIN) is envelope
    verdict = Verdict(Ruling.DENY, "x", "because")
    assert with_verdict(envelope, verdict).decisions.verdict == verdict


def test_what_of_an_agent_rules_depend_on() -> None:
    """Mode, role, and the project by every name."""
    agent = Story().agent
    found = subject_of(agent)
    assert (found.mode, found.role) == (agent.mode, agent.role)
    assert found.projects == (agent.project.id, agent.project.name, agent.project.root)
