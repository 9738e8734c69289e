"""Rules as data. The fields of a rule are the keys of a policy file.

A rule defines where it applies (`tools`, `modes`, `roles`, `projects`), what it matches (programs, files, messages,
traits) and its outcome. Every list of a rule must have a match; an empty list always matches. The `except_…` lists
exclude matches.
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
    def has_path_patterns(self) -> bool:
        """Whether the rule matches files."""
        return bool(self.reads or self.writes or self.deletes or self.changes)

    @property
    def has_condition(self) -> bool:
        """Whether the rule says what it matches. A rule without a condition would match every tool call."""
        lists = (self.tools, self.commands, self.arguments, self.fed_by, self.traits, self.messages)
        return self.has_path_patterns or any(lists)
