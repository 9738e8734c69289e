"""Rules as data, in the shape in which a policy file writes them.

A rule says where it holds (`tools`, `modes`, `roles`, `projects`), what it is about (programs, files, messages,
traits) and what is to be done (`outcome`). Every list that is given must have a match; lists that are not given hold
always. What stands in an `except_…` list is not meant.
"""

from typing import Annotated

import msgspec
from msgspec import Meta

from claude_headspace.kernel.policy.call import Trait
from claude_headspace.kernel.policy.verdict import Ruling

Strings = tuple[str, ...]


class Rule(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """One rule."""

    id: Annotated[
        str, Meta(pattern="^[a-z0-9][a-z0-9-]{0,63}$", description="The name of the rule, in verdicts and overrides.")
    ]
    outcome: Annotated[Ruling, Meta(description="`deny`, `ask`, `warn` or `allow`.")]
    strict: Annotated[Ruling | None, Meta(description="The outcome with the preset `strict`, if it differs.")] = None
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
    messages: Annotated[Strings, Meta(description="`send` or `draft`: the tool call sends or drafts a message.")] = ()
    untagged: Annotated[Strings, Meta(description="Matches if a recipient has none of these tags.")] = ()

    @property
    def path_patterns(self) -> tuple[Strings, ...]:
        """The lists that are about files."""
        return self.reads, self.writes, self.deletes, self.changes

    @property
    def has_condition(self) -> bool:
        """Whether anything but the place is asked for: a rule without that would hold for every call."""
        about = (
            self.commands,
            self.arguments,
            self.fed_by,
            *self.path_patterns,
            self.traits,
            self.messages,
            self.tools,
        )
        return any(about)


class Policy(msgspec.Struct, frozen=True, kw_only=True):
    """The rules in force."""

    rules: tuple[Rule, ...] = ()
    strict: bool = False
    record_only: bool = False
    """Whether it is only written down what would be done."""

    def get_outcome(self, rule: Rule) -> Ruling:
        """What a rule says under this preset."""
        return rule.strict if self.strict and rule.strict is not None else rule.outcome
