"""The texts that an effort sends to the model. They are bounded; a truncated text says how much is missing. Pure."""

import msgspec

from claude_headspace.kernel.effort.model import Effort, Injection, Window, artifact_paths
from claude_headspace.kernel.text import iso, one_line

MAX_RECOVERY_CHARACTERS = 6_000
"""The client puts the whole recovery text into the model's context."""

MAX_METADATA_CHARACTERS = 1_000

LOG_INSTRUCTION = "Log what you did and found: headspace effort log 'what you did'"


def session_line(effort: Effort, window: Window | None, time: str) -> str:
    """One line with the time, the effort, its phase and task, and the heartbeat."""
    parts = [
        f"time {time}",
        f"effort {effort.skill} #{effort.ordinal}",
        f"phase {effort.phase}" if effort.phase else "",
        f"task {effort.task_dir}",
        f"{_count_calls(window.heartbeat)} since the last log" if window else "",
    ]
    return f"[Headspace: {' · '.join(part for part in parts if part)}]"


def introduction(effort: Effort) -> str:
    """The introduction of a new context window: the effort, its phase and its documents."""
    lines = [f"You work on effort {effort.skill} #{effort.ordinal} in {effort.task_dir}."]
    if effort.phase:
        lines.append(f"The current phase is {effort.phase}. `headspace effort phase NAME` changes it.")
    documents = ", ".join(f"{kind} {path}" for kind, path in artifact_paths(effort).items())
    lines += [f"Its documents, if they exist: {documents}.", LOG_INSTRUCTION]
    return "\n".join(lines)


def recovery(effort: Effort) -> str | None:
    """The newest handover and the log entries after it; None if there are neither."""
    parts = []
    if effort.handover is not None:
        parts.append(f"Newest handover, written {iso(effort.handover.at)[:19]}Z:\n{effort.handover.text}")
        if effort.handover.files:
            parts.append("Files of the handover: " + ", ".join(effort.handover.files))
    if effort.recent_log:
        since = "Logged since then:" if effort.handover else "The newest log entries:"
        parts.append("\n".join([since, *(f"- {entry}" for entry in effort.recent_log)]))
    return _truncate("\n\n".join(parts)) if parts else None


def _truncate(text: str) -> str:
    if len(text) <= MAX_RECOVERY_CHARACTERS:
        return text
    missing = len(text) - MAX_RECOVERY_CHARACTERS
    return f"{text[:MAX_RECOVERY_CHARACTERS]}\n[{missing} more characters left out: run `headspace effort show`]"


def heartbeat_warning(count: int, limit: int) -> str:
    """The warning before tool calls are denied."""
    return f"{_count_calls(count)} without a log entry. From {limit} on, tool calls are denied. {LOG_INSTRUCTION}"


def heartbeat_denial(count: int) -> str:
    """Why a tool call is denied, and how to continue."""
    return f"{_count_calls(count)} without a log entry: this one was not run. {LOG_INSTRUCTION} Then continue."


def _count_calls(count: int) -> str:
    return "1 tool call" if count == 1 else f"{count} tool calls"


def overflow_warning(usage: float) -> str:
    """The request for a handover when the context is nearly full."""
    return (
        f"The context is {usage:.0%} full and will be compacted soon. Hand over now, so that the next session can"
        " continue: headspace effort dehydrate 'what is done, what is next, decisions and open questions' --file PATH…"
    )


def session_gate() -> str:
    """The denial until the session is opened."""
    return "This effort requires an opened session: run `headspace effort open`, read its output, then continue."


def directive_gate(missing: tuple[str, ...]) -> str:
    """The denial until the directives are read."""
    return f"This effort requires these files: {', '.join(missing)}. Read them, then continue."


def subagent_introduction(effort: Effort) -> str:
    """What a sub-agent needs to know about the effort of its parent."""
    lines = [
        f"You are helping with effort {effort.skill} #{effort.ordinal} in {effort.task_dir}"
        + (f", phase {effort.phase}." if effort.phase else "."),
        LOG_INSTRUCTION,
    ]
    if effort.directives:
        lines.append(f"Instruction files that apply: {', '.join(effort.directives)}.")
    if effort.metadata:
        metadata = one_line(msgspec.json.encode(effort.metadata).decode(), MAX_METADATA_CHARACTERS)
        lines.append(f"Metadata of the effort: {metadata}")
    return "\n".join(lines)


def injection_text(injection: Injection) -> str:
    """An injected text with the id by which the transcript confirms its delivery."""
    return f"[Headspace message {injection.id}]\n{injection.text}"
