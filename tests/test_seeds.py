"""The tables of seed requirements (docs/seeds) are complete: each row names tests that exist, or a reason.

A row is `| requirement | test or reason |`. The second cell names tests as `path::name`, or begins with `Different:`
and gives the reason. It may do both.
"""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "docs/seeds"
TABLES = sorted(path for path in FOLDER.glob("*.md") if path.name != "README.md")
HEADER = ["requirement", "test or reason"]
TEST = re.compile(r"`((?:tests|web/tests)/[\w./-]+)::([^`]+)`")
REASON = re.compile(r"\bDifferent: \S.{19,}")
"""A reason is a sentence, not a word."""


def rows(page: Path) -> list[list[str]]:
    """The cells of all rows of the tables of requirements on a page."""
    found: list[list[str]] = []
    in_table = False
    for line in page.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        in_table = cells == HEADER or (in_table and bool(cells))
        if in_table and cells != HEADER and not all(re.fullmatch(r":?-+:?", cell) for cell in cells):
            found.append(cells)
    return found


@cache
def names_of_tests(path: Path) -> frozenset[str]:
    """The names of the test functions in a Python file."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    functions = (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
    return frozenset(node.name for node in functions if node.name.startswith("test_"))


def exists(file: str, name: str) -> bool:
    """Whether a test exists: a function of a Python file, or a title in another file."""
    path = ROOT / file
    if not path.is_file():
        return False
    return name in names_of_tests(path) if path.suffix == ".py" else name in path.read_text(encoding="utf-8")


@pytest.mark.parametrize("page", TABLES, ids=lambda page: page.stem)
def test_every_requirement_has_a_test_or_a_reason(page: Path) -> None:
    """Every row has a requirement, and names a test or a reason."""
    table = rows(page)
    assert table
    assert [row for row in table if len(row) != len(HEADER) or not row[0]] == []
    assert [row[0] for row in table if not TEST.search(row[1]) and not REASON.search(row[1])] == []


@pytest.mark.parametrize("page", TABLES, ids=lambda page: page.stem)
def test_every_named_test_exists(page: Path) -> None:
    """Every test that a row names exists."""
    named = {(file, name) for row in rows(page) for file, name in TEST.findall(row[1])}
    assert sorted(f"{file}::{name}" for file, name in named if not exists(file, name)) == []


@pytest.mark.parametrize("page", TABLES, ids=lambda page: page.stem)
def test_no_requirement_is_listed_twice(page: Path) -> None:
    """Every requirement is one row."""
    listed = [row[0] for row in rows(page)]
    assert sorted({text for text in listed if listed.count(text) > 1}) == []


TERMS = (
    *("SessionCorrelator", "HookLifecycleBridge", "TaskLifecycleManager", "IntentDetector", "NotificationService"),
    *("HookReceiver", "StateMachine", "Broadcaster", "phase 1", "phase 2", "phase 3"),
    *("PlateStatus", "determine_status", "mark_stopped", "sp hook", "transcript health check"),
    *("hooks.stop", "hookBase", "resolveEngineIds", "dehydration_payload", "agents.status", "AGENT_ID"),
    *("has_pinged", "status(", "session_lifecycle.py", "tool_tracking.py", "CLAUDE_SESSION_ID", "MessagingService"),
)
"""Names that a reader of the descriptions looks for."""


@pytest.mark.parametrize("term", TERMS)
def test_every_term_leads_to_the_code(term: str) -> None:
    """The mapping names the term and, in the same row, a module."""
    rows_of_page = (FOLDER / "README.md").read_text(encoding="utf-8").splitlines()
    assert any(term in row and re.search(r"`[\w/]+/[\w./-]*`", row) for row in rows_of_page)


def test_the_five_known_issues_are_described() -> None:
    """Each by its title in the description of plate-spinner."""
    text = (FOLDER / "README.md").read_text(encoding="utf-8")
    titles = (
        "ExitPlanMode PostToolUse hook doesn't fire",
        "AskUserQuestion works correctly",
        'No "turn complete" event',
        "Race conditions with rapid events",
        "Silent hook failures",
    )
    assert [title for title in titles if title not in text] == []


def test_every_table_can_be_found() -> None:
    """There is one table for each tool, and the index links to all of them."""
    assert [path.stem for path in TABLES] == ["claude-os", "engine", "headspace", "plate-spinner"]
    text = (FOLDER / "README.md").read_text(encoding="utf-8")
    assert [path.name for path in TABLES if f"({path.name})" not in text] == []
