"""Clients as people see them."""

import pytest

from claude_headspace.clients.catalog import CLIENTS
from claude_headspace.clients.client import Capability
from claude_headspace.surfaces.text.clients import (
    answer_limit,
    client_view,
    client_views,
    clients_without_guards,
    has_several_clients,
    limit,
    short_title,
)


def test_every_client_has_every_capability() -> None:
    """In the order of the catalog; a capability that is not supported has its sentence."""
    views = client_views()
    assert [each.name for each in views] == list(CLIENTS)
    for view in views:
        assert [each.title for each in view.capabilities] == [each.value for each in Capability]
        assert all(each.supported or each.text.endswith(".") for each in view.capabilities)


def test_short_titles_are_short() -> None:
    """A column of them stays narrow. An unknown client keeps its name."""
    assert all(0 < len(each.short_title) <= 8 for each in client_views())
    assert short_title("newcomer") == "newcomer"


def test_the_sentence_of_a_limit() -> None:
    """The same as in the view of the client; nothing for what a client can do, or if it is unknown."""
    for client in CLIENTS.values():
        for each in client_view(client).capabilities:
            said = limit({"client": client.name}, Capability[each.name.upper()])
            assert said == ("" if each.supported else each.text)
    assert limit({"client": "newcomer"}, Capability.SEND) == ""


def test_clients_are_worth_a_column_if_they_differ() -> None:
    """Not if all agents use the same."""
    assert has_several_clients([{"client": "codex"}, {"client": "gemini"}])
    assert not has_several_clients([{"client": "codex"}, {"client": "codex"}])


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (["codex"], " in Codex"),
        (["codex", "opencode"] * 2, " in Codex, opencode"),
        (["codex", ""], ""),
        ([""], ""),
    ],
)
def test_people_learn_in_which_clients_guards_are_off(names: list[str], words: str) -> None:
    """Each client once; none if a problem affects all of them."""
    assert clients_without_guards([{"client": name} for name in names]) == words


def test_the_reason_of_a_dialog_comes_before_that_of_its_client() -> None:
    """It says more. A dialog without a reason has that of its client."""
    question = {"kind": "question", "obstacle": ""}
    assert answer_limit({"client": "codex"}, {**question, "obstacle": "Not in tmux."}) == "Not in tmux."
    assert answer_limit({"client": "codex"}, question) == CLIENTS["codex"].limits[Capability.ANSWER_QUESTION]
    assert answer_limit({"client": "claude-code"}, question) == ""
