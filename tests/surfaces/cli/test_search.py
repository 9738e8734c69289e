"""`search`: what was said and done, found by its words."""

import json

import pytest

from tests.support import RunningDaemon
from tests.surfaces.cli.conftest import Headspace, run_headspace


def test_hits_say_who_where_and_when(headspace: Headspace, names: dict[str, str]) -> None:
    """The words of the prompt, with the agent and its project."""
    done = headspace("search", "expired", "car")
    assert (done.returncode, done.stderr) == (0, "")
    assert names["asks"] in done.stdout
    assert "shop" in done.stdout
    assert "you said" in done.stdout
    assert "Add a test for expired cards." in done.stdout


def test_programs_get_the_pieces(headspace: Headspace, names: dict[str, str]) -> None:
    """The shape of the API, as it is."""
    found = json.loads(headspace("search", "expired", "--actor", "user", "--json").stdout)
    [hit] = found["hits"]
    assert found["next"] is None
    assert hit["agent"] == names["asks"]
    assert [piece["text"] for piece in hit["snippet"] if piece["match"]] == ["expired"]
    assert hit.keys() == {
        "seq",
        "agent_id",
        "agent",
        "project",
        "kind",
        "actor",
        "tool",
        "at",
        "command_id",
        "turn_id",
        "snippet",
        "score",
    }


def test_filters_are_handed_on(headspace: Headspace, names: dict[str, str]) -> None:
    """By project, agent, tool and time; one that nobody knows is an error with a hint."""
    assert "No results" in headspace("search", "expired", "--until", "2d").stdout
    assert "expired" in headspace("search", "expired", "--since", "1h", "--agent", names["asks"]).stdout
    assert headspace("search", "x", "--agent", "nobody-at-all").returncode == 1
    wrong = headspace("search", "x", "--since", "soon")
    assert wrong.returncode == 1
    assert "2h" in wrong.stderr


@pytest.mark.parametrize("written", ["shop", "/projects/shop", "/projects/shop/", "/projects/api/../shop"])
def test_a_project_may_be_written_in_many_ways(headspace: Headspace, names: dict[str, str], written: str) -> None:
    """By name or by directory, also as a shell completes it; `list` takes the same."""
    assert names["asks"] in headspace("search", "expired", "--project", written).stdout
    assert names["asks"] in headspace("list", "--project", written).stdout


def test_a_project_that_nobody_worked_in_is_an_error(headspace: Headspace) -> None:
    """It names those that are spelled most alike, by name or by directory as it was asked."""
    by_name = headspace("search", "expired", "--project", "shopp")
    assert (by_name.returncode, by_name.stdout) == (1, "")
    assert "There is no project shopp." in by_name.stderr
    assert "Did you mean: shop, " in by_name.stderr
    by_directory = headspace("search", "expired", "--project", "/projects/shops/")
    assert by_directory.returncode == 1
    assert "Did you mean: /projects/shop, " in by_directory.stderr


def test_a_time_that_ends_before_it_begins_is_an_error(headspace: Headspace) -> None:
    """Nothing can lie there, so it is said."""
    done = headspace("search", "expired", "--since", "1h", "--until", "2h")
    assert (done.returncode, done.stdout) == (1, "")
    assert "`since` is later than `until`" in done.stderr


def test_nothing_found_says_what_to_try(headspace: Headspace) -> None:
    """Calmly, and with the query."""
    done = headspace("search", "no-such-word-anywhere", '"')
    assert done.returncode == 0
    assert "No results for 'no-such-word-anywhere \"'." in done.stdout
    assert "The phrase “no such word anywhere” does not occur." in done.stdout
    assert "The query contains no word." in headspace("search", "*").stdout


def test_nothing_that_a_terminal_acts_on_comes_through(daemon: RunningDaemon) -> None:
    """Whatever prompts and tools bring along."""
    daemon.post("user-prompt-submit", {"session_id": "s", "cwd": "/p", "prompt": "needle \x1b[31mred\x1b]0;own\x07"})
    done = run_headspace(daemon.home, "search", "needle", FORCE_COLOR="1", COLUMNS="60")
    assert "\x1b[31m" not in done.stdout
    assert "\x07" not in done.stdout
    assert "\x1b[1;4mneedle\x1b[0m" in done.stdout
