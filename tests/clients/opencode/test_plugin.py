"""The plugin in node, against a real daemon: it reports, asks, and gives the client the answers of people."""

import json
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.clients.opencode.player import Player, Step, install, play, playing, read_spool
from tests.support import RunningDaemon, running_daemon, wait_until

SESSION = "ses_1"
DIRECTORY = "/home/sam/code/app"


def event(kind: str, **properties: Any) -> Step:
    """An event of the client."""
    return {"event": {"id": f"evt_{kind}_{json.dumps(properties)}"[:150], "type": kind, "properties": properties}}


def created() -> Step:
    """The session was created."""
    info = {"id": SESSION, "directory": DIRECTORY, "agent": "build", "model": {"id": "lab", "providerID": "lab"}}
    return event("session.created", sessionID=SESSION, info=info)


def prompt(text: str = "Fix it") -> Step:
    """A prompt."""
    message = {"id": "msg_1", "role": "user"}
    output = {"message": message, "parts": [{"type": "text", "text": text}]}
    return {"chat.message": {"input": {"sessionID": SESSION}, "output": output}}


def before(command: str = "touch a") -> Step:
    """A tool is about to run."""
    call = {"tool": "bash", "sessionID": SESSION, "callID": "call_1"}
    return {"tool.execute.before": {"input": call, "output": {"args": {"command": command}}}}


def permission() -> Step:
    """The client shows a permission dialog."""
    return event(
        "permission.asked",
        id="per_1",
        sessionID=SESSION,
        permission="bash",
        patterns=["touch a"],
        always=["touch *"],
        tool={"callID": "call_1"},
    )


def question() -> Step:
    """The client shows a question."""
    colour = {"question": "Which colour?", "header": "Colour", "options": [{"label": "Red"}, {"label": "Blue"}]}
    return event("question.asked", id="que_1", sessionID=SESSION, questions=[colour], tool={"callID": "call_1"})


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[RunningDaemon]:
    """A daemon that holds dialogs."""
    with running_daemon(tmp_path / "headspace", hold_seconds=300) as running:
        yield running


@pytest.fixture
def player(daemon: RunningDaemon, tmp_path: Path) -> Iterator[Player]:
    """A client with a prompt, whose plugin finds the daemon."""
    plugin = install(tmp_path / "config", daemon.home, daemon.token("ingest"))
    with playing(plugin, {"TMUX_PANE": "%7"}) as running:
        for step in (created(), prompt()):
            assert running.play(step) == []
        yield running


def agent_in(daemon: RunningDaemon, state: str) -> dict[str, Any]:
    """The agent, as soon as it has a state."""
    found = wait_until(
        lambda: [agent for agent in daemon.agents() if agent["state"] == state], f"an agent that is {state}"
    )
    return found[0]


def held_wait(daemon: RunningDaemon) -> dict[str, Any]:
    """The wait, as soon as it can be answered through Headspace."""
    found: list[dict[str, Any]] = wait_until(
        lambda: [wait for wait in daemon.get("/api/waits").json() if wait["held_until"]], "a wait that is held"
    )
    return found[0]


def answer(daemon: RunningDaemon, wait: dict[str, Any], **given: Any) -> None:
    """Answer a wait as a person does."""
    reply = daemon.send("POST", f"/api/waits/{wait['id']}/answer", given, scope="act")
    assert reply.status == 200, reply.body


def test_an_event_becomes_a_private_file_in_the_spool(tmp_path: Path) -> None:
    """While no daemon runs, and with everything that identifies the agent."""
    env = {"TMUX_PANE": "%3", "CLAUDE_HEADSPACE_SESSION_ID": "w1", "CLAUDE_SESSION_ROLE": 'a"b', "AGENT_ID": "f1"}
    [(notes, payload), _] = play(tmp_path, [created(), prompt()], env)
    names = {"event": "session.created", "client": "opencode", "tmux-pane": "%3", "session-id": "w1", "role": "ab"}
    assert names.items() <= notes.items()
    assert notes["agent-id"] == "f1"
    assert notes["client-pid"].isdigit()
    assert (payload["session_id"], payload["cwd"], payload["source"]) == (SESSION, DIRECTORY, "startup")
    [file, _] = (tmp_path / "state" / "spool").glob("*.json")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_noise_is_not_reported(tmp_path: Path) -> None:
    """Streamed text, empty updates, and events that say nothing about the state."""
    delta = event("message.part.delta", sessionID=SESSION, delta="He")
    part = {"type": "text", "text": "", "messageID": "m", "time": {"start": 1}}
    noise = [delta, event("message.part.updated", sessionID=SESSION, part=part), event("lsp.updated"), {"event": {}}]
    assert play(tmp_path, noise) == []


def test_events_that_the_plugin_does_not_know_are_reported(tmp_path: Path) -> None:
    """Some of each type, with the session if it is known. They are counted as not understood, and change nothing."""
    flood = [event("session.novelty", sessionID=SESSION, number=number) for number in range(30)]
    found = play(tmp_path, [created(), *flood, event("novelty", sessionID="ses_other")])
    names = [notes["event"] for notes, _ in found]
    assert names == ["session.created", *["session.novelty"] * 20, "novelty"]
    assert {payload["session_id"] for _, payload in found} == {SESSION}


def test_unknown_events_are_counted_and_change_nothing(tmp_path: Path) -> None:
    """`headspace status` shows how many there are."""
    (tmp_path / "headspace").mkdir()
    plugin = install(tmp_path / "config", tmp_path / "headspace")
    with playing(plugin) as player:
        for step in (created(), prompt(), event("session.novelty", sessionID=SESSION)):
            player.play(step)
        with running_daemon(tmp_path / "headspace") as daemon:
            wait_until(lambda: daemon.status["anomalies_by_client"] == {"opencode": 1}, "the unknown event")
            assert agent_in(daemon, "working")["client"] == "opencode"


def test_broken_events_and_long_texts_do_no_harm(tmp_path: Path) -> None:
    """Nothing is thrown, and a long text is cut."""
    broken = [event(kind) for kind in ("session.status", "session.created", "permission.asked", "message.updated")]
    steps = [*broken, {"tool.execute.before": {}}, {"chat.message": {"input": None}}, prompt("x" * 500_000)]
    [*_, (_, payload)] = play(tmp_path, steps)
    assert len(payload["event"]["parts"][0]["text"]) < 101_000


def test_a_full_spool_counts_what_is_lost(tmp_path: Path) -> None:
    """As the hook script does."""
    (tmp_path / "state" / "spool").mkdir(parents=True)
    (tmp_path / "state" / "spool" / "full").touch()
    with playing(install(tmp_path / "config", tmp_path / "state")) as player:
        player.play(created())
    assert read_spool(tmp_path / "state") == []
    assert (tmp_path / "state" / "spool" / "lost").read_text() == "."


@pytest.mark.parametrize(
    ("options", "sessions"),
    [(["-s", "ses_1"], ["ses_1"]), (["--session=ses_2"], ["ses_2"]), (["--session", "?"], []), (["-s"], [])],
)
def test_a_continued_session_is_reported_at_the_start(options: list[str], sessions: list[str], tmp_path: Path) -> None:
    """The client itself reports it only with its next prompt. Its end is reported also without a prompt."""
    state = tmp_path / "state"
    (state / "spool").mkdir(parents=True)
    with playing(install(tmp_path / "config", state), options=options) as player:
        player.play({"dispose": {}})
    found = [(notes["event"], payload["session_id"], payload.get("source")) for notes, payload in read_spool(state)]
    expected = [(("session.created", each, "resume"), ("dispose", each, None)) for each in sessions]
    assert found == [report for reports in expected for report in reports]


def test_without_an_installation_the_plugin_does_nothing(tmp_path: Path) -> None:
    """It has no hooks then, so that nothing is slowed down."""
    plugin = install(tmp_path / "config", tmp_path / "state")
    (tmp_path / "config" / "plugin-headspace" / "notify-headspace.state").unlink()
    with playing(plugin) as player:
        assert [player.play(step) for step in (created(), prompt(), before())] == [[], [], []]


def test_the_daemon_shows_what_was_reported_while_it_was_down(tmp_path: Path) -> None:
    """The whole turn is known when it starts."""
    (tmp_path / "headspace").mkdir()
    plugin = install(tmp_path / "config", tmp_path / "headspace")
    with playing(plugin, {"TMUX_PANE": "%7"}) as player:
        for step in (created(), prompt(), before(), permission()):
            player.play(step)
        with running_daemon(tmp_path / "headspace") as daemon:
            agent = agent_in(daemon, "waiting")
            assert (agent["client"], agent["waiting_for"]) == ("opencode", "permission")


def test_a_guard_denies_a_call_before_it_runs(daemon: RunningDaemon, player: Player) -> None:
    """The plugin throws the reason, which opencode gives to the model."""
    wait_until((daemon.home / "asked" / "opencode.tool.execute.before").exists, "calls to be judged")
    [thrown] = player.play(before("rm -rf /"))
    assert "rm" in thrown["thrown"]
    assert player.play(before("ls")) == []
    agent_in(daemon, "working")


def test_a_long_command_is_judged_completely(daemon: RunningDaemon, player: Player) -> None:
    """Nothing is cut from what the guard sees: it knows that the command is too long to be analysed."""
    wait_until((daemon.home / "asked" / "opencode.tool.execute.before").exists, "calls to be judged")
    padding = "x" * 200_000
    [thrown] = player.play(before(f"echo {padding}; rm -rf /; echo {padding}"))
    assert "too long" in thrown["thrown"]


def test_a_busy_client_waits_for_the_verdict(daemon: RunningDaemon, player: Player) -> None:
    """Time in which the client runs no timers does not count: it could not have received the reply."""
    wait_until((daemon.home / "asked" / "opencode.tool.execute.before").exists, "calls to be judged")
    [thrown] = player.play(before("rm -rf /") | {"stall": 3_000})
    assert "rm" in thrown["thrown"]


def test_call_ids_can_repeat(daemon: RunningDaemon, player: Player) -> None:
    """Some models count their calls from the beginning in each message."""
    for _ in range(2):
        player.play(before("ls"))
    wait_until(lambda: [event["name"] for event in daemon.events()].count("tool.execute.before") == 2, "both calls")


def test_a_permission_is_answered_through_headspace(daemon: RunningDaemon, player: Player) -> None:
    """The plugin gives the answer to the client. Meanwhile the client is not delayed."""
    player.play(before())
    assert player.play(permission()) == []
    answer(daemon, held_wait(daemon), decision="allow")
    given = player.next_output()["answer"]
    assert given == {"path": {"id": SESSION, "permissionID": "per_1"}, "body": {"response": "once"}}
    player.play(event("permission.replied", sessionID=SESSION, requestID="per_1", reply="once"))
    agent_in(daemon, "working")


def test_a_grant_names_the_patterns(daemon: RunningDaemon, player: Player) -> None:
    """It is possible only with the permission that the dialog offers."""
    player.play(before())
    player.play(permission())
    wait = held_wait(daemon)
    [offer] = daemon.get(f"/api/waits/{wait['id']}").json()["suggestions"]
    assert offer["words"] == "Allow bash of touch *"
    answer(daemon, wait, decision="allow", grant=[offer["id"]])
    assert player.next_output()["answer"]["body"] == {"response": "always"}


def test_a_denial_with_words_reaches_the_model(daemon: RunningDaemon, player: Player) -> None:
    """The words are the message of the rejection."""
    player.play(before())
    player.play(permission())
    answer(daemon, held_wait(daemon), decision="deny", message="Use b.")
    body = {"reply": "reject", "message": "Use b."}
    assert player.next_output()["answer"] == {
        "url": "/permission/{requestID}/reply",
        "path": {"requestID": "per_1"},
        "body": body,
    }


def test_a_question_is_answered_through_headspace(daemon: RunningDaemon, player: Player) -> None:
    """With the labels in the order of the questions."""
    player.play(question())
    wait = held_wait(daemon)
    assert wait["kind"] == "question"
    answer(daemon, wait, answers={"Which colour?": "Blue"})
    given = player.next_output()["answer"]
    assert (given["url"], given["body"]) == ("/question/{requestID}/reply", {"answers": [["Blue"]]})


def test_an_answer_in_the_terminal_wins(daemon: RunningDaemon, player: Player) -> None:
    """The request ends, the wait closes, and Headspace refuses a later answer."""
    player.play(before())
    player.play(permission())
    wait = held_wait(daemon)
    player.play(event("permission.replied", sessionID=SESSION, requestID="per_1", reply="always"))
    agent_in(daemon, "working")
    late = daemon.send("POST", f"/api/waits/{wait['id']}/answer", {"decision": "deny"}, scope="act")
    assert late.status == 409
    assert player.play(prompt("More")) == []


def test_a_dialog_outlives_the_daemon(daemon: RunningDaemon, player: Player) -> None:
    """The request ends with the daemon, and the dialog stays in the terminal."""
    player.play(before())
    player.play(permission())
    held_wait(daemon)
    daemon.stop()
    assert player.play(event("permission.replied", sessionID=SESSION, requestID="per_1", reply="once")) == []
    names = [notes["event"] for notes, _ in read_spool(daemon.home)]
    assert names[-1] == "permission.replied"
