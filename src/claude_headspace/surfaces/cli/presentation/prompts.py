"""Pending and saved prompts as lines."""

from collections.abc import Sequence
from datetime import datetime

from claude_headspace.surfaces.cli.output import EMPTY_LINE, Line, Span, dim, hanging, line
from claude_headspace.surfaces.text.formatting import Json, ago, cut, one_line

SHORT_ID = 8
STATUSES = {"waiting": "waits until it is idle", "sending": "is being sent", "failed": "not sent"}


def pending_text(prompt: Json, now: datetime) -> str:
    """A pending prompt: "3f9a1c20  waits until it is idle, 2 min ago by ann: Run the tests."."""
    by = f" by {prompt['by']}" if prompt["by"] else ""
    reason = f" {prompt['reason']}" if prompt["reason"] else ""
    status = f"{STATUSES.get(prompt['status'], prompt['status'])}, queued {ago(prompt['at'], now)}{by}"
    return f"{prompt['id'][:SHORT_ID]}  “{one_line(prompt['summary'])}” {status}.{reason}"


def pending_texts(agent: Json, now: datetime) -> list[str]:
    """The pending prompts of an agent, oldest first."""
    return [pending_text(prompt, now) for prompt in agent.get("pending_prompts") or ()]


def queue_lines(agents: Sequence[Json], now: datetime, width: int) -> list[Line]:
    """The pending prompts of all agents."""
    if not agents:
        return [line("No prompt is pending."), dim("`headspace send --when-idle AGENT TEXT` adds one.")]
    lines: list[Line] = []
    for agent in agents:
        lines += [line(Span(agent["name"], agent["state"]), Span(f"  {agent['state']}", "dim"))]
        for text in pending_texts(agent, now):
            lines += hanging(line("  "), text, width)
    return [*lines, EMPTY_LINE, dim("`headspace queue cancel AGENT [PROMPT]` cancels them.")]


def saved_prompt_lines(prompts: Sequence[Json], width: int) -> list[Line]:
    """The saved prompts, one line each."""
    if not prompts:
        return [line("No prompt is saved."), dim("`headspace prompt save NAME TEXT` saves one.")]
    wide = max(len(prompt["name"]) for prompt in prompts)
    room = max(width - wide - 2, 20)
    return [
        line(Span(f"{prompt['name']:<{wide}}", "strong"), f"  {cut(one_line(prompt['text']), room)}")
        for prompt in prompts
    ]
