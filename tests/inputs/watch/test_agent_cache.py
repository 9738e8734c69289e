"""The agent cache: updates, lookups and its size limit."""

from claude_headspace.inputs.watch.agent_cache import AgentCache
from claude_headspace.kernel.agent import Agent, Session
from claude_headspace.kernel.envelope import Observations
from tests.kernel.story import START, new_agent


def agent(name: str, session_id: str = "", **fields: object) -> Agent:
    """An agent with a session."""
    session = Session(
        id=f"{name}-s",
        agent_id=name,
        ordinal=1,
        client_id=session_id or name,
        source="startup",
        started_at=START,
        transcript_path=f"/transcripts/{name}",
    )
    return new_agent(id=name, session=session, **fields)


def test_an_agent_is_found_by_each_of_its_sessions() -> None:
    """A session before `/clear` still leads to its agent."""
    agents = AgentCache("laptop", [agent("a", "s1")])
    agents.update(agent("a", "s2"))
    assert [found and found.id for found in map(agents.find_by_session, ("s1", "s2", "s3"))] == ["a", "a", None]


def test_add_if_missing_keeps_a_cached_agent() -> None:
    """The committed agent is newer than the one read from the journal."""
    agents = AgentCache("laptop")
    agents.update(agent("a", cwd="/new"))
    agents.add_if_missing(agent("a", cwd="/old"))
    found = agents.find_by_session("a")
    assert found is not None
    assert found.cwd == "/new"


def test_ended_agents_have_no_client_and_no_transcript() -> None:
    """Only running agents are checked and followed, by the follower of their client."""
    running = [agent("a", pid=1), agent("c", client="copilot")]
    agents = AgentCache("laptop", [*running, agent("b", pid=2, ended_at=START)])
    assert [each.id for each in agents.with_client()] == ["a"]
    assert list(agents.transcript_paths("claude-code")) == ["/transcripts/a"]
    assert list(agents.transcript_paths("copilot")) == ["/transcripts/c"]


def test_a_client_below_a_wrapper_has_the_id_of_the_wrapper() -> None:
    """Only while the agent that the wrapper registered has no session: later the session identifies it."""
    waiting = new_agent(id="w", client="copilot", wrapper_pid=7, headspace_id="h1")
    agents = AgentCache("laptop", [waiting, agent("a", client="copilot", wrapper_pid=8, headspace_id="h2")])
    found = {pid: agents.add_wrapper("copilot", Observations(ancestor_pids=(99, pid))) for pid in (7, 8, 9)}
    assert {pid: each.headspace_id for pid, each in found.items()} == {7: "h1", 8: None, 9: None}
    assert agents.add_wrapper("codex", Observations(ancestor_pids=(7,))).headspace_id is None


def test_agents_of_other_hosts_are_not_cached() -> None:
    """Their files and processes are on another machine."""
    agents = AgentCache("laptop", [agent("a", host="desktop")])
    assert agents.find_by_session("a") is None


def test_the_number_of_sessions_is_limited() -> None:
    """Sessions of ended agents are evicted first, then the oldest."""
    initial = [agent("old"), agent("gone", ended_at=START), agent("b"), agent("c")]
    agents = AgentCache("laptop", initial, max_sessions=4)
    agents.update(agent("d"))
    assert [name for name in ("old", "gone", "b", "c", "d") if agents.find_by_session(name)] == ["old", "b", "c", "d"]
    agents.update(agent("e"))
    assert [name for name in ("old", "b", "c", "d", "e") if agents.find_by_session(name)] == ["b", "c", "d", "e"]
