"""The index returns every rule that can match, in order, and leaves out those that cannot."""

import pytest

from claude_headspace.kernel.policy.call import Call, Message, PathUse, Program, Trait, Use
from claude_headspace.kernel.policy.rules import Rule, RuleIndex, matches_any
from claude_headspace.kernel.policy.verdict import Ruling

TRAIT, OTHER_TRAIT = list(Trait)[:2]

RULES = (
    Rule(id="tool", outcome=Ruling.ASK, tools=("Bash",)),
    Rule(id="disabled", outcome=Ruling.DENY, tools=("Bash",), enabled=False),
    Rule(id="command", outcome=Ruling.DENY, commands=("rm", "dd")),
    Rule(id="pattern", outcome=Ruling.DENY, commands=("mkfs*",)),
    Rule(id="argument", outcome=Ruling.DENY, arguments=("--force",)),
    Rule(id="trait", outcome=Ruling.ASK, traits=(TRAIT,), commands=("rm",)),
    Rule(id="reads", outcome=Ruling.DENY, reads=("~/.ssh/**",)),
    Rule(id="changes", outcome=Ruling.DENY, changes=("/etc/**",)),
    Rule(id="message", outcome=Ruling.ASK, messages=("send",)),
)


def call(*programs: str, use: Use | None = None, **more: object) -> Call:
    """Return a tool call with these programs and a use of a file."""
    return Call(
        tool="Bash",
        programs=tuple(Program(name=name) for name in programs),
        paths=(PathUse(path="/x", use=use),) if use is not None else (),
        **more,  # type: ignore[arg-type]
    )


@pytest.mark.parametrize(
    ("tool_call", "expected"),
    [
        (call(), ["tool"]),
        (call("ls"), ["tool", "argument"]),
        (call("ls", "dd"), ["tool", "command", "argument"]),
        (call("mkfs.ext4"), ["tool", "pattern", "argument"]),
        (call(use=Use.READ), ["tool", "reads"]),
        (call(use=Use.DELETE), ["tool", "changes"]),
        (call(traits=(TRAIT,)), ["tool", "trait"]),
        (call(traits=(OTHER_TRAIT,)), ["tool"]),
        (call(message=Message("send", ())), ["tool", "message"]),
    ],
)
def test_candidates(tool_call: Call, expected: list[str]) -> None:
    """A rule is a candidate if the condition that it is filed under is met."""
    assert [rule.id for rule in RuleIndex(RULES).candidates(tool_call)] == expected


def test_name_patterns() -> None:
    """`*` and `?` are wildcards; all other characters are literal."""
    assert matches_any(("mcp__*__send_*",), ("mcp__mail__send_email",))
    assert matches_any(("mkfs.*",), ("mkfs.ext4",))
    assert not matches_any(("rm",), ("rmdir",))
    assert not matches_any(("a.c",), ("abc",))
