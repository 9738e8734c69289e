"""Named tokens as lines."""

from collections.abc import Sequence
from datetime import datetime

from rich.cells import cell_len

from claude_headspace.surfaces.cli.output import EMPTY_LINE, Line, Span, dim, line, row
from claude_headspace.surfaces.text.formatting import Json, ago, clock_time

COLUMNS = ("name", "scopes", "owner", "last used", "expires")


def token_created(result: Json, now: datetime, interactive: bool) -> list[Line]:
    """A new token. If standard output is not a terminal, only the token itself."""
    if not interactive:
        return [line(result["token"])]
    details = result["details"]
    until = f", until {clock_time(details['expires_at'], now)}" if details["expires_at"] else ""
    return [
        line(f"{details['name']} permits {' and '.join(details['scopes'])}{until}."),
        EMPTY_LINE,
        line(f"  {result['token']}"),
        EMPTY_LINE,
        dim("It is shown only once. Send it as `Authorization: Bearer …`."),
        dim(f"headspace token revoke {details['name']}   revokes it"),
    ]


def token_table(found: Sequence[Json], now: datetime, width: int) -> list[Line]:
    """The tokens as a table."""
    if not found:
        return [line("There are no named tokens."), dim("headspace token create NAME --scope read   creates one")]
    cells = [_cells(token, now) for token in found]
    widths = [max(cell_len(each[n]) for each in (COLUMNS, *cells)) for n in range(len(COLUMNS))]
    widths = [min(each, max(width // 2, 10)) for each in widths]
    right = [False] * len(COLUMNS)
    lines = [row([Span(name, "dim") for name in COLUMNS], widths, right)]
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
