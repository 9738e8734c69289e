"""The simulated clients besides Claude Code: everything that they report is understood."""

from collections.abc import Iterator

import msgspec
import pytest

from claude_headspace.clients.changes import file_edits
from claude_headspace.clients.decode import decode
from claude_headspace.clients.simulated_clients import SIMULATIONS
from claude_headspace.clients.simulation import Action, Done, Json, Permission, Profile, Prompt, Reply, ScheduledEvent
from claude_headspace.clients.transcript_line import Line
from claude_headspace.clients.transcripts import TRANSCRIPT_FILES
from claude_headspace.demo.other_clients import OTHER_CLIENTS
from claude_headspace.kernel import facts
from claude_headspace.kernel.envelope import Envelope, Origin
from claude_headspace.kernel.facts import Event

STEPS = (
    Prompt("Go."),
    Action("src/a.py", "", 1, "one", "two"),
    Permission(Action("make", "done", 1), 5),
    Done("It works."),
)
PROFILE = Profile("deft-mole", "api", "main", "model-1", 50_000)
CLIENTS = [each.client for each in OTHER_CLIENTS]


def reports(client: str, output: Json) -> Iterator[ScheduledEvent]:
    """What a client reports of a turn whose dialog gets this reply."""
    events = SIMULATIONS[client](PROFILE, 1, "/home/sam/code", "/home/sam").play(STEPS)
    reply: Reply | None = None
    while True:
        try:
            event = next(events) if reply is None else events.send(reply)
        except StopIteration:
            return
        yield event
        reply = Reply(event.at, output if event.dialog else {})


def envelopes(client: str, output: Json | None = None) -> list[Envelope]:
    """The same as it arrives."""
    return [
        Envelope(
            id=str(number),
            name=event.hook,
            origin=Origin.HOOK,
            client=client,
            host="studio",
            fired_at=number,
            received_at=number,
            payload=msgspec.json.encode(event.payload),
        )
        for number, event in enumerate(reports(client, output or {}))
        if event.hook
    ]


def decoded(client: str, output: Json | None = None) -> list[Event]:
    """The same as the daemon understands it."""
    return [decode(each) for each in envelopes(client, output)]


def lines(client: str) -> list[Line]:
    """What the daemon reads in the transcript."""
    written = [line for event in reports(client, {}) for line in event.lines]
    raw = b"".join(msgspec.json.encode({**line, "timestamp": "2026-01-05T09:00:00Z"}) + b"\n" for line in written)
    path = SIMULATIONS[client](PROFILE, 1, "/home/sam/code", "/home/sam").transcript
    return [line for _, line in TRANSCRIPT_FILES[client].read_lines(path, raw, 0)] if raw else []


@pytest.mark.parametrize("client", CLIENTS)
def test_every_report_is_understood(client: str) -> None:
    """No anomaly, one session, and a fact for each step of the turn."""
    events = decoded(client)
    assert [event.anomaly for event in events if event.anomaly] == []
    assert len({event.meta.session_id for event in events}) == 1
    assert {event.meta.cwd for event in events} == {"/home/sam/code/api"}
    found = {type(event.fact) for event in events} | {type(fact) for line in lines(client) for fact in line.facts}
    wanted = {facts.SessionStarted, facts.PromptSubmitted, facts.ToolStarted, facts.PermissionAsked, facts.ToolFinished}
    assert wanted <= found
    assert found & {facts.TurnStopped, facts.TurnEndReported}


@pytest.mark.parametrize("client", CLIENTS)
def test_every_line_is_understood(client: str) -> None:
    """Lines of a transcript have facts. opencode has a database, which is not simulated."""
    has_lines = any(event.lines for event in reports(client, {}))
    assert has_lines == bool(lines(client)) == (client != "opencode")


def test_a_rejected_permission_ends_the_turn() -> None:
    """The call does not run, and the rest of the turn is skipped."""
    kinds = [type(event.fact) for event in decoded("opencode", {"answer": {"reply": "reject"}})]
    assert kinds[-2:] == [facts.ToolRejected, facts.ClientReported]
    assert kinds.count(facts.ToolFinished) == 1


@pytest.mark.parametrize("client", CLIENTS)
def test_an_edit_is_among_the_changes(client: str) -> None:
    """With its lines, under the path of the file."""
    [edit] = [edit for each in envelopes(client) for edit in file_edits(each)]
    assert edit.path.endswith("src/a.py")
    assert edit.hunks
