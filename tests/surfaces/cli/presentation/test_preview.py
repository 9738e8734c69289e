"""The preview of an agent as lines."""

from claude_headspace.surfaces.cli.output import Line
from claude_headspace.surfaces.cli.presentation.preview import preview_lines, screen_lines
from claude_headspace.surfaces.client.preview import Preview
from tests.tui.board import clock, conversation, make_agent, sample_agents, tool_call


def plain(lines: list[Line]) -> str:
    """The text without roles."""
    return "\n".join("".join(span.text for span in line) for line in lines)


def test_a_screen_keeps_its_colours() -> None:
    """Empty lines at its end are left out; a coloured one is not empty."""
    lines = screen_lines("\x1b[1;31mHello\x1b[0m\n\n\x1b[41m  \x1b[0m\n  \n\n")
    assert [[tuple(span) for span in line] for line in lines] == [
        [("Hello", "ansi:1;31")],
        [],
        [("  ", "ansi:41")],
    ]


def test_without_a_screen_the_running_tool_and_the_last_message_are_shown() -> None:
    """With the reason why there is no screen."""
    agent = make_agent("able-ant", "working", 5, calls=(tool_call("Bash", "npm test", 12),))
    preview = Preview(None, problem="able-ant does not run in tmux.", turns=conversation("id-able-ant"))
    shown = plain(preview_lines(agent, preview, clock(), 80))
    assert "able-ant does not run in tmux." in shown
    assert "Bash: npm test (since 13:59:48)" in shown
    assert "Last message, 3 min ago\n  The tests need a database" in shown
    assert "Add a test for expired cards" not in shown


def test_without_a_screen_requests_are_shown() -> None:
    """With how to answer them, and the prompt if there is no reply yet."""
    agent = sample_agents()[0]
    shown = plain(preview_lines(agent, Preview(None, turns=conversation("x")[:1]), clock(), 80))
    assert "wants to run: docker image prune --all" in shown
    assert "Your prompt, 10 min ago\n  Add a test for expired cards" in shown
