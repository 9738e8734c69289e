"""Finds a project by id, name or directory. Directories are normalized before they are compared.

Headspace knows a project once an agent has worked in it. The error for an unknown project names the closest matches.
"""

import os
from collections.abc import Collection
from difflib import SequenceMatcher

from claude_headspace.errors import BadRequest
from claude_headspace.kernel.agent import Project
from claude_headspace.ports import Reader

MAX_SUGGESTIONS = 3
MAX_SHOWN_LENGTH = 200


def matches_reference(project: Project, reference: str) -> bool:
    """Whether a reference is this project's id, name or directory."""
    if reference in (project.id, project.name):
        return True
    return bool(project.root) and _normalized(reference) == _normalized(project.root)


def resolve_projects(reader: Reader, reference: str) -> tuple[str, ...]:
    """The ids of the projects that a reference means. Several projects may share a name."""
    known = {agent.project.id: agent.project for agent in reader.agents(ended_after=0)}.values()
    if found := tuple(project.id for project in known if matches_reference(project, reference)):
        return found
    message = f"There is no project {reference[:MAX_SHOWN_LENGTH]}."
    raise BadRequest("unknown_project", message, _hint(reference, known), status=404)


def _hint(reference: str, known: Collection[Project]) -> str:
    names = closest(reference, known)
    return f"Did you mean: {', '.join(names)}?" if names else "No agent has worked in any project yet."


def closest(reference: str, known: Collection[Project]) -> list[str]:
    """The most similar projects: by directory if the reference is a path, otherwise by name."""
    candidates = {project.root if "/" in reference else project.name for project in known} - {""}
    return sorted(candidates, key=lambda each: (-_similarity(reference, each), each))[:MAX_SUGGESTIONS]


def _similarity(reference: str, candidate: str) -> float:
    one, other = _normalized(reference).casefold(), candidate.casefold()
    return SequenceMatcher(None, one[:MAX_SHOWN_LENGTH], other[:MAX_SHOWN_LENGTH]).ratio()


def _normalized(directory: str) -> str:
    """`/dir/` and `/dir/./` are `/dir`. A name without a slash stays as it is."""
    return os.path.normpath(directory) if "/" in directory else directory
