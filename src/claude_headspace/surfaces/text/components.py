"""The parts of a daemon that only wait for its database: told in one line, since they all have the one reason."""

from collections.abc import Mapping

from claude_headspace.surfaces.text.labels import Json


def is_database_unavailable(parts: Mapping[str, Json]) -> bool:
    """Whether the database cannot be used now."""
    return "journal" in parts and str(parts["journal"]["status"]) != "ok"


def waiting_for_database(parts: Mapping[str, Json]) -> list[str]:
    """The parts that are well but for the database: they wait for it, or fail for its very reason."""
    if not is_database_unavailable(parts):
        return []
    reason = parts["journal"]["detail"]
    others = ((name, part) for name, part in parts.items() if name != "journal" and part["status"] != "ok")
    return [name for name, part in others if part["status"] == "waiting" or part["detail"] in reason]
