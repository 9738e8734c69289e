"""The words of an effort's answers. What reaches the model is bounded, and says what was left out."""

import msgspec

from claude_headspace.kernel.effort.model import Effort, Injection, Window, artifact_paths
from claude_headspace.kernel.text import one_line

MAX_RECOVERY_CHARACTERS = 6_000
"""Characters of a recovery block. The client puts all of it into the model's context."""

MAX_METADATA_CHARACTERS = 1_000

LOG_INSTRUCTION = "Write down what you did and found: headspace effort log 'what you did'"


def session_line(effort: Effort, window: Window | None, time: str) -> str:
    """One line that tells the model where it stands."""
    parts = [
        f"time {time}",
        f"effort {effort.skill} #{effort.ordinal}",
        f"phase {effort.phase}" if effort.phase else "",
        f"task {effort.task_dir}",
        f"{_count_calls(window.heartbeat)} since the last log" if window else "",
    ]
    return f"[Headspace: {' · '.join(part for part in parts if part)}]"


def introduction(effort: Effort) -> str:
    """What a new context window works on."""
    lines = [f"You work on effort {effort.skill} #{effort.ordinal} in {effort.task_dir}."]
    if effort.phase:
        lines.append(f"It is in the phase {effort.phase}. `headspace effort phase NAME` moves on.")
    papers = ", ".join(f"{kind} {path}" for kind, path in artifact_paths(effort).items())
    lines += [f"Its papers, if it has any: {papers}.", LOG_INSTRUCTION]
    return "\n".join(lines)


def recovery(effort: Effort) -> str | None:
    """What the window before handed over, and what was logged since."""
    parts = []
    if effort.handover is not None:
        parts.append("What the session before handed over:\n" + effort.handover.text)
        if effort.handover.files:
            parts.append("Files that it used: " + ", ".join(effort.handover.files))
    if effort.recent_log:
        since = "Logged since:" if effort.handover else "The newest entries of the log:"
        parts.append("\n".join([since, *(f"- {entry}" for entry in effort.recent_log)]))
    return _truncate("\n\n".join(parts)) if parts else None


def _truncate(text: str) -> str:
    if len(text) <= MAX_RECOVERY_CHARACTERS:
        return text
    left_out = len(text) - MAX_RECOVERY_CHARACTERS
    return f"{text[:MAX_RECOVERY_CHARACTERS]}\n[{left_out} more characters left out: see `headspace effort show`]"


def heartbeat_warning(count: int, limit: int) -> str:
    """Before calls are refused."""
    return f"{_count_calls(count)} without a log entry; from {limit} on they are refused. {LOG_INSTRUCTION}"


def heartbeat_denial(count: int) -> str:
    """Why a call is refused, and how to go on."""
    return f"{_count_calls(count)} without a log entry: this one was not run. {LOG_INSTRUCTION} Then go on."


def _count_calls(count: int) -> str:
    return "1 tool call" if count == 1 else f"{count} tool calls"


def overflow_warning(usage: float) -> str:
    """The context is nearly full."""
    return (
        f"The context is {usage:.0%} full and will be compacted soon. Hand over now, so that the next session can go"
        " on: headspace effort dehydrate 'what is done, what is next, decisions and open questions' --file PATH…"
    )


def session_gate() -> str:
    """The effort wants its session to know what it works on."""
    return "This effort wants its session opened first: run `headspace effort open`, read what it prints, then go on."


def directive_gate(missing: tuple[str, ...]) -> str:
    """The effort wants its directives read."""
    return f"This effort wants these files read first: {', '.join(missing)}. Read them, then go on."


def subagent_introduction(effort: Effort) -> str:
    """What a sub-agent should know of its parent's effort."""
    lines = [
        f"You help with effort {effort.skill} #{effort.ordinal} in {effort.task_dir}"
        + (f", phase {effort.phase}." if effort.phase else "."),
        LOG_INSTRUCTION,
    ]
    if effort.directives:
        lines.append(f"Instructions that apply: {', '.join(effort.directives)}.")
    if effort.metadata:
        lines.append(
            f"Of the effort: {one_line(msgspec.json.encode(effort.metadata).decode(), MAX_METADATA_CHARACTERS)}"
        )
    return "\n".join(lines)


def injection_text(injection: Injection) -> str:
    """An injected text, with the mark by which the transcript confirms it."""
    return f"[Headspace message {injection.id}]\n{injection.text}"
