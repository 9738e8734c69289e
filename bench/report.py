"""The result of a benchmark: rows, each a measured number with its budget.

Rows do not depend on the measurement. `print_table` and `as_json` show them.
"""

from dataclasses import dataclass
from typing import Literal

from rich.console import Console
from rich.table import Table

Verdict = Literal["met", "missed", "failed", ""]

_VERDICT_STYLE: dict[Verdict, str] = {"met": "green", "missed": "bold red", "failed": "bold red", "": "dim"}

_FILE_WIDTH = 150
"""The width of the table in a file or a pipe."""


class BenchError(Exception):
    """A benchmark could not be measured. The message is the reason."""


@dataclass(frozen=True)
class Budget:
    """A minimum or a maximum."""

    kind: Literal["at_least", "at_most"]
    limit: float

    def is_met(self, value: float) -> bool:
        """Whether the number is within the limit."""
        return value >= self.limit if self.kind == "at_least" else value <= self.limit


def at_least(limit: float) -> Budget:
    """A minimum."""
    return Budget("at_least", limit)


def at_most(limit: float) -> Budget:
    """A maximum."""
    return Budget("at_most", limit)


@dataclass(frozen=True)
class Row:
    """One line of the table. Without a budget it is for comparison; without a value it failed."""

    what: str
    value: float | None
    unit: str = ""
    budget: Budget | None = None
    note: str = ""

    @property
    def verdict(self) -> Verdict:
        """The result compared with the budget."""
        if self.value is None:
            return "failed"
        if self.budget is None:
            return ""
        return "met" if self.budget.is_met(self.value) else "missed"

    @property
    def measured(self) -> str:
        """The formatted number."""
        return "" if self.value is None else quantity(self.value, self.unit)

    @property
    def allowed(self) -> str:
        """The formatted budget."""
        if self.budget is None:
            return ""
        sign = "≥" if self.budget.kind == "at_least" else "≤"
        return f"{sign} {quantity(self.budget.limit, self.unit)}"


def failed(what: str, reason: str) -> Row:
    """The row of a failed measurement."""
    return Row(what, None, note=reason)


def quantity(value: float, unit: str) -> str:
    """A number with its unit: an integer from 100 on, otherwise three digits."""
    number = f"{value:,.0f}" if abs(value) >= 100 or value == int(value) else f"{value:.3g}"
    return f"{number} {unit}".rstrip()


def print_table(groups: dict[str, list[Row]], machine: str) -> None:
    """Print the table, one section for each benchmark."""
    table = Table(caption=machine, caption_justify="left", pad_edge=False)
    for heading, justify in (("what", "left"), ("measured", "right"), ("budget", "right"), ("verdict", "left")):
        table.add_column(heading, justify=justify, no_wrap=True)  # type: ignore[arg-type]  # rich wants its own Literal
    table.add_column("note")
    for rows in groups.values():
        for row in rows:
            verdict = f"[{_VERDICT_STYLE[row.verdict]}]{row.verdict}[/]" if row.verdict else ""
            table.add_row(row.what, row.measured, row.allowed, verdict, row.note)
        table.add_section()
    console = Console()
    if not console.is_terminal:
        console.width = _FILE_WIDTH
    console.print(table)


def as_json(groups: dict[str, list[Row]], machine: str) -> dict[str, object]:
    """The table as data, with stable field names."""
    return {
        "machine": machine,
        "rows": [
            {
                "benchmark": name,
                "what": row.what,
                "value": row.value,
                "unit": row.unit,
                "budget": {row.budget.kind: row.budget.limit} if row.budget else None,
                "verdict": row.verdict or None,
                "note": row.note,
            }
            for name, rows in groups.items()
            for row in rows
        ],
    }
