"""Components of the daemon: their labels, and which of them only wait for the database.

Components that wait for the database are shown in one line, with one reason.
"""

from collections.abc import Mapping

from claude_headspace.surfaces.text.formatting import Json

LABELS = {
    "writer": "event queue",
    "reconciler": "session checks",
    "conversations": "mission results",
    "holds": "open requests",
}
"""The labels of components whose name is not one."""


def component_label(name: str) -> str:
    """The label of a component."""
    return LABELS.get(name, name)


def is_database_unavailable(parts: Mapping[str, Json]) -> bool:
    """Whether the database is unavailable."""
    return "journal" in parts and str(parts["journal"]["status"]) != "ok"


def waiting_for_database(parts: Mapping[str, Json]) -> list[str]:
    """The components that wait for the database, or fail with the same reason."""
    if not is_database_unavailable(parts):
        return []
    reason = parts["journal"]["detail"]
    others = ((name, part) for name, part in parts.items() if name != "journal" and part["status"] != "ok")
    return [name for name, part in others if part["status"] == "waiting" or part["detail"] in reason]
