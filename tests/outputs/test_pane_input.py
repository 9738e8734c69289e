"""Whether a client is ready for a prompt."""

import pytest

from claude_headspace.outputs.pane_input import require_ready
from claude_headspace.outputs.tmux import Refused
from tests.kernel.story import new_agent


@pytest.mark.parametrize("client", ["codex", "opencode", "copilot"])
def test_a_client_that_reports_with_its_first_prompt_can_receive_it(client: str) -> None:
    """If `headspace run` started it: then the pane is known, and its input box is read before anything is typed."""
    require_ready(new_agent(client=client, wrapper_pid=7))
    with pytest.raises(Refused, match="has not reported yet"):
        require_ready(new_agent(client=client))


@pytest.mark.parametrize("client", ["claude-code", "gemini"])
def test_a_client_that_reports_at_its_start_must_have_reported(client: str) -> None:
    """Until then it may show a question of its first start."""
    with pytest.raises(Refused, match="has not reported yet"):
        require_ready(new_agent(client=client, wrapper_pid=7))
