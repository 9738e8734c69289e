"""The prompt of a restarted client.

Requirement: "run --supervise" carries the prompt that triggered the compaction over, and tells the new session about a
handover only if there was one ("if dehydration_payload exists: inject it; if no payload: rehydrate").
"""

from typing import Any

from claude_headspace.surfaces.launch.restart_prompt import (
    ALTERED,
    EARLIER_HANDOVER,
    HANDED_OVER,
    NO_HANDOVER,
    restart_prompt,
    unfinished_prompt,
)

BEFORE, AT, AFTER = (f"2026-01-01T00:00:0{second}+00:00" for second in (1, 2, 3))


def prompt(
    *texts: str, calls: str = BEFORE, ended_at: str | None = None, handed_over: bool = False, earlier: str = ""
) -> str:
    """The prompt after a command with these texts of the user, and a tool call at a time."""
    command = {"id": "c1", "started_at": AT, "ended_at": ended_at}
    turns: list[dict[str, Any]] = [{"actor": "USER", "text": text} for text in texts]
    unfinished = unfinished_prompt(command if texts else None, turns, [{"started_at": calls}])
    return restart_prompt({"dehydrated": earlier or None}, {"dehydrated": handed_over}, unfinished)


def test_a_prompt_that_nothing_was_done_about_is_sent_again() -> None:
    """Unchanged, so that a slash command works."""
    assert prompt("/implement the cart") == "/implement the cart"


def test_a_prompt_that_was_being_worked_on_is_quoted() -> None:
    """With the answers of the user, and the advice to check what is done."""
    sent = prompt("Fix the login", "use bcrypt", calls=AFTER)
    assert sent.startswith(NO_HANDOVER)
    assert "had not finished this prompt:\n\nFix the login\n\nuse bcrypt\n\nCheck what is already done" in sent


def test_a_text_of_the_agent_is_work_too() -> None:
    """A prompt that was answered in part is quoted."""
    turns = [{"actor": "USER", "text": "Fix"}, {"actor": "AGENT", "text": "I look at it."}]
    found = unfinished_prompt({"started_at": AT, "ended_at": None}, turns, [])
    assert found is not None
    assert not found.is_untouched


def test_a_finished_prompt_is_not_repeated() -> None:
    """Only the effort is continued."""
    assert prompt("Fix the login", ended_at=AFTER) == NO_HANDOVER
    assert prompt() == NO_HANDOVER


def test_only_a_real_handover_is_mentioned() -> None:
    """Of the previous session, of an earlier one, or none."""
    assert prompt(handed_over=True, earlier="text") == HANDED_OVER
    assert prompt(earlier="text") == EARLIER_HANDOVER
    assert "without a handover" in EARLIER_HANDOVER
    assert "without a handover" in NO_HANDOVER


def test_a_prompt_with_gaps_is_marked() -> None:
    """Secrets and the middle of a long prompt are not stored, so the prompt cannot be sent as it was."""
    sent = prompt("Long\n… [1,000 bytes left out] …\nprompt")
    assert sent.startswith(NO_HANDOVER)
    assert ALTERED in sent
