"""`search`: what was said and done, found by its words."""

import json

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
    assert "Nothing was found" in headspace("search", "expired", "--project", "nowhere").stdout
    assert "Nothing was found" in headspace("search", "expired", "--until", "2d").stdout
    assert "expired" in headspace("search", "expired", "--since", "1h", "--agent", names["asks"]).stdout
    assert headspace("search", "x", "--agent", "nobody-at-all").returncode == 1
    wrong = headspace("search", "x", "--since", "soon")
    assert wrong.returncode == 1
    assert "2h" in wrong.stderr


def test_nothing_found_says_what_to_try(headspace: Headspace) -> None:
    """Calmly, and with the query."""
    done = headspace("search", "no-such-word-anywhere", '"')
    assert done.returncode == 0
    assert "no-such-word-anywhere" in done.stdout
    assert "Try fewer" in done.stdout


def test_nothing_that_a_terminal_acts_on_comes_through(daemon: RunningDaemon) -> None:
    """Whatever prompts and tools bring along."""
    daemon.post("user-prompt-submit", {"session_id": "s", "cwd": "/p", "prompt": "needle \x1b[31mred\x1b]0;own\x07"})
    done = run_headspace(daemon.home, "search", "needle", FORCE_COLOR="1", COLUMNS="60")
    assert "\x1b[31m" not in done.stdout
    assert "\x07" not in done.stdout
    assert "\x1b[1;4mneedle\x1b[0m" in done.stdout
