"""Every database: what a batch writes can be read afterwards, in order, or not at all."""

from contextlib import suppress
from typing import Any

import msgspec
import pytest

from claude_headspace.engine.batch import Batch
from claude_headspace.engine.submission import BatchFunctions
from claude_headspace.kernel.agent import AgentState
from claude_headspace.kernel.correlate import Identity, Strategy
from claude_headspace.kernel.effort import acts
from claude_headspace.kernel.envelope import SECOND, Envelope, Observations, Origin
from claude_headspace.kernel.hooks import PROBE
from claude_headspace.ports import EventFilter, Journal, Position
from claude_headspace.testing import START, hook
from tests.journals import store, submission


@pytest.fixture
def journal(any_journal: Journal) -> Journal:
    """An empty journal of each backend."""
    return any_journal


def a_turn(start: int = START, **common: Any) -> list[Envelope]:
    """A session that starts, receives a prompt, runs a tool and asks a question."""
    return [
        hook("SessionStart", start, source="startup", **common),
        hook("UserPromptSubmit", start + 1, prompt="Fix the parser", prompt_id="p1", **common),
        hook("PreToolUse", start + 2, tool_name="Bash", tool_input={"command": "ls"}, tool_use_id="t1", **common),
        hook("PostToolUse", start + 3, tool_name="Bash", tool_input={"command": "ls"}, tool_use_id="t1", **common),
        hook("Stop", start + 4, last_assistant_message="Which parser do you mean?", prompt_id="p1", **common),
    ]


def test_a_batch_can_be_read_afterwards(journal: Journal) -> None:
    """The agent, its command, turns, wait, states and events."""
    store(journal, *a_turn())
    [agent] = journal.agents()
    assert (agent.state, agent.waiting_for) == (AgentState.WAITING, "question")
    assert [turn.text for turn in journal.turns(agent_id=agent.id)] == ["Fix the parser", "Which parser do you mean?"]
    [command] = journal.commands(agent.id)
    assert journal.command(command.id) == command
    assert [turn.actor for turn in journal.turns(command_id=command.id)] == ["USER", "AGENT"]
    [wait] = journal.waits()
    assert wait.kind == "question"
    [session] = journal.sessions(agent.id)
    assert session.client_id == "session-1"
    assert [row.state for row in journal.states(agent.id)] == ["idle", "working", "waiting"]
    assert [stored.envelope.name for stored in journal.events(agent_id=agent.id)] == [
        "SessionStart",
        "UserPromptSubmit",
        "PreToolUse",
        "PostToolUse",
        "Stop",
    ]


def test_an_event_is_stored_unchanged(journal: Journal) -> None:
    """Every field of the envelope, and the payload byte for byte."""
    sent = hook(
        "Mystery", prompt="naïve 🙂 \\ud800", observations=Observations(tmux_pane="%1", branch="main"), delivery_id="d1"
    )
    store(journal, sent)
    [stored] = journal.events()
    assigned = stored.envelope.decisions.assigned_name
    assert assigned
    assert stored.envelope.payload == sent.payload
    assert (stored.envelope.id, stored.envelope.delivery_id, stored.envelope.fired_at) == (sent.id, "d1", sent.fired_at)
    assert (stored.envelope.observations.tmux_pane, stored.envelope.observations.branch) == ("%1", "main")
    assert stored.strategy is Strategy.NEW


def test_every_text_can_be_stored(journal: Journal) -> None:
    """Any text in a payload, including NUL, is stored, found again and survives a rebuild."""
    nul = "a\0b"
    around = Observations(
        tmux_pane=nul, tmux_session=nul, headspace_id=nul, branch=nul, project_root=f"/{nul}", anomaly=nul
    )
    call = {"tool_use_id": nul, "tool_name": nul, "tool_input": {nul: nul}}
    events: list[tuple[str, dict[str, Any]]] = [
        ("SessionStart", {"transcript_path": f"/{nul}.jsonl", "model": nul}),
        ("UserPromptSubmit", {"prompt": nul, "prompt_id": nul}),
        ("PreToolUse", call),
        ("PermissionRequest", call),
        ("SubagentStart", {"agent_id": nul, "agent_type": nul}),
        ("PreToolUse", {**call, "agent_id": nul}),
        ("Notification", {"message": nul, "title": nul}),
        ("Stop", {"last_assistant_message": f"{nul}?", "prompt_id": nul}),
        ("StopFailure", {"error": nul}),
    ]
    for number, (name, fields) in enumerate(events):
        store(
            journal,
            hook(name, START + number, observations=around, delivery_id=f"{nul}{number}", cwd=f"/{nul}", **fields),
        )
    assert journal.counts().events == len(events)
    [agent] = journal.agents()
    assert len(journal.turns(agent_id=agent.id)) == 2
    with journal.transaction() as transaction:
        pane = Identity("pane", f"laptop:{nul}")
        assert set(transaction.agents_by_identity([pane])) == {pane}
        assert set(transaction.find_deliveries([f"{nul}0"])) == {f"{nul}0"}
    assert (journal.agent(nul), journal.command(nul), journal.wait(nul)) == (None, None, None)
    assert journal.agents_by_name(nul) == journal.agents_by_id_prefix(nul) == []
    journal.save_positions(nul, {nul: Position(1, START)})
    assert list(journal.verify()) == []
    journal.rebuild()
    assert list(journal.verify()) == []


def test_sequence_numbers_have_no_gaps_and_follow_the_commits(journal: Journal) -> None:
    """Events and stream messages share one sequence."""
    messages = store(journal, *a_turn()) + store(journal, *a_turn(START + 100, session_id="s2", cwd="/other"))
    numbers = sorted([stored.seq for stored in journal.events()] + [message.seq for message in messages])
    assert numbers == list(range(1, journal.counts().last_seq + 1))
    assert [message.seq for message in messages] == sorted(message.seq for message in messages)


def test_the_stream_can_be_read_again(journal: Journal) -> None:
    """From any position, with the same content."""
    messages = store(journal, *a_turn())
    assert journal.stream(0, 100) == messages
    assert journal.stream(messages[1].seq, 2) == messages[2:4]
    assert journal.stream_bounds() == (messages[0].seq, messages[-1].seq)


def test_a_failed_batch_leaves_no_trace(journal: Journal) -> None:
    """If the block raises, nothing is in the database or in the cache, and the next batch works."""

    class Unlucky(Exception):
        pass

    def half_a_batch() -> None:
        with journal.transaction() as transaction:
            batch = Batch(transaction, BatchFunctions(new_id=lambda: "agent-1"))
            batch.process([submission(hook("SessionStart"))])
            transaction.write(batch.records)
            raise Unlucky

    before = journal.counts()
    with pytest.raises(Unlucky):
        half_a_batch()
    assert journal.counts() == before
    with journal.transaction() as transaction:
        assert transaction.agents_by_identity([Identity("session", "session-1")]) == {}
    store(journal, hook("SessionStart"))
    assert journal.counts().agents == 1


def test_stored_deliveries_are_found(journal: Journal) -> None:
    """With the agent of each."""
    store(journal, hook("SessionStart", delivery_id="d1"))
    with journal.transaction() as transaction:
        known = transaction.find_deliveries(["d1", "d2"])
    assert list(known) == ["d1"]
    assert known["d1"].agent_id == "agent-1"


def test_agents_are_found_by_identity(journal: Journal) -> None:
    """By session, pane, process and Headspace id; a pane of another host does not match."""
    store(journal, hook("SessionStart", observations=Observations(tmux_pane="%1", client_pid=42, headspace_id="h1")))
    known = [
        Identity("session", "session-1"),
        Identity("pane", "laptop:%1"),
        Identity("process", "laptop:42"),
        Identity("headspace", "h1"),
    ]
    with journal.transaction() as transaction:
        found = transaction.agents_by_identity([*known, Identity("pane", "desktop:%1")])
    assert sorted(found) == sorted(known)


def test_agents_are_read_by_name_and_id_prefix(journal: Journal) -> None:
    """A prefix is taken literally."""
    store(journal, *a_turn())
    [agent] = journal.agents()
    assert journal.agents_by_name(agent.name) == [agent]
    assert journal.agents_by_id_prefix("agent") == [agent]
    assert journal.agents_by_id_prefix("%") == []
    assert journal.agent("nobody") is None


def test_ended_agents_are_listed_on_demand(journal: Journal) -> None:
    """An ended agent is listed only if it ended after the given time."""
    store(journal, hook("SessionStart"), hook("SessionEnd", START + SECOND, reason="other"))
    assert journal.agents() == []
    assert len(journal.agents(ended_after=START)) == 1
    assert journal.agents(ended_after=START + 2 * SECOND) == []


def test_a_name_is_in_use_until_its_agent_ends(journal: Journal) -> None:
    """Afterwards another agent can have it."""
    store(journal, hook("SessionStart"))
    [agent] = journal.agents()
    with journal.transaction() as transaction:
        assert transaction.names_in_use([agent.name, "nobody"]) == {agent.name}
    store(journal, hook("SessionEnd", START + SECOND, reason="other"))
    with journal.transaction() as transaction:
        assert transaction.names_in_use([agent.name]) == set()


def test_claimable_agents_are_found(journal: Journal) -> None:
    """Agents of a project without a client, idle or recently ended, the most recently active first."""
    store(journal, hook("SessionStart"), hook("UserPromptSubmit", START + 1, prompt="go"))
    store(journal, hook("SessionStart", START + 2, session_id="s2", observations=Observations(client_pid=2)))
    store(journal, hook("SessionStart", START + 3, session_id="s3", observations=Observations(client_pid=3)))
    store(journal, hook("SessionStart", START + 4, session_id="s4", cwd="/elsewhere"))
    [project] = {agent.project.id for agent in journal.agents() if agent.cwd == "/home/dev/app"}
    with journal.transaction() as transaction:
        assert transaction.claimable_agents(project, START) == []
    store(journal, hook("SessionEnd", START + 5, session_id="s3", reason="other"), hook("Stop", START + 6))
    with journal.transaction() as transaction:
        assert [each.id for each in transaction.claimable_agents(project, START)] == ["agent-1", "agent-3"]
        assert [each.id for each in transaction.claimable_agents(project, START + SECOND)] == ["agent-1"]


def test_the_time_of_the_newest_hook_is_read(journal: Journal) -> None:
    """For each host separately. An event of the doctor does not count."""
    assert journal.last_hook_at("laptop") is None
    store(journal, hook("SessionStart"), hook("SessionStart", START + 5, session_id="s2", host="desktop"))
    store(journal, hook(PROBE, START + 9))
    assert (journal.last_hook_at("laptop"), journal.last_hook_at("desktop")) == (START, START + 5)


def test_projections_follow_from_the_log(journal: Journal) -> None:
    """`verify` finds no difference, and a rebuild gives the same rows."""
    store(journal, *a_turn())
    store(journal, hook("UserPromptSubmit", START + SECOND, prompt="The second one", prompt_id="p2"))
    before = (journal.agents(), journal.turns(), journal.waits(only_open=False), journal.states("agent-1"))
    assert list(journal.verify()) == []
    assert journal.rebuild() == 6
    assert (journal.agents(), journal.turns(), journal.waits(only_open=False), journal.states("agent-1")) == before
    assert list(journal.verify()) == []


def test_events_are_read_in_pages(journal: Journal) -> None:
    """The newest by default, or onward from a sequence number."""
    store(journal, *a_turn())
    newest = journal.events(limit=2)
    assert [stored.envelope.name for stored in newest] == ["PostToolUse", "Stop"]
    first = journal.events(after=0, limit=1)
    assert [stored.envelope.name for stored in first] == ["SessionStart"]
    assert [s.envelope.name for s in journal.events(after=first[0].seq, limit=1)] == ["UserPromptSubmit"]


def test_counts(journal: Journal) -> None:
    """Events, agents by state, and anomalies, also by client. An event of an unknown client belongs to no agent."""
    from_newcomer = msgspec.structs.replace(hook("Mystery", START + 10), client="newcomer")
    store(journal, *a_turn(), hook("Mystery", START + 9), from_newcomer)
    counts = journal.counts()
    assert (counts.events, counts.agents, counts.anomalies) == (7, 1, 2)
    assert counts.anomalies_by_client == {"claude-code": 1, "newcomer": 1}
    assert counts.by_state == {"waiting": 1}


# --- positions --------------------------------------------------------------------------------------------------------


def test_positions_are_stored(journal: Journal) -> None:
    """The newest position of each reader and file; a rebuild does not change it."""
    assert journal.positions("tail") == {}
    journal.save_positions("tail", {"/a.jsonl": Position(10, START), "/b.jsonl": Position(0, 0)})
    journal.save_positions("tail", {"/a.jsonl": Position(20, START + 1)})
    journal.save_positions("import", {"/a.jsonl": Position(5, START)})
    journal.save_positions("tail", {})
    store(journal, *a_turn())
    journal.rebuild()
    assert journal.positions("tail") == {"/a.jsonl": Position(20, START + 1), "/b.jsonl": Position(0, 0)}
    assert journal.positions("import") == {"/a.jsonl": Position(5, START)}


def test_events_are_filtered(journal: Journal) -> None:
    """By name, origin, client, anomaly, words, sequence number and time of arrival."""
    store(journal, *a_turn(), msgspec.structs.replace(hook("Mystery", START + 10), client="newcomer"))
    everything = journal.events()

    def seqs(**criteria: Any) -> list[int]:
        return [stored.seq for stored in journal.events(matching=EventFilter(**criteria))]

    assert seqs() == [stored.seq for stored in everything]
    assert seqs(names=frozenset({"PreToolUse", "PostToolUse"})) == [everything[2].seq, everything[3].seq]
    assert seqs(origins=frozenset({"transcript"})) == []
    assert seqs(clients=frozenset({"newcomer"})) == [everything[-1].seq]
    assert seqs(only_anomalies=True) == [stored.seq for stored in everything if stored.anomaly]
    assert seqs(before_seq=everything[2].seq) == [everything[0].seq, everything[1].seq]
    assert seqs(received_between=(START + 1, START + 3)) == [everything[1].seq, everything[2].seq]
    assert seqs(received_between=(START + 100, START + 200)) == []
    assert seqs(words=("MYSTERY",)) == [everything[-1].seq]
    assert seqs(words=("fix", "parser")) == [everything[1].seq]
    assert seqs(words=("fix", "nothing")) == []
    assert seqs(words=("%",)) == []
    first = everything[0].agent_id
    [name] = [agent.name for agent in journal.agents() if agent.id == first]
    assert seqs(words=(name,)) == [stored.seq for stored in everything if stored.agent_id == first]


def test_time_ranges_are_read(journal: Journal) -> None:
    """States with the ones at the beginning, commands, and delays of hooks."""
    store(journal, *a_turn())
    between = journal.states_between(START + 2, START + 100)
    assert [row.state for row in between] == ["working", "waiting"]
    assert [row.state for row in journal.states_between(START, START + 2)] == ["idle", "working"]
    assert journal.states_between(START - 10, START) == []
    assert [command.text for command in journal.commands_between(START, START + 100)] == ["Fix the parser"]
    assert journal.commands_between(START + 2, START + 100) == []
    assert journal.hook_delays(START, START + 3, 100) == [0, 0, 0]
    assert journal.hook_delays(START, START + 100, 2) == [0, 0]


# --- efforts ----------------------------------------------------------------------------------------------------------


def act(name: str, at: int, **said: Any) -> Envelope:
    """The envelope of an act on an effort."""
    return Envelope(
        id=f"{name}-{at}",
        name=name,
        origin=Origin.OPERATOR,
        client="headspace",
        host="laptop",
        fired_at=START + at,
        received_at=START + at,
        payload=msgspec.json.encode(acts.ACTS[name](**said)),
        observations=Observations(),
    )


def effort_started(at: int, name: str = "e1") -> Envelope:
    """The envelope that starts an effort."""
    root = "/home/dev/app"
    return act(
        "EffortStarted",
        at,
        effort_id=name,
        host="laptop",
        task_dir=root,
        project_root=root,
        skill="fix",
        ordinal=0,
        metadata={"note": "nul \0 and 🙂"},
    )


def test_an_effort_can_be_read_and_follows_from_the_log(journal: Journal) -> None:
    """Task, effort, windows and messages, from one batch or several; a rebuild gives the same."""
    store(journal, effort_started(1), *a_turn(START + 2))
    store(journal, act("EffortLogged", 20, effort_id="e1", text="did it"), effort_started(21, "e2"))
    store(journal, act("EffortFinished", 22, effort_id="e1"))
    [effort] = journal.efforts()
    assert (effort.id, effort.ordinal) == ("e2", 2)
    first = journal.effort("e1")
    assert first is not None
    assert (first.is_active, first.log_count) == (False, 1)
    assert [each.id for each in journal.efforts(only_active=False)] == ["e2", "e1"]
    [window] = journal.effort_windows("e1")
    assert (window.heartbeat, window.end_reason) == (0, "the effort is finished")
    assert [each.kind for each in journal.effort_messages("e1")] == ["log", "finished"]
    assert [task.effort_count for task in journal.tasks()] == [2]
    assert list(journal.verify()) == []
    before = (journal.efforts(only_active=False), journal.effort_windows("e1"), journal.effort_messages("e1"))
    journal.rebuild()
    assert (journal.efforts(only_active=False), journal.effort_windows("e1"), journal.effort_messages("e1")) == before


def test_efforts_of_other_hosts_are_not_active_here(journal: Journal) -> None:
    """A directory has a meaning only on its own host."""
    store(journal, effort_started(1))
    with journal.transaction() as transaction:
        assert [effort.id for effort in transaction.active_efforts("laptop")] == ["e1"]
        assert transaction.active_efforts("server") == []
        assert transaction.effort("e1") is not None
        assert transaction.effort("never") is None
        assert transaction.task("never") is None


def test_a_failed_batch_leaves_no_effort(journal: Journal) -> None:
    """Neither in the database nor in the cache."""
    store(journal, effort_started(1))
    with suppress(ZeroDivisionError), journal.transaction() as transaction:
        batch = Batch(transaction, BatchFunctions(new_id=lambda: "x"))
        batch.process([submission(effort_started(2, "e2"))])
        transaction.write(batch.records)
        raise ZeroDivisionError
    with journal.transaction() as transaction:
        assert [effort.id for effort in transaction.active_efforts("laptop")] == ["e1"]
