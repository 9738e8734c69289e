"""A notice in Claude Code's own words."""

import msgspec

from claude_headspace.kernel.mission.notice import Notice, NoticeKind
from claude_headspace.outputs.notices import with_notice

NEWS = Notice(NoticeKind.NEWS, "A worker is back.", ("m1",))


def test_nothing_to_say_changes_nothing() -> None:
    """A reply stays as it is."""
    assert with_notice("Stop", b"", None) == b""
    assert with_notice("Stop", b"{}", None) == b"{}"


def test_news_come_beside_what_others_said() -> None:
    """After the context of an effort, if there is one."""
    alone = msgspec.json.decode(with_notice("UserPromptSubmit", b"", NEWS))
    expected = {"hookEventName": "UserPromptSubmit", "additionalContext": "A worker is back."}
    assert alone == {"hookSpecificOutput": expected}
    before = b'{"hookSpecificOutput":{"hookEventName":"UserPromptSubmit","additionalContext":"effort fix"}}'
    both = msgspec.json.decode(with_notice("UserPromptSubmit", before, NEWS))
    assert both["hookSpecificOutput"]["additionalContext"] == "effort fix\n\nA worker is back."


def test_a_reminder_keeps_the_turn_on() -> None:
    """The client takes the reason for what to do next."""
    told = msgspec.json.decode(with_notice("Stop", b"", Notice(NoticeKind.REMINDER, "Report.")))
    assert told == {"decision": "block", "reason": "Report."}
    again = with_notice("Stop", b'{"decision":"block","reason":"Also this."}', Notice(NoticeKind.REMINDER, "Report."))
    assert msgspec.json.decode(again)["reason"] == "Also this.\n\nReport."
