"""Correlation: six strategies in their order, and cases that none of them may confuse."""

from typing import Any

import msgspec
import pytest

from claude_headspace.clients.decode import decode
from claude_headspace.kernel.agent import Agent, AgentState, Project, Worktree
from claude_headspace.kernel.correlate import (
    CLAIMABLE_AFTER_END,
    Correlation,
    Found,
    Identity,
    Strategy,
    claimed_identities,
    correlate,
    correlation_keys,
    create_agent,
    identities,
    is_claimable,
    project_at,
)
from claude_headspace.kernel.envelope import Decisions, Envelope, Observations, Origin
from claude_headspace.kernel.mission.model import Mission
from claude_headspace.testing import START, hook
from tests.kernel.story import envelope, new_agent, time_at

HERE = project_at("laptop", "/home/dev/app")


def agent(name: str, **known: object) -> Agent:
    """An idle agent of the project, without a known client."""
    return msgspec.structs.replace(new_agent(id=name, project=HERE, state=AgentState.IDLE), **known)


def start(source: str = "startup", *, event: str = "SessionStart", **context: object) -> Envelope:
    """The first event of a client in the project, by default its start."""
    known = msgspec.structs.replace(Observations(project_root="/home/dev/app"), **context)
    payload = {"source": source} if event == "SessionStart" else {"tool_name": "Bash", "prompt": "Go on"}
    return envelope(event, 100, payload, observations=known)


def correlated(
    sent: Envelope,
    found: dict[str, Agent] | None = None,
    *,
    parents: list[Agent] | None = None,
    nearby: list[Agent] | None = None,
    in_memory: bool = True,
) -> Correlation:
    """Correlate an envelope with these agents."""
    named = {kind: Found(known, in_memory) for kind, known in (found or {}).items()}
    return correlate(sent, decode(sent), named, parents or [], nearby or [])


# --- the strategies ---------------------------------------------------------------------------------------------------


def test_the_strategies_are_tried_in_order() -> None:
    """The order of the names is the order of the attempts. An addressed event needs no search."""
    assert [strategy.value for strategy in Strategy][:6] == [
        "memory",
        "database",
        "headspace_id",
        "tmux_pane",
        "working_directory",
        "new",
    ]


def test_a_known_session_is_matched_first() -> None:
    """From the cache or the database."""
    assert correlated(start(), {"session": agent("a")}) == Correlation(Strategy.MEMORY, agent("a"))
    assert correlated(start(), {"session": agent("a")}, in_memory=False) == Correlation(Strategy.DATABASE, agent("a"))


def test_a_client_that_forks_a_session_is_its_own_agent() -> None:
    """Some clients report the forked session at their start. It stays with its agent, running or ended."""
    sent = start("resume", headspace_id="h")
    session = identities(sent, decode(sent))["session"]
    fork = agent("fork", forked_session=session.key)
    for first in (agent("first"), agent("first", ended_at=time_at(1))):
        assert correlated(sent, {"session": first, "headspace": fork}) == Correlation(Strategy.HEADSPACE_ID, fork)
    assert correlated(sent, {"session": agent("first"), "headspace": agent("other")}).agent == agent("first")
    assert session not in claimed_identities(fork, sent, identities(sent, decode(sent)))
    assert session in claimed_identities(agent("first"), sent, identities(sent, decode(sent)))


def test_an_id_from_the_environment() -> None:
    """The id that a wrapper sets identifies the agent."""
    assert correlated(start(), {"headspace": agent("a")}) == Correlation(Strategy.HEADSPACE_ID, agent("a"))


def test_a_pane() -> None:
    """A new session in an agent's pane belongs to the agent."""
    assert correlated(start(tmux_pane="%1"), {"pane": agent("a")}) == Correlation(Strategy.TMUX_PANE, agent("a"))


def test_worktrees_belong_to_one_project_and_their_agents_are_not_confused() -> None:
    """The project is the repository. A new session continues only an agent of the same worktree."""
    inside = start(project_root="/home/dev/app-worktrees/login", repository_root="/home/dev/app")
    assert create_agent("a", inside, decode(inside)).project == HERE
    assert correlation_keys(inside, decode(inside)).project_id == HERE.id
    there = agent("there", worktree=Worktree(root="/home/dev/app-worktrees/login"))
    elsewhere = agent("elsewhere", worktree=Worktree(root="/home/dev/app-worktrees/other"))
    assert correlated(inside, nearby=[elsewhere, agent("main"), there]).agent == there
    assert correlated(start(), nearby=[elsewhere, there]) == Correlation(Strategy.NEW)
    moved = msgspec.structs.replace(inside.observations, tmux_pane="%1")
    assert correlated(msgspec.structs.replace(inside, observations=moved), {"pane": elsewhere}).agent is None


def test_a_directory() -> None:
    """A new session in the directory of an agent without a client belongs to it, to the newest one first."""
    found = correlated(start(), nearby=[agent("busy", state=AgentState.WORKING), agent("newer"), agent("older")])
    assert found == Correlation(Strategy.WORKING_DIRECTORY, agent("newer"))


def test_a_new_agent() -> None:
    """An event without a match creates an agent."""
    assert correlated(start()) == Correlation(Strategy.NEW)


def test_the_first_matching_strategy_decides() -> None:
    """With everything known, the first one; without it the next."""
    sent = start(client_pid=7, tmux_pane="%1")
    found = {
        "session": agent("session"),
        "process": agent("process", pid=7),
        "headspace": agent("headspace"),
        "pane": agent("pane"),
    }
    order = []
    while found:
        chosen = correlated(sent, found, nearby=[agent("directory")]).agent
        assert chosen is not None
        order.append(chosen.id)
        del found[chosen.id]
    assert order == ["session", "process", "headspace", "pane"]
    assert correlated(sent, nearby=[agent("directory")]).strategy is Strategy.WORKING_DIRECTORY


@pytest.mark.parametrize(
    ("known", "declared", "same"),
    [
        ({}, {}, True),
        ({"role": "chief"}, {"role": "chief"}, True),
        ({"role": "chief"}, {}, False),
        ({}, {"role": "chief"}, False),
        ({"mode": "mission"}, {}, False),
        ({}, {"declared_mode": "interactive"}, True),
    ],
)
def test_another_role_is_another_agent(known: dict[str, Any], declared: dict[str, Any], same: bool) -> None:
    """Neither pane nor directory match a session with another role, whatever its first event is."""
    for event in ("SessionStart", "UserPromptSubmit", "PreToolUse"):
        pane, place = start(tmux_pane="%1", event=event, **declared), start(event=event, **declared)
        by_pane, by_place = (
            correlated(pane, {"pane": agent("a", **known)}),
            correlated(place, nearby=[agent("a", **known)]),
        )
        assert (by_pane.agent is not None, by_place.agent is not None) == (same, same), event


@pytest.mark.parametrize(
    ("known", "declared", "same"),
    [("main:1", "main:1", True), ("main:1", "main:2", False), ("main:1", None, False), (None, "main:1", False)],
)
def test_another_agent_id_is_another_agent(known: str | None, declared: str | None, same: bool) -> None:
    """Requirement: "agentId (fleet pane identity) is the ownership key". In one directory, without pane or pid."""
    assert (correlated(start(fleet_id=declared), nearby=[agent("a", fleet_id=known)]).agent is not None) is same


# --- processes and panes ----------------------------------------------------------------------------------------------


def test_a_known_process_is_the_same_agent() -> None:
    """The same client with a new session id (`/clear`, `/resume` inside)."""
    known = agent("a", pid=7, pid_started_at=time_at(1))
    sent = start("clear", client_pid=7, client_started_at=time_at(1))
    assert correlated(sent, {"process": known}) == Correlation(Strategy.MEMORY, known)
    assert correlated(sent, {"process": known}, in_memory=False).strategy is Strategy.DATABASE


def test_a_reused_pid_is_another_client() -> None:
    """A process with another start time does not match; an ended agent has no process."""
    sent = start(client_pid=7, client_started_at=time_at(90))
    assert correlated(sent, {"process": agent("a", pid=7, pid_started_at=time_at(1))}).strategy is Strategy.NEW
    assert correlated(sent, {"process": agent("a", pid=None, ended_at=time_at(2))}).strategy is Strategy.NEW


@pytest.mark.parametrize(
    ("source", "kept"), [("startup", False), ("resume", False), ("clear", True), ("compact", True)]
)
def test_a_pane_in_another_project_is_another_agent(source: str, kept: bool) -> None:
    """A pane can be used for another project. Only `/clear` and compaction prove that it is the same client."""
    sent = start(source, tmux_pane="%1", project_root="/home/dev/other")
    assert (correlated(sent, {"pane": agent("a")}).strategy is Strategy.TMUX_PANE) is kept


def test_two_running_clients_in_one_pane_are_two_agents() -> None:
    """A script may start several clients in one pane. A client that starts there after an end is the same agent."""
    sent = start(client_pid=8, tmux_pane="%1")
    assert correlated(sent, {"pane": agent("a", pid=7, tmux_pane="%1")}).strategy is Strategy.NEW
    assert correlated(sent, {"pane": agent("a", ended_at=time_at(50))}).strategy is Strategy.TMUX_PANE
    unknown = correlated(start(tmux_pane="%1"), {"pane": agent("a", pid=7, tmux_pane="%1")})
    assert unknown.strategy is Strategy.TMUX_PANE


# --- children ---------------------------------------------------------------------------------------------------------


def test_a_descendant_is_a_child() -> None:
    """A client that an agent started inherits the agent's pane and ids, and is not the agent."""
    parent = agent("parent", pid=7)
    sent = start(client_pid=9, ancestor_pids=(8, 7, 1), headspace_id="h", tmux_pane="%1")
    found = correlated(sent, {"headspace": parent, "pane": parent}, parents=[parent], nearby=[agent("free")])
    assert found == Correlation(Strategy.NEW, parent_id="parent")


def test_a_known_child_is_matched_by_its_session_or_process() -> None:
    """Before its ancestry is considered, also after `/clear`."""
    parent, child = agent("parent", pid=7), agent("child", pid=9, parent_id="parent")
    sent = start("clear", client_pid=9, ancestor_pids=(7, 1))
    assert correlated(sent, {"session": child}, parents=[parent]).agent == child
    assert correlated(sent, {"process": child}, parents=[parent]).agent == child


def test_the_first_client_of_a_mission_is_its_agent() -> None:
    """Even if it descends from another agent's client. The next client of the mission is another agent."""
    expected = agent("worker", mission=Mission(id="m1", started_at=time_at(1)))
    conversation = agent("conversation", pid=1, pid_started_at=time_at(1))
    sent = start(declared_mission_id="m1", ancestor_pids=(1,), client_started_at=time_at(50))
    assert correlated(sent, {"mission": expected}) == Correlation(Strategy.HEADSPACE_ID, expected)
    found = correlated(sent, {"mission": expected}, parents=[conversation])
    assert found == Correlation(Strategy.HEADSPACE_ID, expected, "conversation")
    begun = msgspec.structs.replace(expected, ended_at=time_at(60))
    assert correlated(sent, {"mission": begun}, parents=[conversation]) == Correlation(
        Strategy.NEW, parent_id="conversation"
    )


def test_a_directory_never_matches_workers() -> None:
    """A worker continues no other agent, and no client continues a worker."""
    for sent in (start(declared_mission_id="m1"), start(declared_mode="background")):
        assert correlated(sent, nearby=[agent("a")]) == Correlation(Strategy.NEW)
    assert correlated(start(declared_mode="interactive"), nearby=[agent("a")]).agent == agent("a")
    worker = agent("worker", mission=Mission(id="m1", started_at=time_at(1)), ended_at=time_at(90))
    assert correlated(start(), nearby=[worker]) == Correlation(Strategy.NEW)


def test_an_ended_agent_has_no_children() -> None:
    """Its pid may have been reused."""
    parent = agent("parent", pid=None, ended_at=time_at(50))
    assert correlated(start(ancestor_pids=(7,)), parents=[parent]).parent_id is None


def test_a_parent_is_older_than_its_child() -> None:
    """An agent correlated client started after this one has a reused pid."""
    sent = start(client_pid=9, client_started_at=time_at(50), ancestor_pids=(7,))
    assert correlated(sent, parents=[agent("younger", pid=7, pid_started_at=time_at(80))]).parent_id is None
    assert correlated(sent, parents=[agent("older", pid=7, pid_started_at=time_at(20))]).parent_id == "older"


# --- directories ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("known", "free"),
    [
        ({}, True),
        ({"state": AgentState.STARTING}, True),
        ({"state": AgentState.ERROR}, True),
        ({"state": AgentState.WORKING}, False),
        ({"state": AgentState.WAITING}, False),
        ({"pid": 7}, False),
        ({"tmux_pane": "%1"}, False),
        ({"parent_id": "parent"}, False),
        ({"ended_at": time_at(100)}, True),
        ({"ended_at": time_at(100) - CLAIMABLE_AFTER_END}, True),
        ({"ended_at": time_at(100) - CLAIMABLE_AFTER_END - 1}, False),
        ({"ended_at": time_at(101)}, False),
        ({"ended_at": time_at(99), "tmux_pane": "%1", "state": AgentState.ENDED}, True),
    ],
)
def test_when_an_agent_can_be_claimed(known: dict[str, object], free: bool) -> None:
    """No running client, not in a turn, ended recently and before the event, and not a child."""
    assert is_claimable(agent("a", **known), time_at(100)) is free


def test_two_running_clients_in_one_directory_are_two_agents() -> None:
    """An agent with a running client is not matched by its directory."""
    assert correlated(start(client_pid=8), nearby=[agent("a", pid=7)]).strategy is Strategy.NEW


@pytest.mark.parametrize(
    ("pane", "strategy"), [("%1", "working_directory"), (None, "working_directory"), ("%2", "new")]
)
def test_another_pane_prevents_a_match_by_directory(pane: str | None, strategy: str) -> None:
    """An agent that worked in one pane does not continue in another."""
    left = agent("a", tmux_pane="%1", ended_at=time_at(90))
    assert correlated(start(tmux_pane=pane), nearby=[left]).strategy.value == strategy


def test_another_kind_of_client_is_another_agent() -> None:
    """The agent of one program does not match another program."""
    sent = msgspec.structs.replace(start(), client="other-cli")
    assert correlated(sent, nearby=[agent("a")]).strategy is Strategy.NEW


# --- identities -------------------------------------------------------------------------------------------------------


def test_identities_are_ordered_by_strength() -> None:
    """Identities that an event does not have are left out."""
    sent = start(client_pid=7, tmux_pane="%1", headspace_id="h")
    assert identities(sent, decode(sent)) == {
        "session": Identity("session", "session-1"),
        "headspace": Identity("headspace", "h"),
        "process": Identity("process", "laptop:7"),
        "pane": Identity("pane", "laptop:%1"),
    }
    assert list(identities(sent, decode(sent))) == ["session", "headspace", "process", "pane"]
    bare = envelope("SessionStart", 1, b"{}", observations=Observations())
    assert identities(bare, decode(bare)) == {}


def test_hosts_are_never_confused() -> None:
    """The same pid, pane or directory on another host does not match."""
    here = start(client_pid=7, tmux_pane="%1", ancestor_pids=(3,))
    there = msgspec.structs.replace(here, host="server")
    one, other = identities(here, decode(here)), identities(there, decode(there))
    assert one["process"] != other["process"]
    assert one["pane"] != other["pane"]
    assert correlation_keys(here, decode(here)).ancestors != correlation_keys(there, decode(there)).ancestors
    assert project_at("laptop", "/home/dev/app").id != project_at("server", "/home/dev/app").id


@pytest.mark.parametrize(
    ("root", "name"),
    [("/home/dev/app", "app"), ("/home/dev/app/", "app"), ("/", "/"), ("", "unknown"), (None, "unknown")],
)
def test_a_project_is_named_after_its_directory(root: str | None, name: str) -> None:
    """A session in an unknown directory has a project, too."""
    project = project_at("laptop", root)
    assert isinstance(project, Project)
    assert (project.name, project.root) == (name, root or "")


def test_malformed_directories_have_a_project() -> None:
    """A path that is not valid Unicode is accepted."""
    assert project_at("laptop", "/tmp/\ud83d").name == "\ud83d"


# --- machines ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["process", "pane"])
def test_panes_and_processes_belong_to_one_host(kind: str) -> None:
    """An agent that moved to another host does not match the pane and pid it had here."""
    moved = agent("a", host="desktop", pid=42, tmux_pane="%1")
    sent = start(client_pid=42, tmux_pane="%1")
    assert correlated(sent, {kind: moved}, parents=[moved], nearby=[moved]).strategy is Strategy.NEW
    here = msgspec.structs.replace(moved, host="laptop")
    assert correlated(sent, {kind: here}).agent is here


def test_a_process_of_another_host_is_no_parent() -> None:
    """An ancestor pid means a process of the same host."""
    elsewhere = agent("a", host="desktop", pid=42)
    sent = start(client_pid=43, ancestor_pids=(42, 1))
    assert correlated(sent, parents=[elsewhere]).parent_id is None
    assert correlated(sent, parents=[msgspec.structs.replace(elsewhere, host="laptop")]).parent_id == "a"


# --- new agents -------------------------------------------------------------------------------------------------------


AROUND = {"tmux_pane": "%1", "client_pid": 42, "headspace_id": "h1"}


def test_a_new_agent_is_the_same_at_every_replay() -> None:
    """Name, project and creation time depend on the first event only."""
    first = hook(
        "SessionStart",
        observations=Observations(project_root="/srv/app"),
        decisions=Decisions(assigned_name="calm-otter"),
    )
    agent = create_agent("agent-1", first, decode(first))
    assert agent == create_agent("agent-1", first, decode(first))
    assert (agent.name, agent.project.name, agent.created_at) == ("calm-otter", "app", START)


def test_an_agent_claims_the_identities_of_its_hooks() -> None:
    """Session, wrapper, process and pane."""
    event = hook("SessionStart", observations=Observations(**AROUND))  # type: ignore[arg-type]  # keyword fields
    agent = create_agent("agent-1", event, decode(event))
    assert [identity.kind for identity in claimed_identities(agent, event, identities(event, decode(event)))] == [
        "session",
        "headspace",
        "process",
        "pane",
    ]


def test_a_child_does_not_claim_inherited_identities() -> None:
    """Pane and wrapper id stay the parent's; session and process are the child's."""
    around = Observations(**AROUND)  # type: ignore[arg-type]  # keyword fields
    event = hook("SessionStart", observations=around, decisions=Decisions(parent_id="agent-0"))
    child = create_agent("agent-1", event, decode(event))
    assert [identity.kind for identity in claimed_identities(child, event, identities(event, decode(event)))] == [
        "session",
        "process",
    ]


def test_the_process_table_claims_nothing() -> None:
    """A vanished process identifies no client."""
    event = hook("ClientVanished", origin=Origin.PROCESS, observations=Observations(client_pid=42))
    assert (
        claimed_identities(create_agent("agent-1", event, decode(event)), event, identities(event, decode(event))) == []
    )
