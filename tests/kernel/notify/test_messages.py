"""The text of a notification about a request."""

import pytest

from claude_headspace.kernel.notify.messages import EXCERPT, HIDDEN, MAX_LINES, request_message
from claude_headspace.kernel.wait.views import RequestView
from tests.kernel.notify.cases import waiting_agent

AGENT = waiting_agent()
DIFF = "# note\n--- a/app.py\n+++ b/app.py\n@@ -1 +1 @@\n-old\n+new\n"


def message(**request: object) -> str:
    """The text without the location, which is its last line."""
    text, _, location = request_message(AGENT, AGENT.waits[0], RequestView(**request)).rpartition("\n")  # type: ignore[arg-type]
    assert location == "in app on laptop"
    return text


@pytest.mark.parametrize(
    ("request_", "text"),
    [
        ({"text": "title: Broken login\nlabel: bug"}, "title: Broken login\nlabel: bug"),
        ({"text": "Edit app.py", "diff": DIFF}, "Edit app.py\n# note\n@@ -1 +1 @@\n-old\n+new"),
        ({"text": "Edit app.py", "diff": "Binary files differ\n"}, "Edit app.py\nBinary files differ"),
        ({"text": "ls", "arguments": {"command": "ls", "run_in_background": True}}, "ls\nrun_in_background: true"),
        ({"text": "make", "complete": False}, f"make\n{EXCERPT}"),
        ({"text": "make \u202e"}, f"make ⟦U+202E⟧\n{HIDDEN}"),
        ({"text": "Write a⟦U+000A⟧b", "path": "a\nb"}, f"Write a⟦U+000A⟧b\n{HIDDEN}"),
    ],
)
def test_a_request_is_shown_by_its_arguments_or_its_diff(request_: dict[str, object], text: str) -> None:
    """It says if it is an excerpt, and if it contains hidden characters."""
    assert message(**request_) == text


@pytest.mark.parametrize("text", ["x\n" * 100, "x" * 5_000])
def test_a_long_request_is_an_excerpt(text: str) -> None:
    """It begins with the beginning, and says so."""
    shown = message(text=text)
    assert shown.endswith(f"x…\n{EXCERPT}")
    assert len(shown) < 700
    assert shown.count("\n") <= MAX_LINES
