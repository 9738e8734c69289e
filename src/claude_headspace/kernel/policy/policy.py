"""A policy: the rules in force, and how they are enforced."""

from functools import cached_property

import msgspec

from claude_headspace.kernel.policy.rule_index import RuleIndex
from claude_headspace.kernel.policy.rules import Rule
from claude_headspace.kernel.policy.verdict import Ruling


class Policy(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """The rules in force."""

    rules: tuple[Rule, ...] = ()
    strict: bool = False
    shadow: bool = False
    """Whether verdicts are only recorded."""

    @cached_property
    def index(self) -> RuleIndex:
        """The rules by a condition of each."""
        return RuleIndex(self.rules)

    def outcome(self, rule: Rule) -> Ruling:
        """The ruling of a rule under this preset."""
        return rule.strict if self.strict and rule.strict is not None else rule.outcome
