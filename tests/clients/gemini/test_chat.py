"""Chat files of Gemini CLI: a log of operations becomes the messages that were written once."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from claude_headspace.clients.decode import decode
from claude_headspace.clients.gemini import transcript_files
from claude_headspace.clients.gemini.chat import Chat
from claude_headspace.clients.prices import PRICES
from claude_headspace.clients.transcript_line import Line
from claude_headspace.kernel import facts
from claude_headspace.kernel.envelope import Envelope, Origin
from claude_headspace.kernel.text import strings_in
from claude_headspace.kernel.usage import ModelUsage, Tokens
from tests.replay.gemini_recordings import FOLDER

HEADER = {"sessionId": "s1", "projectHash": "x", "startTime": "2026-11-16T00:20:08.060Z", "kind": "main"}
TOKENS = {"input": 1000, "output": 100, "cached": 400, "thoughts": 50, "tool": 0, "total": 1150}


def read(*rows: dict[str, Any], chat: Chat | None = None) -> list[Line]:
    """The lines with facts."""
    chat = chat or Chat()
    return [line for row in (HEADER, *rows) for _, line in chat.read(msgspec.json.encode(row))]


def found(*rows: dict[str, Any]) -> list[facts.Fact]:
    """The facts of some lines."""
    return [fact for line in read(*rows) for fact in line.facts]


def message(kind: str, content: object, number: int = 1, **more: object) -> dict[str, Any]:
    """A message."""
    return {
        "id": f"m{number}",
        "timestamp": f"2026-11-16T00:20:{number:02d}.000Z",
        "type": kind,
        "content": content,
    } | more


def parts(*texts: str) -> list[dict[str, str]]:
    """The content of a message."""
    return [{"text": text} for text in texts]


def test_only_what_the_user_typed_is_a_prompt() -> None:
    """Results of calls, commands of the shell mode and the context that the client adds are none."""
    answer = [{"functionResponse": {"id": "c", "name": "read_file", "response": {"output": "x"}}}]
    assert found(message("user", answer)) == []
    assert found({"$set": {"messages": [message("user", parts("<session_context>\nToday"))]}}) == []
    ran = "I ran the following shell command:\n```sh\ntouch x\n```\n\nThis produced the following result:\n```\n\n```"
    assert found(message("user", parts(ran))) == []
    assert found(message("user", parts("Fix it"))) == [facts.UserWrote("Fix it")]


def test_the_history_that_is_written_again_is_no_news() -> None:
    """After a cancelled call, all messages follow with new ids and times, until the list of messages is set."""
    copy = [
        message("user", parts("<session_context>\nToday", "Fix it"), 11),
        message("gemini", parts("Fixed."), 12, tokens=None),
        message("user", parts("And the rest"), 13),
    ]
    rows = [message("user", parts("Fix it"), 1), message("info", "Request cancelled.", 2), *copy]
    assert found(*rows, {"$set": {"messages": copy}}) == [facts.UserWrote("Fix it"), facts.TurnInterrupted()]
    after = found(*rows, {"$set": {"messages": copy}}, message("user", parts("Next"), 20))
    assert after[-1] == facts.UserWrote("Next")


def test_a_prompt_closes_the_turn_before() -> None:
    """There is no line for the end of a turn. The prompt proves it, at the time of the reply."""
    lines = read(message("gemini", "Fixed.", 1), message("user", parts("Next"), 5))
    assert [line.facts for line in lines][1:] == [(facts.TurnClosed(),), (facts.UserWrote("Next"),)]
    assert lines[0].at == lines[1].at


def test_ends_of_turns() -> None:
    """An interrupt, an API error, and what looks like one."""
    assert found(message("info", "Request cancelled.")) == [facts.TurnInterrupted()]
    assert found(message("error", "[API Error: overloaded]")) == [
        facts.TurnFailed("api_error", "[API Error: overloaded]")
    ]
    assert found(message("error", "Unknown command: /foo")) == []
    assert found(message("info", "Press F12 for diagnostics")) == []


def test_calls_have_the_time_of_their_end() -> None:
    """A reply is written again when its calls ended. The line has the time of the reply, each call its own."""
    call = {"id": "c", "name": "read_file", "args": {"file_path": "a"}, "status": "success"}
    rows = message("gemini", "", 1, toolCalls=[call | {"timestamp": "2026-11-16T00:20:09.000Z"}])
    (line,) = read(rows)
    assert isinstance(line.facts[0], facts.ToolFinished)
    assert line.facts[0].call_id is not None
    assert line.facts[0].call_id.startswith("read_file:")
    assert line.at == 1_794_788_409_000_000


def test_the_result_of_a_call_is_searched_as_its_hook_reports_it() -> None:
    """Without ids and names, so that it is the same text."""
    response = {"functionResponse": {"id": "c", "name": "read_file", "response": {"output": "one two"}}}
    call = {"id": "c", "name": "read_file", "args": {"file_path": "a"}, "status": "success", "result": [response]}
    chat = Chat()
    rows = (HEADER, message("gemini", "", 1, toolCalls=[call]))
    [stored] = [raw for row in rows for raw, _ in chat.read(msgspec.json.encode(row))]
    event = decode(stored_line(stored))
    assert [(text.kind, list(strings_in(text.value))) for text in event.texts] == [
        ("tool_input", ["a"]),
        ("tool_result", ["one two"]),
    ]


def stored_line(payload: bytes) -> Envelope:
    """A line as it is stored."""
    return Envelope(
        id="e",
        name="TranscriptLine",
        origin=Origin.TRANSCRIPT,
        client="gemini",
        host="laptop",
        fired_at=1,
        received_at=2,
        payload=payload,
    )


def test_a_compacted_context() -> None:
    """The summary of the context shows that a compaction ended."""
    assert found({"$set": {"messages": [message("user", parts("<state_snapshot>Done</state_snapshot>"))]}}) == [
        facts.CompactionFinished("manual")
    ]


def test_a_summary_of_another_client_is_no_sign_of_life() -> None:
    """Any client writes summaries into the files of old sessions."""
    assert found({"$set": {"summary": "Fixed the login"}}) == []


def test_usage_and_cost_of_a_session() -> None:
    """Tokens of each reply are counted once, at the price of its model."""
    reply = message("gemini", "Hi.", 1, tokens=TOKENS, model="gemini-3.8-flash")
    price = PRICES["gemini-3.8-flash"]
    cost = (600 * price.input + 400 * price.cached + 150 * price.output) / 1_000_000
    first, again, second = read(reply, reply, reply | {"id": "m2"})
    totals = (ModelUsage(model="gemini-3.8-flash", tokens=Tokens(600, 400, 0, 150)),)
    usage = facts.UsageMeasured(model="gemini-3.8-flash", tokens=1000, window=1_048_576, cost_usd=cost, totals=totals)
    assert first.facts == (facts.AgentWrote("Hi.", final=True), usage)
    assert (again.facts, again.key) == (first.facts, first.key)
    assert second.facts[1].cost_usd == pytest.approx(2 * cost)  # type: ignore[union-attr]
    assert second.facts[1].totals[0].tokens == Tokens(1200, 800, 0, 300)  # type: ignore[union-attr]


def test_a_model_without_a_price_has_no_cost() -> None:
    """The cost of the session is unknown from then on, not zero and not too low."""
    known = message("gemini", "Hi.", 1, tokens=TOKENS, model="gemini-3.8-flash")
    unknown = message("gemini", "Hi.", 2, tokens=TOKENS, model="someone-elses-model")
    costs = [line.facts[1].cost_usd for line in read(known, unknown, known | {"id": "m3"})]  # type: ignore[union-attr]
    assert costs[0] is not None
    assert costs[1:] == [None, None]


def project(tmp_path: Path) -> Path:
    """The folder of a project with the recorded chats."""
    folder = tmp_path / ".gemini/tmp/app"
    (folder / "chats/s1").mkdir(parents=True)
    (folder / ".project_root").write_text("/home/sam/code/app")
    (folder / "chats/session-2026-11-16T00-20-21a5d014.jsonl").write_bytes((FOLDER / "session.chat.jsonl").read_bytes())
    (folder / "chats/s1/fe3a.jsonl").write_bytes((FOLDER / "subagent.child.jsonl").read_bytes())
    return folder


def test_the_files_are_found(tmp_path: Path) -> None:
    """Sessions first, then sub-agents. Other files of the client are none."""
    folder = project(tmp_path)
    (folder / "logs.json").write_text("[]")
    (folder / "chats/notes.jsonl").write_text("{}")
    (root,) = transcript_files.roots(tmp_path / ".gemini")
    paths = [path for path, _ in transcript_files.find_transcripts([root])]
    assert [Path(path).name for path in paths] == ["session-2026-11-16T00-20-21a5d014.jsonl", "fe3a.jsonl"]
    assert [transcript_files.is_subagent(path) for path in paths] == [False, True]
    assert [transcript_files.session_of(path) for path in paths] == ["", "s1"]


def test_a_file_gives_the_same_lines_in_any_pieces(tmp_path: Path) -> None:
    """What a line means does not depend on where the reading began."""
    path = str(next(project(tmp_path).glob("chats/session-*.jsonl")))
    raw = Path(path).read_bytes()
    whole = [line for _, line in transcript_files.read_lines(path, raw, 0)]
    assert whole
    assert {(line.session_id, line.cwd) for line in whole} == {
        ("21a5d014-200f-48f4-b378-21b59afc331c", "/home/sam/code/app")
    }
    ends = [at + 1 for at, byte in enumerate(raw) if byte == ord("\n")]
    for end in ends[::3]:
        first = [line for _, line in transcript_files.read_lines(path, raw[:end], 0)]
        for _ in range(2):  # continued, and begun in the middle
            rest = [line for _, line in transcript_files.read_lines(path, raw[end:], end)]
            assert first + rest == whole


def test_a_subagent_belongs_to_its_session(tmp_path: Path) -> None:
    """Its lines name the session and the sub-agent."""
    path = str(project(tmp_path) / "chats/s1/fe3a.jsonl")
    lines = [line for _, line in transcript_files.read_lines(path, Path(path).read_bytes(), 0)]
    assert {(line.session_id, line.subagent_id) for line in lines} == {("s1", "fe3a")}
    assert [type(line.facts[0]) for line in lines] == [
        facts.SubagentStarted,
        facts.SubagentDescribed,
        facts.SubagentStopped,
    ]
