"""Advice in hook replies, in the format of Claude Code."""

import json
import os
from pathlib import Path

from claude_headspace.clients.claude_code import NAME
from claude_headspace.clients.claude_code.replies import verdict_reply
from claude_headspace.kernel.claude_os.session_notice import SessionNotice
from claude_headspace.kernel.effort.advice import Advice
from claude_headspace.kernel.effort.model import Injection
from claude_headspace.kernel.policy.verdict import Ruling, Verdict
from claude_headspace.outputs.advice import (
    MAX_FILE_BYTES,
    MAX_REPLY_CHARACTERS,
    add_advice,
    format_files,
    read_files,
    remaining_characters,
)


def advised(event: str, advice: Advice, *injections: Injection, policy: bytes = b"") -> dict[str, str]:
    """The hook output for Claude Code."""
    output: dict[str, str] = json.loads(add_advice(NAME, event, policy, advice, injections).reply)["hookSpecificOutput"]
    return output


def test_a_denial_is_a_permission_decision() -> None:
    """The reason also contains the context, which would be lost otherwise."""
    advice = Advice(rule="heartbeat", reason="Log first.", context=("The context is full.",))
    assert advised("PreToolUse", advice) == {
        "hookEventName": "PreToolUse",
        "permissionDecision": "deny",
        "permissionDecisionReason": "Headspace: Log first.\nThe context is full.",
    }


def test_a_denial_by_a_policy_is_kept() -> None:
    """The effort does not replace its reason."""
    policy = verdict_reply("PreToolUse", Verdict(Ruling.DENY, "no-rm", "Dangerous."))
    output = advised("PreToolUse", Advice(rule="heartbeat", reason="Log first."), policy=policy)
    assert output["permissionDecisionReason"] == "Dangerous."


def test_an_effort_can_deny_what_a_policy_allows() -> None:
    """The stricter decision wins."""
    policy = verdict_reply("PreToolUse", Verdict(Ruling.ALLOW))
    assert advised("PreToolUse", Advice(rule="x", reason="No."), policy=policy)["permissionDecision"] == "deny"


def test_context_and_injections_reach_the_model() -> None:
    """Each injection has the marker that is later found in the transcript."""
    output = advised(
        "PostToolUse", Advice(context=("Hint",), injections=("i1",)), Injection(id="i1", text="Look", at=1)
    )
    assert output["additionalContext"] == "Hint\n\n[Headspace message i1]\nLook"


def test_without_advice_the_reply_is_empty() -> None:
    """Not an empty object: hook output may reach the model."""
    assert add_advice(NAME, "PostToolUse", b"", Advice(overflow=True)).reply == b""


def test_a_reply_stays_within_the_limit_of_the_client(tmp_path: Path) -> None:
    """Files are included while they fit; the others are listed. The result has the included files."""
    paths = []
    for number in range(8):
        path = tmp_path / f"{number}.md"
        path.write_text(str(number) * 3_000)
        paths.append(str(path))
    result = add_advice(NAME, "SessionStart", b"", Advice(context=("x" * 1_000,), preload=tuple(paths)))
    text = json.loads(result.reply)["hookSpecificOutput"]["additionalContext"]
    assert len(text) <= MAX_REPLY_CHARACTERS
    assert result.loaded == tuple(paths[:2])
    assert all(path in text for path in paths)


def test_the_session_context_comes_before_the_advice_of_the_effort() -> None:
    """Session notices come between."""
    result = add_advice(
        NAME,
        "SessionStart",
        b"",
        Advice(context=("EFFORT",)),
        session_context="FILES",
        notice=SessionNotice(texts=("CARE",)),
    )
    assert json.loads(result.reply)["hookSpecificOutput"]["additionalContext"] == "FILES\n\nCARE\n\nEFFORT"


def test_a_notice_can_block_the_end_of_a_turn() -> None:
    """In the format of Stop hooks."""
    result = add_advice(NAME, "Stop", b"", notice=SessionNotice(texts=("One", "Two"), blocks_turn_end=True))
    assert json.loads(result.reply) == {"decision": "block", "reason": "One\n\nTwo"}


def test_the_session_context_gets_the_remaining_characters(tmp_path: Path) -> None:
    """The total stays within the limit, even with long file names."""
    paths = tuple(str(tmp_path / f"{'n' * 80}{number}.md") for number in range(20))
    for path in paths:
        Path(path).write_text("x" * 2_000)
    advice = Advice(context=("y" * 3_000,), preload=paths)
    result = add_advice(NAME, "SessionStart", b"", advice, session_context="b" * max(0, remaining_characters(advice)))
    assert len(json.loads(result.reply)["hookSpecificOutput"]["additionalContext"]) <= MAX_REPLY_CHARACTERS


def test_files_that_fit_are_read_and_the_others_are_listed(tmp_path: Path) -> None:
    """In order, within the limit, with sizes and reasons."""
    for name, size in (("a", 10), ("b", 5_000), ("c", 20)):
        (tmp_path / name).write_text(name * size)
    (tmp_path / "huge").write_bytes(b"x" * (MAX_FILE_BYTES + 1))
    os.mkfifo(tmp_path / "pipe")
    names = ["a", "b", "c", "missing", "huge", "pipe"]
    files = read_files([str(tmp_path / name) for name in names], 100)
    assert [file.text for file in files] == ["a" * 10, None, "c" * 20, None, None, None]
    text = format_files(files)
    assert f"{tmp_path}/b (5000 bytes): left out, it does not fit; read it yourself" in text
    assert f"{tmp_path}/missing (0 bytes): left out, it cannot be opened" in text
    assert "is too large" in text
    assert "is not a regular file" in text
    assert text.endswith(f"--- {tmp_path}/c\n{'c' * 20}")


def test_without_files_the_text_is_empty() -> None:
    """There is no heading."""
    assert format_files([]) == ""
