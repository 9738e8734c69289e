"""`headspace top` with the agents of the demo: a picture of the documentation."""

import asyncio
import re

import pytest

from claude_headspace.surfaces.cli.options import now
from claude_headspace.surfaces.tui.app import Top
from claude_headspace.surfaces.tui.feed import LiveFeed
from tests.demo.still import keep, still_demo
from tests.tui.board import RecordingActions


def test_top_shows_the_agents(monkeypatch: pytest.MonkeyPatch) -> None:
    """The picture shows the agents, fetches nothing, and contains no path of this machine."""
    with still_demo() as sandbox:
        for name, value in sandbox.environment.items():
            monkeypatch.setenv(name, value)
        drawn = asyncio.run(draw())
    assert "able-ant" in drawn
    assert "golden-trout" in drawn
    assert "/tmp" not in drawn
    assert "http" not in re.sub(r'xmlns="[^"]*"', "", drawn), "a picture must not fetch anything"
    keep("demo-top.svg", drawn.encode())


async def draw() -> str:
    """The screen, once the conversation of the selected agent is loaded."""
    app = Top(LiveFeed(), RecordingActions(), now, "dark", bell=False)
    async with app.run_test(size=(150, 34)) as user, asyncio.timeout(60):
        while not app.board.loaded:
            await user.pause(0.05)
        await user.press("down")
        while (chosen := app.agents.selected) is None or chosen["id"] not in app.board.turns:
            await user.pause(0.05)
        await user.pause(0.5)
        drawn = app.export_screenshot(title="headspace top")
    return re.sub(r"\s*@font-face \{.*?\}\n|<!-- .*? -->", "\n", drawn, flags=re.DOTALL)
