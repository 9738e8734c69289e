"""What became of the database, in words."""

from claude_headspace.surfaces.cli.output import Line, dim, line
from claude_headspace.surfaces.text.labels import Json, count


def pruning(result: Json, *, days: int | None, dry_run: bool) -> list[Line]:
    """What went, or would go; and the command that does it."""
    if not any(result[name] for name in ("events", "announcements", "efforts")):
        return [line("There is nothing that old.")]
    verb = "Would take out" if dry_run else "Took out"
    efforts = f" and {count(result['efforts'], 'effort')}" if result["efforts"] else ""
    first = f"{verb} {count(result['events'], 'event')}, and {count(result['agents'], 'agent')}{efforts} wholly."
    does_it = "headspace db prune" + (f" --days {days}" if days is not None else "")
    return [line(first), dim(f"{does_it}   does it" if dry_run else "headspace db verify   checks what is left")]


def backed_up(file: str, size: int) -> list[Line]:
    """Where the copy is."""
    return [
        line(f"Wrote {file} ({size / 1e6:,.1f} MB)."),
        dim(f"HEADSPACE_DATABASE=sqlite:///{file} headspace serve   uses it"),
    ]


def copied(result: Json, target: str) -> list[Line]:
    """What was copied, and whether it is the same."""
    if result["differing"]:
        return [
            line(f"The copy differs in {', '.join(result['differing'])}."),
            dim("headspace db verify on both shows more; an empty target and another try may help."),
        ]
    password = " Its password is found in ~/.pgpass or PGPASSWORD." if "://" in target else ""
    return [
        line(f"Copied: {count(result['events'], 'event')} are there, and both are the same."),
        dim(f'Set database = "{target}" in config.toml to use it.{password}'),
    ]
