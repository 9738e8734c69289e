"""What sessions begin with, looked at before one does: the same reading and the same words as for a real one."""

from typing import Any

import msgspec

from claude_headspace.config import Settings
from claude_headspace.inputs.context.claude_os import (
    ContextRoots,
    context_roots,
    list_names,
    read_context_files,
    read_definition,
)
from claude_headspace.inputs.receive.project_location import locate_project
from claude_headspace.kernel.claude_os.context_files import MODE, ROLE, ComposedContext, compose
from claude_headspace.outputs.file_contents import MAX_REPLY_CHARACTERS


class Role(msgspec.Struct, frozen=True):
    """A role or a mode: its file, what it includes, and what of that is missing."""

    kind: str
    name: str
    file: str
    includes: tuple[str, ...]
    left_out: tuple[str, ...]


class Preview(msgspec.Struct, frozen=True):
    """What a session would be given."""

    role: str | None
    mode: str | None
    root: str
    project: str
    text: str
    loaded: tuple[str, ...]
    left_out: tuple[str, ...]


def to_json(found: object) -> Any:
    """The same as decoded JSON."""
    return msgspec.json.decode(msgspec.json.encode(found))


def house_of(settings: Settings, directory: str) -> ContextRoots:
    """Where the files of a session in a directory are."""
    project = locate_project(directory).project_root or directory
    return context_roots(settings.claude_os_root, settings.claude_os_core, project)


def preview(settings: Settings, directory: str, role: str | None, mode: str | None) -> Preview:
    """What a session in a directory would be given; an effort takes some of the room."""
    house = house_of(settings, directory)
    composed: ComposedContext = compose(
        read_context_files(house, role, mode), settings.claude_os_prefix, MAX_REPLY_CHARACTERS
    )
    return Preview(role, mode, house.root, house.project, composed.text, composed.loaded, composed.left_out)


def list_roles(settings: Settings, directory: str) -> list[Role]:
    """All roles, then all modes, each with what it includes."""
    house = house_of(settings, directory)
    return [_role(house, kind, name) for kind in (ROLE, MODE) for name in list_names(house, kind)]


def _role(house: ContextRoots, kind: str, name: str) -> Role:
    given = (name, None) if kind == ROLE else (None, name)
    pieces = [piece for piece in read_context_files(house, *given).files if piece.kind == kind]
    return Role(
        kind,
        name,
        read_definition(house, kind, name).name,
        tuple(piece.name for piece in pieces if piece.text is not None),
        tuple(f"{piece.name}: {piece.missing_reason}" for piece in pieces if piece.text is None),
    )
