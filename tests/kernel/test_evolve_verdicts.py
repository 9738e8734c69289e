"""What rules said of calls stays with the agent, and is announced."""

from claude_headspace.kernel.envelope import Decisions
from claude_headspace.kernel.policy.verdict import Ruling, Verdict
from claude_headspace.kernel.react import react
from tests.kernel.story import Story


def test_a_verdict_stays_with_the_agent_and_is_announced() -> None:
    """Every surface shows the same, at once; what a rule allowed is no news."""
    story = Story()
    story.prompted()
    before = story.agent
    denied = Verdict(Ruling.DENY, "system-delete", "It would delete the system.")
    change = story.calls("t1", "rm -rf /", decisions=Decisions(verdict=denied))
    [judged] = story.agent.verdicts
    assert (judged.ruling, judged.rule, judged.tool, judged.summary) == (
        Ruling.DENY,
        "system-delete",
        "Bash",
        "rm -rf /",
    )
    [told] = [each for each in react(before, change) if each.type == "verdict_given"]
    assert (told.data["ruling"], told.data["rule"], told.data["enforced"]) == ("deny", "system-delete", True)
    before = story.agent
    allowed = Decisions(verdict=Verdict(Ruling.ALLOW, "looking-around"))
    change = story.calls("t2", "ls", decisions=allowed)
    assert len(story.agent.verdicts) == 1
    assert "verdict_given" not in [each.type for each in react(before, change)]


def test_only_the_newest_are_kept() -> None:
    """An agent that is refused again and again does not grow."""
    story = Story()
    story.prompted()
    for number in range(9):
        asked = Decisions(verdict=Verdict(Ruling.ASK, f"rule-{number}", enforced=False))
        story.calls(f"t{number}", decisions=asked)
    assert [each.rule for each in story.agent.verdicts] == [f"rule-{number}" for number in range(4, 9)]
    assert not story.agent.verdicts[-1].enforced
