"""A notice in Claude Code's words, beside what a policy and an effort said."""

from typing import Any

import msgspec

from claude_headspace.kernel.mission.notice import Notice, NoticeKind


def with_notice(event: str, reply: bytes, notice: Notice | None) -> bytes:
    """Claude Code's part of the reply with the notice in it: news beside a prompt, a reminder that keeps a turn on."""
    if notice is None:
        return reply
    output: dict[str, Any] = msgspec.json.decode(reply) if reply else {}
    if notice.kind is NoticeKind.REMINDER:
        reasons = "\n\n".join(part for part in (output.get("reason"), notice.text) if part)
        return msgspec.json.encode(output | {"decision": "block", "reason": reasons})
    said: dict[str, Any] = output.setdefault("hookSpecificOutput", {"hookEventName": event})
    said["additionalContext"] = "\n\n".join(part for part in (said.get("additionalContext"), notice.text) if part)
    return msgspec.json.encode(output)
