"""The rules of a policy. The fields of a rule are the keys of a policy file.

A rule defines where it applies (`tools`, `modes`, `roles`, `projects`), what it matches (programs, files, messages,
traits) and its outcome. Every list of a rule must have a match; an empty list always matches. The `except_…` lists
exclude matches. In a name `*` matches any text and `?` one character.

Few rules can match a given tool call. `RuleIndex` finds those, so that only these are evaluated.
"""

import re
from collections import defaultdict
from collections.abc import Iterable
from functools import cached_property, lru_cache
from typing import Annotated

import msgspec
from msgspec import Meta

from claude_headspace.kernel.policy.call import Call, Trait, Use
from claude_headspace.kernel.policy.verdict import Ruling

Strings = tuple[str, ...]

USES: dict[str, tuple[Use, ...]] = {
    "reads": (Use.READ,),
    "writes": (Use.WRITE,),
    "deletes": (Use.DELETE,),
    "changes": (Use.WRITE, Use.DELETE),
}
"""The uses that each path list of a rule matches."""


class Rule(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """One rule."""

    id: Annotated[
        str, Meta(pattern="^[a-z0-9][a-z0-9-]{0,63}$", description="The name of the rule, in verdicts and overrides.")
    ]
    outcome: Annotated[Ruling, Meta(description="`deny`, `ask`, `warn` or `allow`.")]
    strict: Annotated[Ruling | None, Meta(description="The outcome with the preset `strict`, if it differs.")] = None
    unattended: Annotated[
        Ruling | None,
        Meta(description="The outcome instead of `ask` where nobody can answer: `claude -p`, missions, background."),
    ] = None
    reason: Annotated[str, Meta(description="The text that the model and the user receive.")] = ""
    unclear: Annotated[
        Ruling, Meta(description="The outcome if it is unknown whether a path matches; `abstain` means none.")
    ] = Ruling.ABSTAIN
    enabled: Annotated[bool, Meta(description="`false` disables the rule.")] = True
    tools: Annotated[Strings, Meta(description="Tools, including MCP tools: `Bash`, `mcp__mail__*`.")] = ()
    modes: Annotated[Strings, Meta(description="Modes of the session: interactive, mission, background.")] = ()
    roles: Annotated[Strings, Meta(description="Roles of the session.")] = ()
    projects: Annotated[Strings, Meta(description="Projects, by name or root.")] = ()
    commands: Annotated[Strings, Meta(description="Programs, by file name without directory: `rm`, `mkfs*`.")] = ()
    arguments: Annotated[Strings, Meta(description="Arguments of the program; at least one must match.")] = ()
    except_arguments: Annotated[Strings, Meta(description="Arguments with which the rule does not apply.")] = ()
    fed_by: Annotated[Strings, Meta(description="Programs whose output is the program's input.")] = ()
    reads: Annotated[Strings, Meta(description="Files that are read.")] = ()
    writes: Annotated[Strings, Meta(description="Files that are written.")] = ()
    deletes: Annotated[Strings, Meta(description="Files that are deleted or moved away.")] = ()
    changes: Annotated[Strings, Meta(description="Files that are written or deleted.")] = ()
    except_paths: Annotated[Strings, Meta(description="Files to which the rule does not apply.")] = ()
    traits: Annotated[tuple[Trait, ...], Meta(description="Traits of the tool call, see below.")] = ()
    messages: Annotated[
        Strings, Meta(description="`send`, `draft` or `possible`: the tool call sends, drafts or may send a message.")
    ] = ()
    untagged: Annotated[Strings, Meta(description="Matches if a recipient has none of these tags.")] = ()

    @property
    def has_path_patterns(self) -> bool:
        """Whether the rule matches files."""
        return bool(self.reads or self.writes or self.deletes or self.changes)

    @property
    def has_condition(self) -> bool:
        """Whether the rule says what it matches. A rule without a condition would match every tool call."""
        lists = (self.tools, self.commands, self.arguments, self.fed_by, self.traits, self.messages)
        return self.has_path_patterns or any(lists)


class RuleIndex:
    """The enabled rules of a policy, each filed under one condition that must be met for it to match.

    The condition is a trait, a program, a use of files, or a message. A rule without one is always a candidate.
    """

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


# --- names ------------------------------------------------------------------------------------------------------------


def matches_any(patterns: Strings, names: Strings) -> bool:
    """Whether one of the names matches one of the patterns."""
    return any(map(name_pattern(patterns).fullmatch, names))


@lru_cache(maxsize=4_096)
def name_pattern(patterns: Strings) -> re.Pattern[str]:
    """Return a regular expression for several patterns. Without patterns it matches nothing."""
    return re.compile("|".join(map(_to_regex, patterns)) or "(?!)", re.DOTALL)


def _to_regex(pattern: str) -> str:
    parts = (".*" if part == "*" else "." if part == "?" else re.escape(part) for part in re.split(r"([*?])", pattern))
    return "(?:" + "".join(parts) + ")"
