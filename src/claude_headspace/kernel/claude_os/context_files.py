"""The files that a context window begins with: core files, then those of the role, then those of the mode. Pure.

Rules
- Everything is there, or named with the reason why not. A note is given only along with something that was loaded.
- All of it stays within a bound. Files that are too long share what there is: short ones stay whole, of the others the
  beginning is there and where the rest can be read. Where that would leave only scraps, the last files go first.
"""

import msgspec

from claude_headspace.kernel.claude_os import messages as texts

CORE, ROLE, MODE = "core", "role", "mode"

ABOUT = {"TODAY.md": "daily memory", "MEMORY.md": "weekly/medium-term", "SYSTEM-INDEX.md": "complete file"}
"""What the core files of Claude OS are."""

SEED_CORE = ("Desktop/TODAY.md", "Desktop/MEMORY.md", "Desktop/SYSTEM-INDEX.md")
"""The core files where nobody names others."""

LEAST = 400
"""Fewer characters of a file than that say nothing."""
MOST_NAMED = 20
_CUT_NOTE = 120
"""Room for what is said of a file that was cut, twice, beside its path."""

replace = msgspec.structs.replace


class Piece(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """A file of the context; without a text it was left out, and why."""

    kind: str
    name: str
    """As it was written, or its place below the root."""
    path: str = ""
    text: str | None = None
    whole: int = 0
    """How many characters it has, where only its beginning is here."""
    why: str = ""

    @property
    def label(self) -> str:
        """How it is headed: `TODAY.MD (daily memory)`."""
        base = self.name.rpartition("/")[2]
        if self.whole:
            about = f"first {len(self.text or '')} of {self.whole} characters; all of it: {self.path}"
        else:
            about = ABOUT.get(base, self.name) if self.kind == CORE else self.name
        return f"{base.upper()} ({about})"


class Briefing(msgspec.Struct, frozen=True, kw_only=True):
    """What was found for a session."""

    role: str | None = None
    mode: str | None = None
    pieces: tuple[Piece, ...] = ()


class Composed(msgspec.Struct, frozen=True):
    """What the model reads, which files are in it, and which are not."""

    text: str = ""
    loaded: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()


def compose(briefing: Briefing, prefix: str, room: int) -> Composed:
    """A briefing as the model reads it, within so many characters."""
    pieces = _fitted(briefing, prefix, room)
    there = [piece for piece in pieces if piece.text is not None]
    left_out = tuple(f"{piece.name}: {piece.why}" for piece in pieces if piece.text is None)
    text = _text(briefing, prefix, pieces) if there else ""
    return Composed(text, tuple(_shown(piece) for piece in there), left_out)


def _shown(piece: Piece) -> str:
    return f"{piece.name} (first {len(piece.text or '')} of {piece.whole} characters)" if piece.whole else piece.name


# --- within bounds ----------------------------------------------------------------------------------------------------


def _fitted(briefing: Briefing, prefix: str, room: int) -> tuple[Piece, ...]:
    pieces = list(briefing.pieces)
    while there := [piece for piece in pieces if piece.text is not None]:
        bare = tuple(replace(piece, text="") if piece.text is not None else piece for piece in pieces)
        frame = len(_text(briefing, prefix, bare)) + sum(_CUT_NOTE + 2 * len(piece.path) for piece in there)
        parts = shares([len(piece.text or "") for piece in there], room - frame)
        sensible = all(part >= min(len(piece.text or ""), LEAST) for part, piece in zip(parts, there, strict=True))
        if sensible and frame <= room:
            given = iter(parts)
            return tuple(_cut(piece, next(given)) if piece.text is not None else piece for piece in pieces)
        last = max(index for index, piece in enumerate(pieces) if piece.text is not None)
        pieces[last] = replace(pieces[last], text=None, why=f"does not fit, read it yourself: {pieces[last].path}")
    return tuple(pieces)


def shares(lengths: list[int], room: int) -> list[int]:
    """How much each gets of a room that is shared: the short ones all they need, the long ones the same."""
    given = [0] * len(lengths)
    left = max(room, 0)
    by_length = sorted(range(len(lengths)), key=lengths.__getitem__)
    for done, index in enumerate(by_length):
        given[index] = min(lengths[index], left // (len(by_length) - done))
        left -= given[index]
    return given


def _cut(piece: Piece, part: int) -> Piece:
    """The beginning of a text, up to the end of a line if that is not far."""
    text = piece.text or ""
    if len(text) <= part:
        return piece
    beginning = text[:part]
    line_end = beginning.rfind("\n")
    return replace(piece, text=beginning[:line_end] if line_end > part // 2 else beginning, whole=len(text))


# --- in words ---------------------------------------------------------------------------------------------------------


def _text(briefing: Briefing, prefix: str, pieces: tuple[Piece, ...]) -> str:
    headings = {
        CORE: "Core memory files loaded automatically:",
        ROLE: f"For the role {briefing.role}:",
        MODE: f"For the mode {briefing.mode}:",
    }
    blocks = [texts.line(prefix, texts.INFO, texts.LOADED)]
    there = [piece for piece in pieces if piece.text is not None]
    for kind, heading in headings.items():
        names = [f"- {piece.label}" for piece in there if piece.kind == kind]
        blocks += ["\n".join([heading, *names])] if names else []
    blocks += _missing([piece for piece in pieces if piece.text is None])
    blocks.append("Full content follows:")
    blocks += [f"## {piece.label}\n{(piece.text or '').strip()}" for piece in there]
    return "\n\n".join(blocks)


def _missing(pieces: list[Piece]) -> list[str]:
    if not pieces:
        return []
    names = [f"- {piece.name}: {piece.why}" for piece in pieces[:MOST_NAMED]]
    more = [f"- and {len(pieces) - MOST_NAMED} more"] if len(pieces) > MOST_NAMED else []
    return ["\n".join(["Not loaded:", *names, *more])]
