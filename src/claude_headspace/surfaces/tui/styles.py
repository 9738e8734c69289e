"""Colours: the only place that maps a role to a style. Only `waiting` has a background colour.

Three palettes: dark and light with a contrast of at least 4.5 to 1, and the 16 colours of the terminal. Every colour
comes with a shape or a word, so nothing is lost with `NO_COLOR` or 16 colours.
"""

from functools import lru_cache

from rich.segment import Segment
from rich.style import Style
from rich.text import Span, Text
from textual.strip import Strip
from textual.theme import Theme

from claude_headspace.surfaces.cli.output import ANSI_PREFIX, Line

Palette = dict[str, str]

NAMES = ("dark", "light", "terminal")
"""The palettes, in the order of the key that switches them."""
STYLES = {
    "": ("#cdd3dc", "#2b3138", "default"),
    "background": ("#15171c", "#fcfcfb", "ansi_default"),
    "selected": ("#2a303b", "#e3e8ef", "reverse"),
    "border": ("#3a414d", "#cfd5dd", "ansi_bright_black"),
    "focus": ("#6b7686", "#8b95a3", "ansi_default"),
    "waiting": ("bold #1d1500 on #f2b632", "bold #2b1d00 on #ffcf57", "bold black on yellow"),
    "warm": ("#f2b632", "#865700", "yellow"),
    "error": ("bold #ff7b72", "bold #b3261e", "bold red"),
    "working": ("#6cb6ff", "#0a5cb8", "bright_blue"),
    "idle": ("#9aa3af", "#5a636e", "default"),
    "starting": ("#9aa3af", "#5a636e", "default"),
    "ended": ("#838b97", "#69727d", "bright_black"),
    "dim": ("#8b93a0", "#5f6872", "bright_black"),
    "place": ("#aab2be", "#454d57", "default"),
    "strong": ("bold #eef1f5", "bold #14181d", "bold"),
    "found": ("bold underline #eef1f5", "bold underline #14181d", "bold underline"),
    "said": ("#b4bcc8", "#3b434c", "default"),
    "speaker": ("#8fb7e0", "#2f5f94", "cyan"),
    "key": ("bold #cdd3dc", "bold #2b3138", "bold"),
    "added": ("#7ee08a", "#1a7f37", "green"),
    "removed": ("#ff9a93", "#b3261e", "red"),
    "hunk": ("#8fb7e0", "#2f5f94", "cyan"),
    "unseen": ("bold #f2b632", "bold #865700", "bold yellow"),
}
"""The style of each role in each palette."""
PALETTES: dict[str, Palette] = {
    name: {role: styles[at] for role, styles in STYLES.items()} for at, name in enumerate(NAMES)
}


def themes() -> list[Theme]:
    """The palettes as Textual themes, for borders, inputs and scroll bars."""
    return [_theme(name, palette) for name, palette in PALETTES.items()]


def _theme(name: str, palette: Palette) -> Theme:
    plain = palette[""] if name != "terminal" else "ansi_default"
    return Theme(
        name=name,
        primary=palette["focus"],
        foreground=plain,
        background=palette["background"],
        surface=palette["background"],
        panel=palette["background"],
        dark=name != "light",
        ansi=name == "terminal",
        variables={
            "edge": palette["border"],
            "edge-focus": palette["focus"],
            **({"ansi-background": "ansi_black", "ansi-foreground": "ansi_white"} if name == "terminal" else {}),
        },
    )


@lru_cache(maxsize=1024)
def style(palette: str, role: str, *, selected: bool = False) -> Style:
    """The style of a role. A selected line has another background."""
    colours = PALETTES[palette]
    base = Style.parse(colours.get(role, colours[""]))
    if role.startswith(ANSI_PREFIX):
        base += _ansi_style(role.removeprefix(ANSI_PREFIX))
    if base.bgcolor is not None:
        return base
    if palette == "terminal":
        return base + Style(reverse=True) if selected else base
    return base + Style(bgcolor=colours["selected" if selected else "background"])


def _ansi_style(codes: str) -> Style:
    """The style of text from another terminal."""
    [span] = Text.from_ansi(f"\x1b[{codes}m.").spans or [Span(0, 1, "")]
    return span.style if isinstance(span.style, Style) else Style.parse(span.style)


def strip(line: Line, palette: str, width: int, *, selected: bool = False, start: str = "") -> Strip:
    """A line as a Textual strip of exactly this width."""
    background = style(palette, "", selected=selected)
    segments = [Segment(start, style(palette, "strong", selected=selected))] if start else []
    segments += [Segment(part.text, style(palette, part.role, selected=selected)) for part in line if part.text]
    return Strip(segments).adjust_cell_length(width, background)
