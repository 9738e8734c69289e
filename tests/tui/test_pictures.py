"""The pictures of the documentation: created here, and compared with what the program shows.

`WRITE_PICTURES=yes pytest tests/tui/test_pictures.py` updates them. Look at them before you commit them.
"""

import asyncio
import os
import re
from pathlib import Path

import pytest

from claude_headspace.surfaces.tui.app import Top
from tests.tui.board import FixedFeed, make_app, screen_text

PICTURES = Path(__file__).resolve().parents[2] / "docs" / "pictures"

SCENES: dict[str, tuple[tuple[int, int], list[str], str, str]] = {
    "top": ((150, 32), ["down"], "dark", "Conversation"),
    "top-light": ((150, 32), ["down"], "light", "Conversation"),
    "top-narrow": ((92, 30), ["down"], "dark", "Conversation"),
    "top-small": ((60, 15), [], "dark", "late-wren"),
    "top-why": ((124, 24), ["down", "w"], "dark", "States, newest first"),
    "top-send": ((100, 26), ["down", "down", "s", *"Use SQLite for now."], "dark", "for now."),
    "top-filter": ((100, 20), ["slash", *"api"], "dark", "snug-plover"),
    "top-help": ((100, 72), ["question_mark"], "dark", "have not seen"),
    "top-empty": ((80, 14), [], "dark", "headspace run"),
}
"""Size, keys, theme, and a text that must be visible."""


def draw(app: Top) -> str:
    """The current screen as SVG."""
    return app.export_screenshot(title=f"headspace top · {app.size.width}×{app.size.height}")


async def picture(name: str) -> str:
    """One scene as SVG, without the reference to a remote font."""
    size, keys, palette, awaited = SCENES[name]
    app = make_app(FixedFeed([] if name == "top-empty" else None), palette=palette)
    async with app.run_test(size=size) as user, asyncio.timeout(60):
        while not app.board.loaded:
            await user.pause(0.02)
        await user.press(*keys)
        chosen = app.agents.selected
        while chosen is not None and chosen["id"] not in app.board.turns:
            await user.pause(0.02)
        drawn, before = draw(app), ""
        while drawn != before or awaited not in screen_text(app):
            await user.pause(0.1)
            drawn, before = draw(app), drawn
    return re.sub(r"\s*@font-face \{.*?\}\n|<!-- .*? -->", "\n", drawn, flags=re.DOTALL)


@pytest.mark.parametrize("name", SCENES)
def test_the_pictures_are_up_to_date(name: str) -> None:
    """The pictures in the documentation show the current program."""
    shown, path = asyncio.run(picture(name)), PICTURES / f"{name}.svg"
    if os.environ.get("WRITE_PICTURES") == "yes":
        PICTURES.mkdir(exist_ok=True)
        path.write_text(shown, encoding="utf-8")
    assert "http" not in re.sub(r'xmlns="[^"]*"', "", shown), "a picture must not fetch anything"
    assert path.read_text(encoding="utf-8") == shown, "update it with WRITE_PICTURES=yes"
