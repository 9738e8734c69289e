"""The clients in the API, and the filter by client."""

import pytest

from claude_headspace.clients.catalog import CLIENTS
from claude_headspace.clients.tools import permission_verb
from tests.support import RunningDaemon

SESSION = {"session_id": "filtered", "cwd": "/projects/filtered"}


def test_clients_are_listed_with_what_they_can_do(daemon: RunningDaemon) -> None:
    """Names, tested versions, and a sentence for everything that one cannot do."""
    found = {each["name"]: each for each in daemon.get("/api/clients").json()}
    assert {name: each["title"] for name, each in found.items()} == {c.name: c.title for c in CLIENTS.values()}
    for name, each in found.items():
        assert each["tested_versions"] == list(CLIENTS[name].tested_versions)
        assert {c["text"] for c in each["capabilities"] if not c["supported"]} == set(CLIENTS[name].limits.values())


@pytest.mark.parametrize("path", ["/api/agents?", "/api/events?", "/api/search?q=needle&"])
def test_lists_are_filtered_by_client(daemon: RunningDaemon, path: str) -> None:
    """Agents, events and search results; an unknown client is refused with the known ones."""
    daemon.post("session-start", SESSION)
    daemon.post("user-prompt-submit", {**SESSION, "prompt": "Find the needle."})

    def count(client: str) -> int:
        found = daemon.get(f"{path}client={client}").json()
        return len(found["hits"] if isinstance(found, dict) else found)

    assert count("claude-code") > 0
    assert count("gemini") == 0
    refused = daemon.get(f"{path}client=newcomer")
    assert refused.status == 400
    assert all(name in refused.error["hint"] for name in CLIENTS)


def test_tools_of_all_clients_have_words(daemon: RunningDaemon) -> None:
    """The same that the terminal uses."""
    found = {each["name"]: each for each in daemon.get("/api/tools").json()}
    for name in ("Bash", "bash", "run_shell_command"):
        assert found[name]["wants"] == permission_verb(name) == "run"
    assert (found["Edit"]["doing"], found["Edit"]["is_file"]) == ("editing", True)
