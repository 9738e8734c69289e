"""The corpus: some hundred calls and what the shipped rules say of each. The scores are printed: `pytest -s`."""

from pathlib import Path

import pytest

from claude_headspace.config import Paths
from claude_headspace.inputs.policy.cases import Case, CaseResult, judge_case, read_cases
from claude_headspace.inputs.policy.files import RuleBook, load_rules

CORPUS = Path(__file__).parent / "corpus"
FILES = sorted(CORPUS.glob("*.toml"))


def tried(cases: list[Case], book: RuleBook, home: Path) -> list[CaseResult]:
    """What the rules say of cases."""
    app = str(home / "app")
    return [judge_case(case, book, directory=app, home=str(home), project=app) for case in cases]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_call_gets_the_verdict_that_it_should(path: Path, book: RuleBook, home: Path) -> None:
    """Each call of the corpus is denied, asked about or left alone, by the rule that is meant for it."""
    wrong = [
        f"{each.case.group.about}: {each.case.summary!r}: expected {each.case.group.expect} ({each.case.group.rule}), "
        f"got {each.outcome} ({each.verdict.rule})"
        for each in tried(read_cases(path), book, home)
        if not each.passed
    ]
    assert wrong == []


def test_strict_denies_what_guard_asks(places: Paths, home: Path) -> None:
    """Under `strict` everything that the seed of these rules blocks is denied; doubts are still asked about."""
    cases = [case for case in read_cases(CORPUS / "asked.toml") if case.group.rule != "system-delete"]
    assert {each.outcome for each in tried(cases, load_rules(places, "strict"), home)} == {"deny"}


def test_watch_says_the_same_and_enforces_nothing(places: Paths, home: Path) -> None:
    """The shadow comes to the same verdicts, none of which is enforced."""
    results = tried(read_cases(CORPUS / "denied.toml")[:20], load_rules(places, "watch"), home)
    assert {(each.outcome, each.verdict.enforced) for each in results} == {("deny", False)}


def test_the_scores(book: RuleBook, home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The corpus is large, everything dangerous in it is caught, and nothing harmless is stopped."""
    results = [each for path in FILES for each in tried(read_cases(path), book, home)]
    harmful = [each for each in results if each.case.group.expect in ("deny", "ask")]
    harmless = [each for each in results if each.case.group.expect == "pass"]
    caught = sum(each.outcome in ("deny", "ask") for each in harmful)
    stopped = sum(each.outcome in ("deny", "ask") for each in harmless)
    with capsys.disabled():
        print(  # noqa: T201  # the scores are the point
            f"\npolicy corpus: {len(results)} calls; caught {caught} of {len(harmful)}; "
            f"wrongly stopped {stopped} of {len(harmless)}"
        )
    assert len(results) >= 300
    assert (caught, stopped) == (len(harmful), 0)
