"""What became of the database, in words."""

from claude_headspace.surfaces.cli.terminal import Line, line, quiet
from claude_headspace.surfaces.wording import Json, count


def pruning(result: Json, *, dry_run: bool) -> list[Line]:
    """What went, or would go."""
    if not result["events"] and not result["announcements"]:
        return [line("There is nothing that old.")]
    verb = "Would take out" if dry_run else "Took out"
    first = f"{verb} {count(result['events'], 'event')}, and {count(result['agents'], 'agent')} wholly."
    then = "headspace db prune   does it" if dry_run else "headspace db verify   checks what is left"
    return [line(first), quiet(then)]


def backed_up(file: str, size: int) -> list[Line]:
    """Where the copy is."""
    return [
        line(f"Wrote {file} ({size / 1e6:,.1f} MB)."),
        quiet(f"HEADSPACE_DATABASE=sqlite:///{file} headspace serve   uses it"),
    ]


def copied(result: Json, target: str) -> list[Line]:
    """What was copied, and whether it is the same."""
    if result["differing"]:
        return [
            line(f"The copy differs in {', '.join(result['differing'])}."),
            quiet("headspace db verify on both shows more; an empty target and another try may help."),
        ]
    password = " Its password is found in ~/.pgpass or PGPASSWORD." if "://" in target else ""
    return [
        line(f"Copied: {count(result['events'], 'event')} are there, and both are the same."),
        quiet(f'Set database = "{target}" in config.toml to use it.{password}'),
    ]
