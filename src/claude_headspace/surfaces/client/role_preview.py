"""Previews the context that a session starts with, composed as for a real session: core files, role and mode."""

from typing import Any

import msgspec

from claude_headspace.config import Settings
from claude_headspace.inputs.context.claude_os import (
    ContextRoots,
    context_roots,
    list_names,
    read_context_files,
    read_definition,
    unknown_role,
)
from claude_headspace.inputs.receive.project_location import locate_project
from claude_headspace.kernel.claude_os.context_files import MODE, ROLE, ComposedContext, compose
from claude_headspace.outputs.advice import MAX_REPLY_CHARACTERS


class Role(msgspec.Struct, frozen=True):
    """A role or a mode: its file, the files that it includes, and the missing ones."""

    kind: str
    name: str
    file: str
    includes: tuple[str, ...]
    left_out: tuple[str, ...]


class Preview(msgspec.Struct, frozen=True):
    """The context of a session."""

    role: str | None
    mode: str | None
    root: str
    project: str
    text: str
    loaded: tuple[str, ...]
    left_out: tuple[str, ...]


def to_json(found: object) -> Any:
    """A value as decoded JSON."""
    return msgspec.json.decode(msgspec.json.encode(found))


def claude_os_root(settings: Settings, directory: str) -> str:
    """The Claude OS directory of a session in a directory."""
    return _roots(settings, directory).root


def _roots(settings: Settings, directory: str) -> ContextRoots:
    project = locate_project(directory).project_root or directory
    return context_roots(settings.claude_os_root, settings.claude_os_core, project)


def preview(settings: Settings, directory: str, role: str | None, mode: str | None) -> Preview:
    """The context of a session in a directory, without an effort. An effort leaves less room for files."""
    roots = _roots(settings, directory)
    files = read_context_files(roots, role, mode)
    composed: ComposedContext = compose(files, settings.claude_os_prefix, MAX_REPLY_CHARACTERS)
    return Preview(role, mode, roots.root, roots.project, composed.text, composed.loaded, composed.left_out)


def role_problem(settings: Settings, directory: str, role: str) -> str:
    """Why a role of a session in a directory does not exist, with the nearest name; empty if it exists."""
    return unknown_role(_roots(settings, directory), role)


def has_roles(settings: Settings, directory: str) -> bool:
    """Whether a session in a directory can have a role with files."""
    return bool(list_names(_roots(settings, directory), ROLE))


def find_roles(settings: Settings, directory: str) -> list[Role]:
    """All roles, then all modes, each with the files that it includes."""
    roots = _roots(settings, directory)
    return [_role(roots, kind, name) for kind in (ROLE, MODE) for name in list_names(roots, kind)]


def _role(roots: ContextRoots, kind: str, name: str) -> Role:
    given = (name, None) if kind == ROLE else (None, name)
    files = [file for file in read_context_files(roots, *given).files if file.kind == kind]
    return Role(
        kind,
        name,
        read_definition(roots, kind, name).name,
        tuple(file.name for file in files if file.text is not None),
        tuple(f"{file.name}: {file.missing_reason}" for file in files if file.text is None),
    )
