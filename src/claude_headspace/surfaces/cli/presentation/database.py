"""Results of the `headspace db` commands."""

from claude_headspace.kernel.text import count
from claude_headspace.surfaces.cli.output import Line, dim, line
from claude_headspace.surfaces.text.formatting import Json


def prune_result(result: Json, *, days: int | None, dry_run: bool) -> list[Line]:
    """What was deleted, or would be; and the next command."""
    if not any(result[name] for name in ("events", "announcements", "efforts")):
        return [line("There are no events that old.")]
    verb = "Would delete" if dry_run else "Deleted"
    efforts = f" and {count(result['efforts'], 'effort')}" if result["efforts"] else ""
    first = f"{verb} {count(result['events'], 'event')}, and {count(result['agents'], 'agent')}{efforts} completely."
    command = "headspace db prune" + (f" --days {days}" if days is not None else "")
    return [line(first), dim(f"{command}   deletes them" if dry_run else "headspace db verify   checks the rest")]


def backup_result(file: str, size: int) -> list[Line]:
    """The backup file."""
    return [
        line(f"Wrote {file} ({size / 1e6:,.1f} MB)."),
        dim(f"HEADSPACE_DATABASE=sqlite:///{file} headspace serve   uses it"),
    ]


def copy_result(result: Json, target: str) -> list[Line]:
    """What was copied, and whether both databases are equal."""
    if result["differing"]:
        return [
            line(f"The copy differs in {', '.join(result['differing'])}."),
            dim("headspace db verify on both shows details. Try again with an empty target."),
        ]
    password = " Put its password into ~/.pgpass or PGPASSWORD." if "://" in target else ""
    return [
        line(f"Copied: {count(result['events'], 'event')} in the target, and both databases are equal."),
        dim(f'Set database = "{target}" in config.toml to use it.{password}'),
    ]
