"""An effort's advice in Claude Code's words."""

import json
from pathlib import Path

from claude_headspace.clients.claude_code.replies import verdict_reply
from claude_headspace.kernel.claude_os.session_notice import SessionNotice
from claude_headspace.kernel.effort.advice import Advice
from claude_headspace.kernel.effort.model import Injection
from claude_headspace.kernel.policy.verdict import Ruling, Verdict
from claude_headspace.outputs.advice import add_advice, remaining_characters
from claude_headspace.outputs.file_contents import MAX_REPLY_CHARACTERS


def said(event: str, advice: Advice, *injections: Injection, policy: bytes = b"") -> dict[str, str]:
    """What Claude Code gets."""
    answer: dict[str, str] = json.loads(add_advice(event, policy, advice, injections).reply)["hookSpecificOutput"]
    return answer


def test_a_denial_is_claude_codes_own() -> None:
    """The decision with its reason, and what else was to say: it must not get lost."""
    advice = Advice(rule="heartbeat", reason="Log first.", context=("The context is full.",))
    assert said("PreToolUse", advice) == {
        "hookEventName": "PreToolUse",
        "permissionDecision": "deny",
        "permissionDecisionReason": "Headspace: Log first.\nThe context is full.",
    }


def test_a_policys_denial_stands() -> None:
    """Its reason is not replaced by the effort's."""
    policy = verdict_reply("PreToolUse", Verdict(Ruling.DENY, "no-rm", "Dangerous."))
    answer = said("PreToolUse", Advice(rule="heartbeat", reason="Log first."), policy=policy)
    assert answer["permissionDecisionReason"] == "Dangerous."


def test_an_effort_denies_what_a_policy_allows() -> None:
    """The stricter one wins."""
    policy = verdict_reply("PreToolUse", Verdict(Ruling.ALLOW))
    assert said("PreToolUse", Advice(rule="x", reason="No."), policy=policy)["permissionDecision"] == "deny"


def test_context_and_injections_reach_the_model() -> None:
    """Each injection with the mark that the transcript confirms it by."""
    answer = said("PostToolUse", Advice(context=("Hint",), injections=("i1",)), Injection(id="i1", text="Look", at=1))
    assert answer["additionalContext"] == "Hint\n\n[Headspace message i1]\nLook"


def test_nothing_to_say_is_nothing() -> None:
    """Not even an empty object: what a hook prints may reach the model."""
    assert add_advice("PostToolUse", b"", Advice(overflow=True)).reply == b""


def test_an_answer_stays_within_what_the_client_takes(tmp_path: Path) -> None:
    """Files go in while they fit, the others are named; which went in is told."""
    paths = []
    for number in range(8):
        path = tmp_path / f"{number}.md"
        path.write_text(str(number) * 3_000)
        paths.append(str(path))
    spoken = add_advice("SessionStart", b"", Advice(context=("x" * 1_000,), preload=tuple(paths)))
    text = json.loads(spoken.reply)["hookSpecificOutput"]["additionalContext"]
    assert len(text) <= MAX_REPLY_CHARACTERS
    assert spoken.loaded == tuple(paths[:2])
    assert all(path in text for path in paths)


def test_a_session_is_given_its_files_before_the_effort_speaks() -> None:
    """In the order core, role, mode, effort; what it is told of itself comes between."""
    spoken = add_advice(
        "SessionStart", b"", Advice(context=("EFFORT",)), session_context="FILES", notice=SessionNotice(texts=("CARE",))
    )
    assert json.loads(spoken.reply)["hookSpecificOutput"]["additionalContext"] == "FILES\n\nCARE\n\nEFFORT"


def test_a_turn_that_is_held_is_blocked_with_the_reason() -> None:
    """In the words that Stop understands."""
    spoken = add_advice("Stop", b"", notice=SessionNotice(texts=("One", "Two"), blocks_turn_end=True))
    assert json.loads(spoken.reply) == {"decision": "block", "reason": "One\n\nTwo"}


def test_what_an_effort_leaves_is_for_the_session(tmp_path: Path) -> None:
    """Both together stay within the bound, however long the names of the effort's files are."""
    paths = tuple(str(tmp_path / f"{'n' * 80}{number}.md") for number in range(20))
    for path in paths:
        Path(path).write_text("x" * 2_000)
    advice = Advice(context=("y" * 3_000,), preload=paths)
    spoken = add_advice("SessionStart", b"", advice, session_context="b" * max(0, remaining_characters(advice)))
    assert len(json.loads(spoken.reply)["hookSpecificOutput"]["additionalContext"]) <= MAX_REPLY_CHARACTERS
