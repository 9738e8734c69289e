"""An effort's advice in Claude Code's words, beside what a policy said. A policy's denial stands."""

from collections.abc import Sequence
from typing import Any

import msgspec

from claude_headspace.kernel.effort import texts
from claude_headspace.kernel.effort.advice import Advice
from claude_headspace.kernel.effort.nouns import Injection
from claude_headspace.outputs.preload import BUDGET, FileText, as_text, read_files


class Spoken(msgspec.Struct, frozen=True):
    """Claude Code's part of a reply, and the files that it carries."""

    reply: bytes
    loaded: tuple[str, ...] = ()


def with_advice(event: str, reply: bytes, advice: Advice, injections: Sequence[Injection] = ()) -> Spoken:
    """Claude Code's part of the reply with the advice in it. It reads the files to preload, which may take a moment."""
    output: dict[str, Any] = msgspec.json.decode(reply) if reply else {}
    said: dict[str, Any] = output.setdefault("hookSpecificOutput", {"hookEventName": event})
    text, loaded = _words(advice, injections)
    if advice.denies and said.get("permissionDecision") != "deny":
        reasons = "\n".join(part for part in (advice.reason, text) if part)
        said |= {"permissionDecision": "deny", "permissionDecisionReason": f"Headspace: {reasons}"}
    elif text:
        said["additionalContext"] = "\n\n".join(part for part in (said.get("additionalContext"), text) if part)
    return Spoken(msgspec.json.encode(output) if len(said) > 1 or len(output) > 1 else reply, loaded)


def _words(advice: Advice, injections: Sequence[Injection]) -> tuple[str, tuple[str, ...]]:
    """All that the model is told, bounded, and the files in it."""
    parts = [*advice.context, *(texts.injection(one) for one in injections)]
    room = BUDGET - sum(len(part) + 2 for part in parts)
    names = sum(len(path) + 40 for path in advice.preload)
    files: list[FileText] = read_files(advice.preload, max(0, room - 2 * names)) if advice.preload else []
    loaded = tuple(file.path for file in files if file.text is not None)
    return "\n\n".join(part for part in (*parts, as_text(files)) if part), loaded
