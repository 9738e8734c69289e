"""The arguments of the effort commands. Unknown fields are refused."""

from typing import Annotated

import msgspec
from msgspec import Meta

from claude_headspace.kernel.effort.model import Metadata

Text = Annotated[str, Meta(max_length=100_000)]
Name = Annotated[str, Meta(max_length=200)]
FilePath = Annotated[str, Meta(max_length=8_192)]


class EffortReference(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """An effort by id or start of its id; by default the one of the sender and directory."""

    effort: Name | None = None
    cwd: FilePath | None = None


class StartEffort(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """A new effort."""

    skill: Name
    cwd: FilePath | None = None
    mode: Name = ""
    task_dir: FilePath | None = None
    title: Name = ""
    keywords: tuple[Name, ...] = ()
    phase: Name | None = None
    manager: Name | None = None
    owner: Name | None = None
    metadata: Metadata = {}
    preload: tuple[FilePath, ...] = ()


class EffortText(EffortReference, kw_only=True, forbid_unknown_fields=True):
    """A log entry, or a message for the agent."""

    text: Text


class Handover(EffortText, kw_only=True, forbid_unknown_fields=True):
    """A handover to the next session, with the files to read."""

    files: tuple[FilePath, ...] = ()


class FinishEffort(EffortReference, kw_only=True, forbid_unknown_fields=True):
    """The end of an effort, with a closing text."""

    text: Text = ""


class SetPhase(EffortReference, kw_only=True, forbid_unknown_fields=True):
    """A new phase."""

    phase: Name


class SetMetadata(EffortReference, kw_only=True, forbid_unknown_fields=True):
    """Metadata to change."""

    metadata: Metadata


class ListEfforts(msgspec.Struct, forbid_unknown_fields=True):
    """Which efforts to list."""

    all: bool = False
    cwd: FilePath | None = None


class DiscoverInstructions(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """Paths whose instruction files are wanted."""

    paths: tuple[FilePath, ...] = ()
    path: FilePath | None = None
    cwd: FilePath | None = None
