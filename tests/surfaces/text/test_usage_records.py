"""Cost and tokens as CSV."""

from typing import Any

from claude_headspace.surfaces.text.usage_records import usage_csv

TOKENS = {"total_tokens": 7, "input_tokens": 4, "cache_read_tokens": 1, "cache_write_tokens": 0, "output_tokens": 2}


def row(model: str, cost: float | None, unpriced: int = 0) -> dict[str, Any]:
    """What was used of a model."""
    return {"model": model, "project": None, "cost_usd": cost, "unpriced_tokens": unpriced, **TOKENS}


def test_an_unknown_cost_is_empty() -> None:
    """The names of the columns are first."""
    assert usage_csv({"by": ["model"], "rows": [row("opus", 12.5), row("", None, 7)]}).splitlines() == [
        "model,cost_usd,total_tokens,input_tokens,cache_read_tokens,cache_write_tokens,output_tokens,unpriced_tokens",
        "opus,12.5,7,4,1,0,2,0",
        ",,7,4,1,0,2,7",
    ]


def test_hidden_characters_are_marks() -> None:
    """A name cannot reorder or hide the text around it."""
    assert "⟦U+202E⟧" in usage_csv({"by": ["model"], "rows": [row("a\u202eb", None)]})
