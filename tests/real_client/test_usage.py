"""The cost of the real client over all its sessions: `/clear`, resume and fork. One request of the model always costs
the same, so costs are numbers of requests.
"""

from pathlib import Path
from typing import Any

import pytest

from tests.real_client.client import Client
from tests.real_client.model import reply, text
from tests.real_client.program import NEW, VERSIONS
from tests.real_client.workspace import Workspace, open_workspace
from tests.support import wait_until

SCRIPT = {words: [reply(text("Done."))] for words in ("First task", "Second task", "Third task", "Fourth task")}
REQUEST_USD = {"2.1.197": 0.01705, "2.1.325": 0.00964}
REQUESTS = {"2.1.197": (2, 4, 5), "2.1.325": (1, 2, 3)}
"""How many requests an agent has made after each turn. The older client also asks for a title of each new session."""


def work(workspace: Workspace, client: Client, words: str, agent_id: str, total: float) -> dict[str, Any]:
    """Send a prompt, and wait until all sessions of an agent have a cost."""
    client.write(words)
    client.send()

    def spent() -> dict[str, Any]:
        agent = workspace.daemon.agent(agent_id)
        is_spent = (agent["total_cost_usd"] or 0.0) == pytest.approx(total)
        return agent if is_spent and agent["state"] == "idle" else {}

    return wait_until(spent, f"a cost of {total}")


def leave(client: Client) -> None:
    """End the client."""
    client.write("/exit")
    client.send()
    wait_until(lambda: not client.alive, "the end of the client")


def sessions(workspace: Workspace, version: str) -> dict[str, Any]:
    """An agent with two sessions, the second of which is resumed. Its client has ended."""
    first, second, third = (number * REQUEST_USD[version] for number in REQUESTS[version])
    client = workspace.client()
    agent = workspace.agent("idle")
    work(workspace, client, "First task", agent["id"], first)
    client.write("/clear")
    client.send()
    wait_until(lambda: workspace.daemon.agent(agent["id"])["session_id"] != agent["session_id"], "a new session")
    agent = work(workspace, client, "Second task", agent["id"], second)
    leave(client)
    client = workspace.client("--resume", agent["session_id"])
    agent = work(workspace, client, "Third task", agent["id"], third)
    leave(client)
    return agent


@pytest.mark.parametrize("version", VERSIONS)
def test_clear_and_resume_are_counted_once(tmp_path: Path, version: str) -> None:
    """The cost of all sessions is that of all requests."""
    with open_workspace(tmp_path, SCRIPT, version) as workspace:
        sessions(workspace, version)
        assert workspace.daemon.verified()


def test_a_fork_counts_only_its_own_requests(tmp_path: Path) -> None:
    """Its client starts with the cost of the session that it continues. Tokens are reported when a session ends; those
    of a fork include those of the other session, so they are not counted.
    """
    with open_workspace(tmp_path, SCRIPT) as workspace:
        agent, turn = sessions(workspace, NEW), REQUEST_USD[NEW]
        fork = workspace.client("--resume", agent["session_id"], "--fork-session")
        copy = workspace.agent("idle")
        assert copy["id"] != agent["id"]
        wait_until(lambda: workspace.daemon.agent(copy["id"])["cost_usd"] == pytest.approx(2 * turn), "its first cost")
        work(workspace, fork, "Fourth task", copy["id"], turn)
        leave(fork)

        def tokens() -> dict[str, int]:
            rows = workspace.daemon.get("/api/usage?by=agent,model").json()["rows"]
            return {row["agent_id"]: row["total_tokens"] for row in rows}

        each = 1_200 + 20_000 + 42
        wait_until(lambda: tokens() == {agent["id"]: 3 * each, copy["id"]: 0}, "the tokens of both agents")
        report = workspace.daemon.get("/api/usage?by=agent").json()
        assert report["total"]["cost_usd"] == pytest.approx(4 * turn)
        assert (report["total"]["unpriced_tokens"], report["unmeasured"]) == (0, [])
        assert workspace.daemon.verified()
