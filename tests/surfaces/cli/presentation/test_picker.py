"""The picker of agents."""

from claude_headspace.surfaces.cli.picker import split_keys
from claude_headspace.surfaces.cli.presentation.picker import Picker
from tests.tui.board import clock, make_agent, sample_agents


def shown(picker: Picker, height: int = 14) -> list[str]:
    """Its lines as text."""
    return ["".join(span.text for span in line) for line in picker.lines(clock(), 100, height)]


def chosen(picker: Picker) -> str | None:
    """The name of the selected agent."""
    return picker.selected["name"] if picker.selected else None


def test_typing_filters_and_arrows_move() -> None:
    """The first agent is selected; another text starts over."""
    picker = Picker(sample_agents())
    assert chosen(picker) == "able-ant"
    assert "❯ ◆ able-ant" in shown(picker)[1]
    assert "wants to run: docker image prune" in shown(picker)[1]
    for key in ("down", "down", "up"):
        picker.press(key)
    assert chosen(picker) == "nimble-kestrel"
    for key in "elk":
        picker.press(key)
    assert chosen(picker) == "quick-elk"
    assert shown(picker)[0].startswith("Agent: elk▏  1 of 9")
    picker.press("x")
    assert chosen(picker) is None
    assert "No agent matches." in shown(picker)[1]
    picker.press("clear")
    assert chosen(picker) == "able-ant"


def test_a_long_list_scrolls() -> None:
    """The selected agent stays visible, also on a low terminal."""
    picker = Picker([make_agent(f"agent-{number}", "idle", 1) for number in range(200)])
    for _ in range(150):
        picker.press("down")
    lines = shown(picker, height=6)
    assert len(lines) == 6
    assert any("❯ ○ agent-150" in line for line in lines)


def test_keys_of_a_terminal() -> None:
    """Arrows, control keys and characters; unknown sequences do nothing."""
    assert split_keys("\x1b[A\x1bOBñ\x7f\r") == ["up", "down", "ñ", "backspace", "enter"]
    assert split_keys("\x1b") == ["escape"]
    assert split_keys("a\x1b[15~") == ["a"]
    assert split_keys("\x01\x00") == []
