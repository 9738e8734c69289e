"""An index of the rules of a policy: finds the rules that can match a tool call, so that only these are evaluated.

Each rule is filed under one condition that must be met for it to match: a trait, a program, a use of files, or a
message. A rule without such a condition is always a candidate. The index never excludes a rule that matches.
"""

import re
from collections import defaultdict
from collections.abc import Iterable

from claude_headspace.kernel.policy.call import Call, Use
from claude_headspace.kernel.policy.names import name_pattern
from claude_headspace.kernel.policy.rules import Rule

USES: dict[str, tuple[Use, ...]] = {
    "reads": (Use.READ,),
    "writes": (Use.WRITE,),
    "deletes": (Use.DELETE,),
    "changes": (Use.WRITE, Use.DELETE),
}
"""The uses that each path list of a rule matches."""


class RuleIndex:
    """The enabled rules of a policy, by a condition of each."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        self._rules = [rule for rule in rules if rule.enabled]
        self._always: list[int] = []
        self._with_message: list[int] = []
        self._with_program: list[int] = []
        self._by_key: dict[object, list[int]] = defaultdict(list)
        """By trait, by use of files, and by name of a program."""
        self._by_pattern: list[tuple[re.Pattern[str], int]] = []
        """By a pattern of the name of a program."""
        for number, rule in enumerate(self._rules):
            self._add(number, rule)

    def _add(self, number: int, rule: Rule) -> None:
        if rule.traits:
            self._add_keys(number, rule.traits)
        elif rule.commands:
            literal = [name for name in rule.commands if not set(name) & {"*", "?"}]
            self._add_keys(number, literal)
            patterns = (name_pattern((name,)) for name in rule.commands if name not in literal)
            self._by_pattern.extend((pattern, number) for pattern in patterns)
        elif rule.arguments or rule.fed_by:
            self._with_program.append(number)
        elif rule.messages:
            self._with_message.append(number)
        elif rule.has_path_patterns:
            self._add_keys(number, [use for name, uses in USES.items() if getattr(rule, name) for use in uses])
        else:
            self._always.append(number)

    def _add_keys(self, number: int, keys: Iterable[object]) -> None:
        for key in keys:
            self._by_key[key].append(number)

    def candidates(self, call: Call) -> list[Rule]:
        """Return the rules that can match a tool call, in their order."""
        found = {*self._always, *(self._with_message if call.message is not None else ())}
        names = {program.name for program in call.programs}
        if names:
            found.update(self._with_program)
        for key in (*call.traits, *names, *{use.use for use in call.paths}):
            found.update(self._by_key.get(key, ()))
        found.update(number for pattern, number in self._by_pattern for name in names if pattern.fullmatch(name))
        return [self._rules[number] for number in sorted(found)]
