"""Cost and tokens as a table."""

import pytest

from claude_headspace.surfaces.cli.output import Line
from claude_headspace.surfaces.cli.presentation.usage import cost_text, short_number, usage_table
from claude_headspace.surfaces.text.formatting import Json

NUMBERS = {"input_tokens": 100, "cache_read_tokens": 2_000_000, "cache_write_tokens": 12_500, "output_tokens": 0}


def sums(cost: float | None, unpriced: int = 0) -> Json:
    """What was used."""
    return {"cost_usd": cost, "unpriced_tokens": unpriced, "total_tokens": 2_012_600, **NUMBERS}


def row(model: str, cost: float | None, unpriced: int = 0) -> Json:
    """What was used of a model."""
    return {**sums(cost, unpriced), "model": model, "project": None}


REPORT: Json = {
    "by": ["model"],
    "rows": [row("opus", 12.5), row("", None, 400)],
    "total": sums(12.5, 400),
    "sessions_without_tokens": 1,
    "unmeasured": [{"client": "copilot", "agents": 2}],
}


def texts(lines: list[Line]) -> list[str]:
    """The lines without roles."""
    return ["".join(span.text for span in line).rstrip() for line in lines]


def test_unknown_costs_are_said_to_be_unknown() -> None:
    """A sum with some of them is a minimum. The notes say what is missing."""
    assert texts(usage_table(REPORT, 100)) == [
        "model               cost  tokens  input  cache read  cache write  output",
        "opus              $12.50    2.0M    100        2.0M        12.5k       –",
        "unknown          unknown    2.0M    100        2.0M        12.5k       –",
        "all      at least $12.50    2.0M    100        2.0M        12.5k       –",
        "",
        "  400 tokens without a known price: their cost is not included. See --by model.",
        "  1 session with a cost and without tokens: Claude Code reports tokens at the end.",
        "  2 agents of Copilot CLI without any report of cost or tokens: not included.",
    ]


def test_a_narrow_terminal_shows_the_sum_of_the_tokens() -> None:
    """Every row fits."""
    table = texts(usage_table(REPORT, 50))[:4]
    assert table[0].split() == ["model", "cost", "tokens"]
    assert max(map(len, table)) <= 50


def test_an_empty_report_says_so() -> None:
    """With what is missing."""
    empty = {**REPORT, "rows": [], "total": sums(None)}
    assert texts(usage_table(empty, 100))[0] == "No cost and no tokens were reported in this time."
    assert len(usage_table(empty, 100)) == 3


def test_one_row_needs_no_sum() -> None:
    """It would be the same row again."""
    complete = {"total": sums(12.5), "sessions_without_tokens": 0, "unmeasured": []}
    assert len(usage_table({**REPORT, "rows": REPORT["rows"][:1], **complete}, 100)) == 2


@pytest.mark.parametrize(("number", "text"), [(0, "–"), (940, "940"), (12_500, "12.5k"), (3_100_000_000, "3.1G")])
def test_numbers_of_tokens(number: int, text: str) -> None:
    """In one unit."""
    assert short_number(number) == text


def test_costs() -> None:
    """A correction can be negative."""
    assert cost_text(sums(-0.5)) == "-$0.50"
