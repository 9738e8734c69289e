"""Formats texts and times for people. Pure.

Texts of agents, prompts and tools may contain hidden characters (`kernel/hidden_characters.py`). Pass them through
`clean_json` or `clean_text` before they are shown in a terminal.
"""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from rich.cells import cell_len, chop_cells, set_cell_size

from claude_headspace.kernel.hidden_characters import code_of, make_visible

Json = Mapping[str, Any]

# --- clean and wrap --------------------------------------------------------------------------------------------------

_HALVES = re.compile("[\ud800-\udfff]")
"""Halves of characters, which no terminal can show."""


def clean_text(text: str) -> str:
    """A text that is safe in a terminal: hidden and control characters become visible marks. Line breaks stay."""
    if text.isascii() and text.isprintable():
        return text
    plain = text.replace("\r\n", "\n").replace("\t", "    ")
    return make_visible(_HALVES.sub(lambda found: f"⟦{code_of(found[0])}⟧", plain))


def clean_json(value: Any) -> Any:
    """Decoded JSON with all texts cleaned."""
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, dict):
        return {clean_text(key): clean_json(item) for key, item in value.items()}
    if isinstance(value, list):
        return [clean_json(item) for item in value]
    return value


def one_line(text: str) -> str:
    """A text on one line."""
    return " ".join(text.split())


def cut(text: str, width: int) -> str:
    """A text cut to the width, at the end of a word unless that would leave less than half."""
    if cell_len(text) <= width:
        return text
    if width < 1:
        return ""
    head = set_cell_size(text, width - 1).rstrip()
    inside_a_word = not text[len(head)].isspace()
    whole = head.rpartition(" ")[0] if inside_a_word else head
    return (whole if cell_len(whole) * 2 >= width else head).rstrip(" ,;:.") + "…"


_MARK = re.compile(r"⟦U\+[0-9A-F]{4,6}⟧")


def chop(text: str, width: int) -> list[str]:
    """A text in pieces of at most this width. A mark of a hidden character is not split."""
    pieces = list[str]()
    while cell_len(text) > width:
        end = len(chop_cells(text[: 4 * width], width)[0])
        start = text.rfind("⟦", 0, end)
        mark = _MARK.match(text, start) if start > 0 else None
        end = start if mark is not None and mark.end() > end else end
        pieces.append(text[:end])
        text = text[end:]
    return [*pieces, text]


def wrap(text: str, width: int, taken: int = 0) -> list[str]:
    """Wrap a text between words. The first line is shorter by `taken`."""
    broken: list[str] = []
    for line in text.splitlines() or [""]:
        current = ""
        for word in line.split(" "):
            longer = f"{current} {word}" if current else word
            if current and cell_len(longer) > width - (0 if broken else taken):
                broken.append(current)
                longer = word
            *full, current = chop(longer, width)
            broken += full
        broken.append(current)
    return broken


# --- time -----------------------------------------------------------------------------------------------------------


def parse_timestamp(time: str) -> datetime:
    """A timestamp of the API; the earliest time if it is invalid."""
    try:
        found = datetime.fromisoformat(time)
    except ValueError:
        return datetime.min.replace(tzinfo=UTC)
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def duration(seconds: float) -> str:
    """A duration in one unit: "12 s", "4 min", "2 h", "3 d"."""
    whole = max(int(seconds), 0)
    for unit, size, until in (("s", 1, 60), ("min", 60, 3600), ("h", 3600, 48 * 3600)):
        if whole < until:
            return f"{whole // size} {unit}"
    return f"{whole // 86400} d"


HALF_A_CENT = 0.005


def dollars(cost: float) -> str:
    """A cost, such as $1,204.50. One of less than half a cent is not nothing."""
    if 0 < cost < HALF_A_CENT:
        return "<$0.01"
    return f"${cost:,.2f}" if cost >= 0 else f"-${-cost:,.2f}"


def ago(time: str, now: datetime) -> str:
    """A time relative to now: "just now", "12 s ago", "3 d ago". A future time is "just now"."""
    seconds = (now - parse_timestamp(time)).total_seconds()
    return "just now" if seconds < 5 else f"{duration(seconds)} ago"


def clock_time(time: str, now: datetime) -> str:
    """The local time of day, with the date if it is not today."""
    local = parse_timestamp(time).astimezone(now.tzinfo)
    return f"{local:%H:%M:%S}" if local.date() == now.date() else f"{local:%Y-%m-%d %H:%M}"


def short_time(time: str, now: datetime) -> str:
    """The local time of day without seconds, with the day if it is not today, and the year if it is not this one."""
    local = parse_timestamp(time).astimezone(now.tzinfo)
    day = "" if local.date() == now.date() else "%m-%d " if local.year == now.year else "%Y-%m-%d "
    return f"{local:{day}%H:%M}"
