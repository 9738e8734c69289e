"""Search results as lines."""

from datetime import UTC, datetime
from typing import Any

import pytest
from rich.cells import cell_len

from claude_headspace.surfaces.cli.presentation.search_results import no_results, result_lines, results_footer

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


def hit(*pieces: tuple[str, bool], **more: Any) -> dict[str, Any]:
    """A hit."""
    return {
        "agent": "calm-otter",
        "agent_id": "0123456789abcdef",
        "project": "shop",
        "kind": "tool_result",
        "tool": "Bash",
        "at": "2026-03-01T11:56:00+00:00",
        "snippet": [{"text": text, "match": match} for text, match in pieces],
        **more,
    }


def texts(lines: list[Any]) -> list[str]:
    """Lines without roles."""
    return ["".join(span.text for span in line) for line in lines]


def test_a_result_has_a_heading_and_a_text() -> None:
    """Only the match is highlighted."""
    head, words = result_lines([hit(("1 failed: ", False), ("expired", True), (" cards", False))], NOW, 100)
    assert texts([head, words]) == [
        "calm-otter  shop · result of Bash · 11:56:00, 4 min ago",
        "  1 failed: expired cards",
    ]
    assert [span.text for span in words if span.role == "found"] == ["expired"]


@pytest.mark.parametrize("width", [30, 40, 80, 10_000])
def test_lines_fit_the_width(width: int) -> None:
    """No word is lost, also without spaces."""
    pieces = (("a long text with many words ", False), ("日本語" * 20, True), (" and " + "x" * 200, False))
    lines = texts(result_lines([hit(*pieces)], NOW, width))
    assert all(cell_len(line) <= max(min(width, 120), 30) + 20 for line in lines)
    assert "many" in " ".join(lines)


@pytest.mark.parametrize(
    ("kind", "words"),
    [("prompt", "prompt"), ("answer", "reply"), ("tool_input", "input of Bash"), ("something_new", "text")],
)
def test_every_kind_has_a_text(kind: str, words: str) -> None:
    """Also an unknown kind."""
    assert f"· {words} ·" in texts(result_lines([hit(("x", True), kind=kind)], NOW, 100))[0]


def test_next_commands() -> None:
    """With and without results."""
    assert "headspace show calm-otter" in texts(results_footer([hit()], more=False))[-1]
    assert "--limit" in texts(results_footer([hit()], more=True))[-1]
    assert texts(no_results("x", "Try y.", filtered=False)) == ["No results for 'x'.", "Try y."]
    assert "with these filters" in texts(no_results("x", "Try y.", filtered=True))[0]
