"""Which project a person means: by its id, its name or its directory, however the directory is written.

A project is known when an agent worked in it. Of one that is not known the nearest by their spelling are named.
"""

import os
from collections.abc import Collection
from difflib import SequenceMatcher

from claude_headspace.errors import BadRequest
from claude_headspace.kernel.agent import Project
from claude_headspace.ports import Reader

MOST_NAMED = 3
LONGEST_SHOWN = 200


def is_meant(project: Project, reference: str) -> bool:
    """Whether a reference means this project."""
    return reference in (project.id, project.name) or (bool(project.root) and _plain(reference) == _plain(project.root))


def resolve_projects(reader: Reader, reference: str) -> tuple[str, ...]:
    """The ids of the projects that a person means: several may have one name."""
    known = {agent.project.id: agent.project for agent in reader.agents(ended_after=0)}.values()
    found = tuple(project.id for project in known if is_meant(project, reference))
    if found:
        return found
    raise BadRequest(
        "unknown_project", f"There is no project {reference[:LONGEST_SHOWN]}.", _hint(reference, known), status=404
    )


def _hint(reference: str, known: Collection[Project]) -> str:
    named = nearest(reference, known)
    return f"The nearest: {', '.join(named)}." if named else "No agent has worked anywhere yet."


def nearest(reference: str, known: Collection[Project]) -> list[str]:
    """The projects that are spelled most alike: by their directories if one was asked for, else by their names."""
    spelled = {project.root if "/" in reference else project.name for project in known} - {""}
    return sorted(spelled, key=lambda each: (-_likeness(reference, each), each))[:MOST_NAMED]


def _likeness(one: str, other: str) -> float:
    return SequenceMatcher(None, _plain(one).casefold()[:LONGEST_SHOWN], other.casefold()[:LONGEST_SHOWN]).ratio()


def _plain(directory: str) -> str:
    """A directory without what does not change it: `/dir/` and `/dir/./` are `/dir`."""
    return os.path.normpath(directory) if "/" in directory else directory
