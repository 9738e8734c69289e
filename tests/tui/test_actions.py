"""What `top` reports about its actions."""

from claude_headspace.surfaces.tui.actions import answer_message
from tests.tui.test_answer_steps import SUGGESTIONS

WAIT = {"kind": "permission", "text": "Go?", "tool": "Bash", "summary": "make", "suggestions": SUGGESTIONS}


def test_a_grant_is_confirmed_in_words() -> None:
    """With what it allows and where it is stored; without a grant only the answer."""
    allowed = "Allowed: able-ant wants to run: make"
    assert answer_message("able-ant", WAIT, {"decision": "allow"}) == allowed
    granted = answer_message("able-ant", WAIT, {"decision": "allow", "grant": ["s1"]})
    assert granted == f"{allowed}. Grants: Allow Bash(make:*), for this project, for you"
