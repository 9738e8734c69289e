"""Named tokens, in words."""

from collections.abc import Sequence
from datetime import datetime

from rich.cells import cell_len

from claude_headspace.surfaces.cli.output import EMPTY_LINE, Line, Span, dim, line, row
from claude_headspace.surfaces.text.labels import Json, ago, clock_time

COLUMNS = ("name", "scopes", "owner", "last used", "expires")


def made(result: Json, now: datetime, interactive: bool) -> list[Line]:
    """A token that was made: to a program the text alone."""
    if not interactive:
        return [line(result["token"])]
    details = result["details"]
    until = f", until {clock_time(details['expires_at'], now)}" if details["expires_at"] else ""
    return [
        line(f"{details['name']} is good for {' and '.join(details['scopes'])}{until}."),
        EMPTY_LINE,
        line(f"  {result['token']}"),
        EMPTY_LINE,
        dim("It is shown this once. Send it as `Authorization: Bearer …`."),
        dim(f"headspace token revoke {details['name']}   takes it back"),
    ]


def tokens(found: Sequence[Json], now: datetime, width: int) -> list[Line]:
    """Every token on a line."""
    cells = [_cells(token, now) for token in found]
    widths = [max(cell_len(each[n]) for each in (COLUMNS, *cells)) for n in range(len(COLUMNS))]
    widths = [min(each, max(width // 2, 10)) for each in widths]
    right = [False] * len(COLUMNS)
    lines = [row([Span(name, "quiet") for name in COLUMNS], widths, right)]
    for token, each in zip(found, cells, strict=True):
        role = "ended" if token["expired"] else ""
        lines.append(row([Span(text, role) for text in each], widths, right))
    return lines


def _cells(token: Json, now: datetime) -> tuple[str, ...]:
    used = ago(token["last_used_at"], now) if token["last_used_at"] else "never"
    ends = (
        "never" if not token["expires_at"] else "expired" if token["expired"] else clock_time(token["expires_at"], now)
    )
    return token["name"], ", ".join(token["scopes"]), token["owner"] or "–", used, ends


def no_tokens() -> list[Line]:
    """What to say when there are none."""
    return [line("There are no named tokens."), dim("headspace token create NAME --scope read   makes one")]
