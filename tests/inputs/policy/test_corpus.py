"""The corpus: several hundred tool calls with the expected verdicts of the built-in rules. Prints the scores."""

from pathlib import Path

import pytest

from claude_headspace.config import Paths
from claude_headspace.inputs.policy.cases import Case, CaseResult, judge_case, read_cases
from claude_headspace.inputs.policy.files import RuleBook, load_rules

CORPUS = Path(__file__).parent / "corpus"
FILES = sorted(CORPUS.glob("*.toml"))


def judge_cases(cases: list[Case], book: RuleBook, home: Path) -> list[CaseResult]:
    """Judge cases in the project `app`."""
    app = str(home / "app")
    return [judge_case(case, book, directory=app, home=str(home), project=app) for case in cases]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_calls_get_the_expected_verdict(path: Path, book: RuleBook, home: Path) -> None:
    """Each call of the corpus gets the expected verdict, by the expected rule."""
    wrong = [
        f"{each.case.group.about}: {each.case.summary!r}: expected {each.case.group.expect} ({each.case.group.rule}), "
        f"got {each.outcome} ({each.verdict.rule})"
        for each in judge_cases(read_cases(path), book, home)
        if not each.passed
    ]
    assert wrong == []


@pytest.mark.parametrize("name", ["headspace/sec*", "headspace/sec", "headspace", "heads*/s?cret"])
def test_code_that_mentions_the_directory_of_headspace_is_asked_about(
    name: str, book: RuleBook, home: Path, tmp_path: Path
) -> None:
    """Wherever it is: with a wildcard, as a prefix, and as a directory."""
    (tmp_path / "headspace/secret").touch()
    file = tmp_path / "cases.toml"
    command = f"""'''python3 -c "import glob; print(open(glob.glob('{tmp_path}/{name}')[0]).read())"'''"""
    file.write_text(f'[[cases]]\nabout = "code"\nexpect = "ask"\ncommands = [{command}]\n')
    [result] = judge_cases(read_cases(file), book, home)
    assert (result.outcome, result.verdict.rule) in (("ask", "own-files-in-code"), ("ask", "own-keys"))


def test_strict_denies_what_guard_asks(paths: Paths, home: Path) -> None:
    """With `strict`, `ask` becomes `deny`. Unclear matches still ask."""
    cases = [case for case in read_cases(CORPUS / "asked.toml") if case.group.rule != "system-delete"]
    assert {each.outcome for each in judge_cases(cases, load_rules(paths, "strict"), home)} == {"deny"}


def test_watch_gives_the_same_verdicts_without_enforcing(paths: Paths, home: Path) -> None:
    """The verdicts are equal, and none is enforced."""
    results = judge_cases(read_cases(CORPUS / "denied.toml")[:20], load_rules(paths, "watch"), home)
    assert {(each.outcome, each.verdict.enforced) for each in results} == {("deny", False)}


def test_scores(book: RuleBook, home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Every dangerous call is denied or asked about, and no harmless one."""
    results = [each for path in FILES for each in judge_cases(read_cases(path), book, home)]
    harmful = [each for each in results if each.case.group.expect in ("deny", "ask", "stop")]
    harmless = [each for each in results if each.case.group.expect == "pass"]
    caught = sum(each.outcome in ("deny", "ask") for each in harmful)
    stopped = sum(each.outcome in ("deny", "ask") for each in harmless)
    with capsys.disabled():
        print(  # noqa: T201  # the scores are for the reader
            f"\npolicy corpus: {len(results)} calls; caught {caught} of {len(harmful)}; "
            f"wrongly stopped {stopped} of {len(harmless)}"
        )
    assert len(results) >= 300
    assert (caught, stopped) == (len(harmful), 0)
