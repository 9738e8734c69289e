"""The clients in the API, and the filter by client."""

import pytest

from claude_headspace.clients.catalog import CLIENTS
from claude_headspace.clients.client import Capability
from claude_headspace.clients.simulated_clients import SIMULATIONS
from claude_headspace.clients.simulation import Action, Permission, Profile, Prompt
from claude_headspace.clients.tools import permission_verb
from claude_headspace.demo.schedule import play_answered_in_terminal
from tests.support import RunningDaemon

SESSION = {"session_id": "filtered", "cwd": "/projects/filtered"}
STEPS = (Prompt("Find the needle."), Permission(Action("make", "done", 1), 5))


def simulate(daemon: RunningDaemon, client: str) -> str:
    """An agent of a client that waits for a permission; its id."""
    profile = Profile(f"asks-{client}", "app", "main", "model-1", 50_000)
    session = SIMULATIONS[client](profile, 1, "/home/sam/code", "/home/sam")
    for event in play_answered_in_terminal(session.play(STEPS)):
        reply = daemon.post(event.hook, event.payload, {"X-Headspace-Client": client})
        assert reply.status == 200, reply.body
        if event.dialog:
            break
    found: str = reply.json()["agent_id"]
    return found


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

    simulate(daemon, "codex")
    assert count("claude-code") > 0
    assert count("codex") > 0
    assert count("copilot") == 0
    refused = daemon.get(f"{path}client=newcomer")
    assert refused.status == 400
    assert all(name in refused.error["hint"] for name in CLIENTS)


def test_an_agent_has_its_client(daemon: RunningDaemon) -> None:
    """As in the filter, and its events, too. Acts of Headspace, such as a notification, have no client."""
    agent = simulate(daemon, "codex")
    assert daemon.agent(agent)["client"] == "codex"
    assert agent in [each["id"] for each in daemon.get("/api/agents?client=codex").json()]
    events = [each for each in daemon.get(f"/api/agents/{agent}/events").json() if each["origin"] != "operator"]
    assert {each["client"] for each in events} == {"codex"}


def test_an_answer_that_the_client_cannot_take_is_refused(daemon: RunningDaemon) -> None:
    """With the sentence of the client, before anything is stored."""
    [wait] = daemon.agent(simulate(daemon, "codex"))["waits"]
    answer = {"decision": "allow", "input": {"command": "make clean"}}
    refused = daemon.send("POST", f"/api/waits/{wait['id']}/answer", answer, scope="act")
    assert (refused.status, refused.error["code"]) == (400, "not_supported")
    assert refused.error["message"] == CLIENTS["codex"].limits[Capability.EDIT_INPUT]


def test_tools_of_all_clients_have_words(daemon: RunningDaemon) -> None:
    """The same that the terminal uses."""
    found = {each["name"]: each for each in daemon.get("/api/tools").json()}
    for name in ("Bash", "bash", "run_shell_command"):
        assert found[name]["wants"] == permission_verb(name) == "run"
    assert (found["Edit"]["doing"], found["Edit"]["is_file"]) == ("editing", True)
