"""The examples of docs/policy.md are correct: the cases of each section pass with its rules."""

import re
from pathlib import Path

import pytest

from claude_headspace.config import Paths
from claude_headspace.inputs.policy.cases import judge_case, read_cases
from claude_headspace.inputs.policy.files import load_rules

PAGE = Path(__file__).resolve().parents[3] / "docs/policy.md"
BLOCK = re.compile(r"```toml\n# (policy|contacts|cases)\.toml[^\n]*\n(.*?)```", re.DOTALL)


def recipes() -> list[dict[str, str]]:
    """Return the files of each section with cases."""
    sections = re.split(r"(?m)^##+ ", PAGE.read_text(encoding="utf-8"))
    found = [dict(BLOCK.findall(section)) | {"title": section.partition("\n")[0]} for section in sections]
    return [recipe for recipe in found if "cases" in recipe]


def test_page_has_recipes() -> None:
    """The other test in this file has input."""
    assert len(recipes()) >= 6


@pytest.mark.parametrize("recipe", recipes(), ids=lambda recipe: str(recipe["title"]))
def test_cases_of_a_recipe_pass(recipe: dict[str, str], paths: Paths, home: Path, tmp_path: Path) -> None:
    """Every case gets the expected verdict."""
    paths.policy_file.write_text(recipe.get("policy", ""), encoding="utf-8")
    paths.contacts_file.write_text(recipe.get("contacts", ""), encoding="utf-8")
    (tmp_path / "cases.toml").write_text(recipe["cases"], encoding="utf-8")
    book, app = load_rules(paths, "guard"), str(home / "app")
    results = [
        judge_case(case, book, directory=app, home=str(home), project=app)
        for case in read_cases(tmp_path / "cases.toml")
    ]
    assert results
    assert [(each.case.summary, each.outcome, each.verdict.rule) for each in results if not each.passed] == []
