"""The combined status of several agents, for a pane, a window or a tmux session: the most urgent one. Pure.

    error > attention > working > checked > done

`attention` becomes `checked` when the user has looked at the agent; then working agents have priority.
"""

from collections.abc import Iterable

PRIORITY = ("error", "attention", "working", "checked", "done")


def combined_status(statuses: Iterable[str]) -> str:
    """The most urgent status; `done` for an empty group."""
    return min(statuses, key=_urgency, default=PRIORITY[-1])


def _urgency(status: str) -> int:
    return PRIORITY.index(status) if status in PRIORITY else len(PRIORITY)
