"""The pictures of the documentation: made here, and compared with what the program shows now.

`WRITE_PICTURES=yes pytest tests/tui/test_pictures.py` makes them anew; look at them before they are kept.
"""

import asyncio
import os
import re
from pathlib import Path

import pytest

from tests.tui.board import FixedFeed, top

PICTURES = Path(__file__).resolve().parents[2] / "docs" / "pictures"

SCENES: dict[str, tuple[tuple[int, int], list[str], str]] = {
    "top": ((150, 32), ["down"], "dark"),
    "top-light": ((150, 32), ["down"], "light"),
    "top-narrow": ((92, 30), ["down"], "dark"),
    "top-small": ((60, 15), [], "dark"),
    "top-why": ((124, 24), ["down", "w"], "dark"),
    "top-send": ((100, 26), ["down", "s", *"Use SQLite for now."], "dark"),
    "top-filter": ((100, 20), ["slash", *"api"], "dark"),
    "top-help": ((100, 36), ["question_mark"], "dark"),
    "top-empty": ((80, 14), [], "dark"),
}
"""What is shown, at which size, after which keys, in which theme."""


async def picture(name: str) -> str:
    """One scene as SVG, without the font that would be fetched from elsewhere."""
    size, keys, palette = SCENES[name]
    app = top(FixedFeed([] if name == "top-empty" else None), palette=palette)
    async with app.run_test(size=size) as person:
        async with asyncio.timeout(30):
            while not app.board.loaded:
                await person.pause(0.02)
            await person.press(*keys)
            chosen = app.agents.selected
            while chosen is not None and chosen["id"] not in app.board.turns:
                await person.pause(0.02)
        await person.pause(0.1)
        drawn = app.export_screenshot(title=f"headspace top · {size[0]}×{size[1]}")
    return re.sub(r"\s*@font-face \{.*?\}\n|<!-- .*? -->", "\n", drawn, flags=re.DOTALL)


@pytest.mark.parametrize("name", SCENES)
def test_the_picture_is_what_is_shown(name: str) -> None:
    """The documentation shows the program as it is."""
    shown, path = asyncio.run(picture(name)), PICTURES / f"{name}.svg"
    if os.environ.get("WRITE_PICTURES") == "yes":
        PICTURES.mkdir(exist_ok=True)
        path.write_text(shown, encoding="utf-8")
    assert "http" not in re.sub(r'xmlns="[^"]*"', "", shown), "a picture must not fetch anything"
    assert path.read_text(encoding="utf-8") == shown, "look at it, and keep it with WRITE_PICTURES=yes"
