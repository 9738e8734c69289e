"""Colours: the only place that maps a role to a style. Only `waiting` has a background colour.

Three palettes: dark and light with a contrast of at least 4.5 to 1, and the 16 colours of the terminal. Every colour
comes with a shape or a word, so nothing is lost with `NO_COLOR` or 16 colours.
"""

from collections.abc import Iterable
from functools import lru_cache

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip
from textual.theme import Theme

from claude_headspace.surfaces.cli.output import Line

Palette = dict[str, str]

DARK: Palette = {
    "": "#cdd3dc",
    "background": "#15171c",
    "selected": "#2a303b",
    "border": "#3a414d",
    "focus": "#6b7686",
    "waiting": "bold #1d1500 on #f2b632",
    "warm": "#f2b632",
    "error": "bold #ff7b72",
    "working": "#6cb6ff",
    "idle": "#9aa3af",
    "starting": "#9aa3af",
    "ended": "#838b97",
    "dim": "#8b93a0",
    "place": "#aab2be",
    "strong": "bold #eef1f5",
    "said": "#b4bcc8",
    "speaker": "#8fb7e0",
    "key": "bold #cdd3dc",
    "unseen": "bold #f2b632",
}
LIGHT: Palette = {
    "": "#2b3138",
    "background": "#fcfcfb",
    "selected": "#e3e8ef",
    "border": "#cfd5dd",
    "focus": "#8b95a3",
    "waiting": "bold #2b1d00 on #ffcf57",
    "warm": "#865700",
    "error": "bold #b3261e",
    "working": "#0a5cb8",
    "idle": "#5a636e",
    "starting": "#5a636e",
    "ended": "#69727d",
    "dim": "#5f6872",
    "place": "#454d57",
    "strong": "bold #14181d",
    "said": "#3b434c",
    "speaker": "#2f5f94",
    "key": "bold #2b3138",
    "unseen": "bold #865700",
}
TERMINAL: Palette = {
    "": "default",
    "background": "ansi_default",
    "selected": "reverse",
    "border": "ansi_bright_black",
    "focus": "ansi_default",
    "waiting": "bold black on yellow",
    "warm": "yellow",
    "error": "bold red",
    "working": "bright_blue",
    "idle": "default",
    "starting": "default",
    "ended": "bright_black",
    "dim": "bright_black",
    "place": "default",
    "strong": "bold",
    "said": "default",
    "speaker": "cyan",
    "key": "bold",
    "unseen": "bold yellow",
}
PALETTES = {"dark": DARK, "light": LIGHT, "terminal": TERMINAL}
"""In the order of the key that switches them."""


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


@lru_cache(maxsize=128)
def style(palette: str, role: str, *, selected: bool = False) -> Style:
    """The style of a role. A selected line has another background."""
    colours = PALETTES[palette]
    base = Style.parse(colours.get(role, colours[""]))
    if base.bgcolor is not None:
        return base
    if palette == "terminal":
        return base + Style(reverse=True) if selected else base
    return base + Style(bgcolor=colours["selected" if selected else "background"])


def strip(line: Line, palette: str, width: int, *, selected: bool = False, start: str = "") -> Strip:
    """A line as a Textual strip of exactly this width."""
    background = style(palette, "", selected=selected)
    segments = [Segment(start, style(palette, "strong", selected=selected))] if start else []
    segments += _segments(line, palette, selected=selected)
    return Strip(segments).adjust_cell_length(width, background)


def _segments(line: Line, palette: str, *, selected: bool) -> Iterable[Segment]:
    return [Segment(part.text, style(palette, part.role, selected=selected)) for part in line if part.text]
