"""Shell text is parsed into statements, unless that would take too long."""

import pytest

from claude_headspace.inputs.policy.shell.budget import FULL, Limits
from claude_headspace.inputs.policy.shell.commands import analyse_shell
from claude_headspace.inputs.policy.shell.syntax import MAX_NESTING, is_too_nested, split_statements
from claude_headspace.kernel.policy.call import Trait


@pytest.mark.parametrize("opening", ["${", "$(", "@(a=", "((", "{ "])
def test_unclosed_brackets_are_too_nested(opening: str) -> None:
    """The parser would need seconds, so the text is not parsed."""
    assert is_too_nested(opening * (MAX_NESTING + 1))


@pytest.mark.parametrize("text", ["f() { echo $(a) ${b}; }\n" * 2_000, "case $x in a) b;; c) d;; esac\n" * 2_000, ""])
def test_closed_brackets_do_not_add_up(text: str) -> None:
    """Only brackets that are open at the same time count. A closing bracket without its opening one is ignored."""
    assert not is_too_nested(text)


def test_deep_nesting_is_too_complex() -> None:
    """What was found before stays. Smaller limits would only repeat the analysis in vain."""
    found = analyse_shell("rm -rf /etc; eval '" + "${" * 10_000 + "'", directory="/", home="/home/dev", limits=FULL)
    assert found.traits == {Trait.TOO_COMPLEX: None}


@pytest.mark.parametrize("limits", [FULL, Limits(steps=100, source_chars=2_000)])
def test_nesting_below_the_limit_is_analysed(limits: Limits) -> None:
    """People nest a few levels."""
    found = analyse_shell("( " * 5 + "rm x" + " )" * 5, directory="/", home="/home/dev", limits=limits)
    assert [program.name for program in found.programs] == ["rm"]


def test_statements_are_split_outside_quotes() -> None:
    """An unfinished quote hides the rest."""
    assert list(split_statements("a; b 'c; d' | e\nf")) == ["a", " b 'c; d' ", " e", "f"]
    assert list(split_statements("a; b 'c; d")) == ["a"]
