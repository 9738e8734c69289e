"""Many agents as one status: of a pane, a window, a tmux session. The most urgent one speaks for all.

    error > attention > working > checked > done

Attention is called for until somebody looks: then it is checked, and no longer shouts over those who work.
"""

from collections.abc import Iterable

PRIORITY = ("error", "attention", "working", "checked", "done")


def combined_status(statuses: Iterable[str]) -> str:
    """The status of a group; an empty one is done."""
    return min(statuses, key=_urgency, default=PRIORITY[-1])


def _urgency(status: str) -> int:
    return PRIORITY.index(status) if status in PRIORITY else len(PRIORITY)
