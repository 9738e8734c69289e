"""Cost and tokens as records for CSV, the same on the command line and in the API."""

import csv
from collections.abc import Iterator, Sequence
from io import StringIO

from claude_headspace.surfaces.text.formatting import Json, clean_json

TOKENS = ("total_tokens", "input_tokens", "cache_read_tokens", "cache_write_tokens", "output_tokens")
COLUMNS = {
    "day": ("day",),
    "project": ("project", "project_root"),
    "model": ("model",),
    "client": ("client",),
    "agent": ("agent", "agent_id"),
    "session": ("session_id",),
}
"""The columns for each key."""


def usage_records(report: Json) -> Iterator[Sequence[object]]:
    """The report as records, with the names of the columns first. An unknown cost is empty."""
    columns = [column for key in report["by"] for column in COLUMNS[key]]
    numbers = ("cost_usd", *TOKENS, "unpriced_tokens")
    yield [*columns, *numbers]
    for each in report["rows"]:
        project = each["project"] or {}
        values = each | {"project": project.get("name"), "project_root": project.get("root")}
        yield [values[name] for name in (*columns, *numbers)]


def usage_csv(report: Json) -> str:
    """The report as CSV. Control characters are marks."""
    text = StringIO()
    csv.writer(text, lineterminator="\n").writerows(clean_json([list(each) for each in usage_records(report)]))
    return text.getvalue()
