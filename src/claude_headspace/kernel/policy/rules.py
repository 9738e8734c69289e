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

Texts = tuple[str, ...]


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
    tools: Annotated[Texts, Meta(description="Tools, including MCP tools: `Bash`, `mcp__mail__*`.")] = ()
    modes: Annotated[Texts, Meta(description="Modes of the session: interactive, mission, background.")] = ()
    roles: Annotated[Texts, Meta(description="Roles of the session.")] = ()
    projects: Annotated[Texts, Meta(description="Projects, by name or root.")] = ()
    commands: Annotated[Texts, Meta(description="Programs, by file name without directory: `rm`, `mkfs*`.")] = ()
    arguments: Annotated[Texts, Meta(description="Arguments of the program; at least one must match.")] = ()
    except_arguments: Annotated[Texts, Meta(description="Arguments with which the rule does not apply.")] = ()
    fed_by: Annotated[Texts, Meta(description="Programs whose output is the program's input.")] = ()
    reads: Annotated[Texts, Meta(description="Files that are read.")] = ()
    writes: Annotated[Texts, Meta(description="Files that are written.")] = ()
    deletes: Annotated[Texts, Meta(description="Files that are deleted or moved away.")] = ()
    changes: Annotated[Texts, Meta(description="Files that are written or deleted.")] = ()
    except_paths: Annotated[Texts, Meta(description="Files to which the rule does not apply.")] = ()
    traits: Annotated[tuple[Trait, ...], Meta(description="Traits of the tool call, see below.")] = ()
    messages: Annotated[Texts, Meta(description="`send` or `draft`: the tool call sends or drafts a message.")] = ()
    untagged: Annotated[Texts, Meta(description="Matches if a recipient has none of these tags.")] = ()

    @property
    def path_lists(self) -> tuple[Texts, ...]:
        """The lists that are about files."""
        return self.reads, self.writes, self.deletes, self.changes

    @property
    def is_about_something(self) -> bool:
        """Whether anything but the place is asked for: a rule without that would hold for every call."""
        about = (self.commands, self.arguments, self.fed_by, *self.path_lists, self.traits, self.messages, self.tools)
        return any(about)
