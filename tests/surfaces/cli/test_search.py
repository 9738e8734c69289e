"""The command `search`."""

import json

import pytest

from tests.support import RunningDaemon
from tests.surfaces.cli.conftest import Headspace, run_headspace


def test_results_have_agent_project_and_time(headspace: Headspace, names: dict[str, str]) -> None:
    """With the matching text."""
    done = headspace("search", "expired", "car")
    assert (done.returncode, done.stderr) == (0, "")
    assert names["asks"] in done.stdout
    assert "shop" in done.stdout
    assert "prompt" in done.stdout
    assert "Add a test for expired cards." in done.stdout


def test_search_in_json(headspace: Headspace, names: dict[str, str]) -> None:
    """The output is the result of the API."""
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


def test_filters(headspace: Headspace, names: dict[str, str]) -> None:
    """By project, agent, tool and time; an unknown value is an error with a hint."""
    assert "No results" in headspace("search", "expired", "--until", "2d").stdout
    assert "expired" in headspace("search", "expired", "--since", "1h", "--agent", names["asks"]).stdout
    assert headspace("search", "x", "--agent", "nobody-at-all").returncode == 1
    wrong = headspace("search", "x", "--since", "soon")
    assert wrong.returncode == 1
    assert "2h" in wrong.stderr


@pytest.mark.parametrize("written", ["shop", "/projects/shop", "/projects/shop/", "/projects/api/../shop"])
def test_projects_by_name_and_directory(headspace: Headspace, names: dict[str, str], written: str) -> None:
    """`search` and `list` accept both, also with a trailing slash."""
    assert names["asks"] in headspace("search", "expired", "--project", written).stdout
    assert names["asks"] in headspace("list", "--project", written).stdout


def test_an_unknown_project_is_an_error(headspace: Headspace) -> None:
    """The hint lists similar names or directories."""
    by_name = headspace("search", "expired", "--project", "shopp")
    assert (by_name.returncode, by_name.stdout) == (1, "")
    assert "There is no project shopp." in by_name.stderr
    assert "Did you mean: shop, " in by_name.stderr
    by_directory = headspace("search", "expired", "--project", "/projects/shops/")
    assert by_directory.returncode == 1
    assert "Did you mean: /projects/shop, " in by_directory.stderr


def test_since_must_be_before_until(headspace: Headspace) -> None:
    """Otherwise it is an error."""
    done = headspace("search", "expired", "--since", "1h", "--until", "2h")
    assert (done.returncode, done.stdout) == (1, "")
    assert "`since` is later than `until`" in done.stderr


def test_no_results(headspace: Headspace) -> None:
    """The output repeats the query and has a hint."""
    done = headspace("search", "no-such-word-anywhere", '"')
    assert done.returncode == 0
    assert "No results for 'no-such-word-anywhere \"'." in done.stdout
    assert "The phrase “no such word anywhere” does not occur." in done.stdout
    assert "The query contains no word." in headspace("search", "*").stdout


def test_control_sequences_in_results_are_removed(daemon: RunningDaemon) -> None:
    """Matches are still highlighted."""
    daemon.post("user-prompt-submit", {"session_id": "s", "cwd": "/p", "prompt": "needle \x1b[31mred\x1b]0;own\x07"})
    done = run_headspace(daemon.home, "search", "needle", FORCE_COLOR="1", COLUMNS="60")
    assert "\x1b[31m" not in done.stdout
    assert "\x07" not in done.stdout
    assert "\x1b[1;4mneedle\x1b[0m" in done.stdout
