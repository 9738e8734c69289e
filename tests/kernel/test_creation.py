"""How agents come into being, and what they are recognised by."""

from claude_headspace.clients.decode import decode
from claude_headspace.kernel.creation import claimed_identities, create_agent
from claude_headspace.kernel.envelope import Decisions, Observations, Origin
from claude_headspace.testing import START, hook

AROUND = {"tmux_pane": "%1", "client_pid": 42, "headspace_id": "h1"}


def test_a_new_agent_is_the_same_at_every_replay() -> None:
    """Name, project and beginning follow from the first event alone."""
    first = hook(
        "SessionStart",
        observations=Observations(project_root="/srv/app"),
        decisions=Decisions(assigned_name="calm-otter"),
    )
    agent = create_agent("agent-1", first, decode(first))
    assert agent == create_agent("agent-1", first, decode(first))
    assert (agent.name, agent.project.name, agent.created_at) == ("calm-otter", "app", START)


def test_a_client_is_recognised_by_all_that_its_hooks_tell() -> None:
    """Session, wrapper, process and pane are its own."""
    event = hook("SessionStart", observations=Observations(**AROUND))  # type: ignore[arg-type]  # keyword fields
    agent = create_agent("agent-1", event, decode(event))
    assert [identity.kind for identity in claimed_identities(agent, event, decode(event))] == [
        "session",
        "headspace",
        "process",
        "pane",
    ]


def test_a_child_leaves_its_parent_what_it_inherited() -> None:
    """Pane and wrapper id stay the parent's; session and process are the child's."""
    around = Observations(**AROUND)  # type: ignore[arg-type]  # keyword fields
    event = hook("SessionStart", observations=around, decisions=Decisions(parent_id="agent-0"))
    child = create_agent("agent-1", event, decode(event))
    assert [identity.kind for identity in claimed_identities(child, event, decode(event))] == ["session", "process"]


def test_the_process_table_claims_nothing() -> None:
    """That a client is gone says nothing about who is there."""
    event = hook("ClientVanished", origin=Origin.PROCESS, observations=Observations(client_pid=42))
    assert claimed_identities(create_agent("agent-1", event, decode(event)), event, decode(event)) == []
