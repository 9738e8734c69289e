"""The transcripts of Copilot CLI: where they are, which lines have facts, and how they are stored."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from claude_headspace.clients.copilot import transcript_files
from claude_headspace.clients.transcript_line import Line
from claude_headspace.inputs.watch.transcript_files import ReadPosition, read_chunk
from claude_headspace.kernel import facts
from claude_headspace.kernel.usage import ModelUsage, Tokens

SESSION = "767b4bb2-f8c9-41da-b865-1bac62483186"


def line(kind: str, agent: str | None = None, **data: Any) -> dict[str, Any]:
    """A line."""
    made = {
        "type": kind,
        "data": data,
        "id": f"{kind}-{len(json.dumps(data))}",
        "timestamp": "2026-11-16T15:02:31.189Z",
    }
    return made | ({"agentId": agent} if agent else {})


START = line("session.start", sessionId=SESSION, context={"cwd": "/code", "branch": "main"})
PROMPT = line("user.message", content="Make it", transformedContent="long", messageId="m")
CALL = line("tool.execution_start", toolCallId="c1", toolName="bash", arguments={"command": "touch a"})
ASKED = line("permission.requested", requestId="r1", permissionRequest={"kind": "shell", "toolCallId": "c1"})
ENDED = line("tool.execution_complete", toolCallId="c1", success=True, result={"content": "ok"})
REWIND = line("session.usage_checkpoint", promptCacheBreakState=[{"pendingRewriteSources": ["rewind"]}])


def transcript(config_dir: Path, lines: Iterable[dict[str, Any]]) -> str:
    """Write a transcript."""
    path = config_dir / "session-state" / SESSION / "events.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{json.dumps(each)}\n" for each in lines))
    return str(path)


def read(path: str, start: int = 0) -> list[tuple[bytes, Line]]:
    """The lines of a file from a position."""
    return list(transcript_files.read_lines(path, Path(path).read_bytes()[start:], start))


def found(path: str, start: int = 0) -> list[facts.Fact]:
    """The facts in a file from a position."""
    return [fact for _, each in read(path, start) for fact in each.facts]


def test_transcripts_are_found(tmp_path: Path) -> None:
    """One per session. Other files are none."""
    path = transcript(tmp_path, [START])
    [root] = transcript_files.roots(tmp_path)
    (root / "other.jsonl").write_text("{}\n")
    assert [each for each, _ in transcript_files.find_transcripts([root])] == [path]
    assert not transcript_files.is_transcript(str(root / "other.jsonl"), root)
    assert (transcript_files.session_of(path), transcript_files.is_subagent(path)) == (SESSION, False)


def test_a_line_is_stored_with_its_session(tmp_path: Path) -> None:
    """And without long fields that nothing uses. The branch is that of the start."""
    [(_, first), (raw, prompt)] = read(transcript(tmp_path, [START, PROMPT]))
    assert (first.session_id, first.cwd, first.branch) == (SESSION, "/code", "main")
    assert (prompt.cwd, prompt.facts) == ("/code", (facts.UserWrote("Make it"),))
    assert b"transformedContent" not in raw


def test_a_line_that_names_only_its_call_has_the_call(tmp_path: Path) -> None:
    """Also if the call is in a part of the file that was read before."""
    path = transcript(tmp_path, [START, PROMPT, CALL, ASKED, ENDED])
    start = Path(path).read_bytes().index(b'{"type": "permission.requested"')
    for facts_of_end in (found(path)[-2:], found(path, start)):
        asked, ended = facts_of_end
        assert isinstance(asked, facts.PermissionAsked)
        assert isinstance(ended, facts.ToolFinished)
        assert (asked.tool, asked.summary, asked.request_id) == ("bash", "touch a", "r1")
        assert (asked.call_id, asked.digest) == (ended.call_id, ended.digest)
    assert [each.cwd for _, each in read(path, start)] == ["/code", "/code"]


def test_a_dialog_of_an_unknown_call(tmp_path: Path) -> None:
    """It tells the command itself."""
    request = {"kind": "shell", "toolCallId": "c9", "fullCommandText": "touch b"}
    [asked] = found(transcript(tmp_path, [line("permission.requested", requestId="r1", permissionRequest=request)]))
    assert isinstance(asked, facts.PermissionAsked)
    assert (asked.tool, asked.summary) == ("bash", "touch b")


@pytest.mark.parametrize(("feedback", "words"), [("No.", ""), ("Use make", "Use make"), ("", "")])
def test_the_word_that_headspace_types_into_a_refusal_is_no_message(tmp_path: Path, feedback: str, words: str) -> None:
    """The client needs a text; the person gave none."""
    denied = {"kind": "denied-interactively-by-user", "feedback": feedback}
    path = transcript(tmp_path, [START, CALL, ASKED, line("permission.completed", requestId="r1", result=denied)])
    [closed] = [fact for fact in found(path) if isinstance(fact, facts.DialogClosed)]
    assert words == closed.answer


def test_only_the_last_call_of_the_model_ends_the_turn(tmp_path: Path) -> None:
    """The model is called again after each step."""
    end = line("assistant.turn_end", turnId="0")
    step = line("assistant.message", content="", toolRequests=[{"toolCallId": "c1"}])
    final = line("assistant.message", content="Done.", toolRequests=[])
    assert found(transcript(tmp_path, [step, end])) == []
    assert found(transcript(tmp_path, [step, end, final, end])) == [
        facts.AgentWrote("Done.", final=True),
        facts.TurnClosed(),
    ]


def test_lines_of_a_subagent(tmp_path: Path) -> None:
    """Its messages are not the agent's; its calls are its own."""
    lines = [
        line("subagent.started", "kid", agentName="explore", agentDescription="count"),
        line("user.message", "kid", content="Count", source="agent-1"),
        line("tool.execution_start", "kid", toolCallId="c2", toolName="glob", arguments={"pattern": "*"}),
        line("assistant.message", "kid", content="3", toolRequests=[]),
        line("assistant.turn_end", "kid", turnId="0"),
        line("subagent.completed", "kid"),
    ]
    path = transcript(tmp_path, lines)
    assert [type(fact).__name__ for fact in found(path)] == [
        "SubagentStarted",
        "SubagentDescribed",
        "ToolStarted",
        "SubagentStopped",
    ]
    assert {each.subagent_id for _, each in read(path)} == {"kid"}


def test_a_prompt_that_vanishes_was_interrupted(tmp_path: Path) -> None:
    """Copilot writes the file again without the prompt. It is read from the beginning, and a line tells the rewind."""
    path = transcript(tmp_path, [START, PROMPT])
    first = read_chunk(transcript_files, path, ReadPosition(path), now=2**60)
    Path(path).unlink()
    transcript(tmp_path, [START, REWIND])
    position = ReadPosition(path, first.offset, first.at, first.inode)
    again = read_chunk(transcript_files, path, position, now=2**60)
    assert [each.facts for _, _, each in again.lines][-1] == (facts.TurnInterrupted(),)


def test_unknown_and_damaged_lines_have_no_facts(tmp_path: Path) -> None:
    """They are skipped."""
    path = transcript(tmp_path, [line("future.event", x=1), {"type": "user.message", "data": 7}, {"data": []}])
    Path(path).write_bytes(Path(path).read_bytes() + b'{"type": "abort"\n[1]\n\xff\n')
    assert found(path) == []


def test_every_call_of_the_model_has_its_tokens(tmp_path: Path) -> None:
    """Those of the cache are part of the input. The calls of a sub-agent count, but are not in the agent's context."""
    usage = {"model": "gpt-4.1", "inputTokens": 100, "outputTokens": 7, "cacheReadTokens": 60, "cacheWriteTokens": 10}
    record = "session.usage_record"
    main, other = line(record, usage={**usage, "maxPromptTokens": 1_000}), line(record, "agent-1", usage=usage)
    added = ModelUsage(model="gpt-4.1", tokens=Tokens(30, 60, 10, 7))
    assert found(transcript(tmp_path, [START, main, other]))[1:] == [
        facts.UsageMeasured(model="gpt-4.1", tokens=100, window=1_000, added=added),
        facts.UsageMeasured(added=added),
    ]
