"""The files that a context window starts with, in the format of Claude OS and within size limits."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claude_headspace.kernel.claude_os.context_files import (
    CORE,
    MODE,
    ROLE,
    ContextFile,
    SessionContext,
    compose,
    share_space,
)


def piece(name: str, text: str | None = "content", kind: str = CORE, why: str = "") -> ContextFile:
    """A file, with or without text."""
    return ContextFile(kind=kind, name=name, path=f"/os/{name}", text=text, missing_reason=why)


def test_the_format_of_claude_os() -> None:
    """Core files first, then those of the role and the mode. Missing files are listed."""
    briefing = SessionContext(
        role="chief",
        mode="background",
        files=(
            piece("Desktop/TODAY.md", "Ship it.\n"),
            piece("Desktop/MEMORY.md", "It rains."),
            piece("Desktop/SYSTEM-INDEX.md", "A, B"),
            piece("Desktop/identity.md", "I am.", ROLE),
            piece("gone.md", None, ROLE, "is not there"),
            piece("quiet.md", "Hush.", MODE),
        ),
    )
    composed = compose(briefing, "CLAUDE OS SYS", 9_500)
    assert (
        composed.text
        == """[CLAUDE OS SYS: INFO]: Session context loaded

Core memory files loaded automatically:
- TODAY.MD (daily memory)
- MEMORY.MD (weekly/medium-term)
- SYSTEM-INDEX.MD (complete file)

For the role chief:
- IDENTITY.MD (Desktop/identity.md)

For the mode background:
- QUIET.MD (quiet.md)

Not loaded:
- gone.md: is not there

Full content follows:

## TODAY.MD (daily memory)
Ship it.

## MEMORY.MD (weekly/medium-term)
It rains.

## SYSTEM-INDEX.MD (complete file)
A, B

## IDENTITY.MD (Desktop/identity.md)
I am.

## QUIET.MD (quiet.md)
Hush."""
    )
    assert composed.loaded == (
        "Desktop/TODAY.md",
        "Desktop/MEMORY.md",
        "Desktop/SYSTEM-INDEX.md",
        "Desktop/identity.md",
        "quiet.md",
    )
    assert composed.left_out == ("gone.md: is not there",)


@pytest.mark.parametrize("pieces", [(), (piece("gone.md", None, ROLE, "is not there"),)])
def test_without_files_there_is_no_text(pieces: tuple[ContextFile, ...]) -> None:
    """Missing files alone give no text for the model."""
    composed = compose(SessionContext(files=pieces), "X", 9_500)
    assert (composed.text, composed.loaded, len(composed.left_out)) == ("", (), len(pieces))


def test_a_long_file_is_truncated() -> None:
    """Short files stay complete. The long one is cut after a complete line, with the place of the rest."""
    long = "".join(f"line {number}\n" for number in range(5_000))
    composed = compose(SessionContext(files=(piece("MEMORY.md", long), piece("TODAY.md", "short"))), "X", 4_000)
    assert len(composed.text) <= 4_000
    assert "short" in composed.text
    assert f"of {len(long)} characters; all of it: /os/MEMORY.md)" in composed.text
    kept = [each for each in composed.text.split("\n") if each.startswith("line ")]
    assert len(kept) > 100
    assert all(int(b.split()[1]) - int(a.split()[1]) == 1 for a, b in pairwise(kept))
    assert composed.loaded[1] == "TODAY.md"
    assert "complete file" not in composed.text


def test_files_that_would_be_too_short_are_left_out() -> None:
    """With too many files the last ones are left out and listed, but never all of them."""
    pieces = tuple(piece(f"docs/{number}.md", "x" * 2_000, ROLE) for number in range(60))
    composed = compose(SessionContext(role="r", files=pieces), "X", 9_500)
    assert len(composed.text) <= 9_500
    assert 0 < len(composed.loaded) < 60
    assert composed.left_out[-1] == "docs/59.md: does not fit, read it yourself: /os/docs/59.md"
    assert "- and " in composed.text


texts = st.lists(st.one_of(st.none(), st.text(max_size=3_000)), max_size=12)


@given(texts, st.integers(0, 12_000))
def test_any_files_fit_into_any_limit(found: list[str | None], room: int) -> None:
    """The limit holds, every file is loaded or left out, and no part is too short."""
    pieces = tuple(piece(f"{number}.md", text, ROLE) for number, text in enumerate(found))
    composed = compose(SessionContext(role="r", files=pieces), "X", room)
    assert len(composed.text) <= room
    assert len(composed.loaded) + len(composed.left_out) == len(pieces)


@given(st.lists(st.integers(0, 5_000), max_size=10), st.integers(-10, 20_000))
def test_the_limit_is_shared_fairly(lengths: list[int], room: int) -> None:
    """No file gets more than it needs, truncated files get equal shares, and nothing is left unused."""
    given_ = share_space(lengths, room)
    assert all(0 <= part <= length for part, length in zip(given_, lengths, strict=True))
    assert sum(given_) <= max(room, 0)
    short = [part for part, length in zip(given_, lengths, strict=True) if part < length]
    if short:
        assert min(short) >= max(given_) - 1
        assert sum(given_) > max(room, 0) - len(lengths)
