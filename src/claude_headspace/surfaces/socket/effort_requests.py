"""What the commands about efforts take, field by field. It is ours alone, so a name that is not known is refused."""

from typing import Annotated

import msgspec
from msgspec import Meta

from claude_headspace.kernel.effort.model import Metadata

Text = Annotated[str, Meta(max_length=100_000)]
Name = Annotated[str, Meta(max_length=200)]
Place = Annotated[str, Meta(max_length=8_192)]


class Which(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """The effort that is meant: by its id or the beginning of it, else by where and who one is."""

    effort: Name | None = None
    cwd: Place | None = None


class Starting(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """A new effort."""

    skill: Name
    cwd: Place | None = None
    mode: Name = ""
    task_dir: Place | None = None
    title: Name = ""
    keywords: tuple[Name, ...] = ()
    phase: Name | None = None
    manager: Name | None = None
    owner: Name | None = None
    metadata: Metadata = {}
    preload: tuple[Place, ...] = ()


class Saying(Which, kw_only=True, forbid_unknown_fields=True):
    """A text: a log entry, a message for the agent."""

    text: Text


class Handing(Saying, kw_only=True, forbid_unknown_fields=True):
    """What is handed over, with the files to read."""

    files: tuple[Place, ...] = ()


class Finishing(Which, kw_only=True, forbid_unknown_fields=True):
    """The end of an effort, with a last word."""

    text: Text = ""


class Phasing(Which, kw_only=True, forbid_unknown_fields=True):
    """Another phase."""

    phase: Name


class Setting(Which, kw_only=True, forbid_unknown_fields=True):
    """Other metadata."""

    metadata: Metadata


class Listing(msgspec.Struct, forbid_unknown_fields=True):
    """Which efforts to list."""

    all: bool = False
    cwd: Place | None = None


class Discovering(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """The paths whose instruction files are wanted."""

    paths: tuple[Place, ...] = ()
    path: Place | None = None
    cwd: Place | None = None
