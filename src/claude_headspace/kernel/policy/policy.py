"""A policy: the rules in force, and how they are applied."""

from functools import cached_property

import msgspec

from claude_headspace.kernel.policy.rule_index import RuleIndex
from claude_headspace.kernel.policy.rules import Rule
from claude_headspace.kernel.policy.verdict import Ruling


class Policy(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """The rules in force, and how they are applied."""

    rules: tuple[Rule, ...] = ()
    strict: bool = False
    """Whether the `strict` outcomes of the rules apply."""
    record_only: bool = False
    """Whether verdicts are recorded but not enforced."""

    @cached_property
    def index(self) -> RuleIndex:
        """The index of the enabled rules."""
        return RuleIndex(self.rules)

    def get_outcome(self, rule: Rule) -> Ruling:
        """Return the outcome of a rule in this policy."""
        return rule.strict if self.strict and rule.strict is not None else rule.outcome
