"""Whether a client is ready for a prompt."""

import subprocess
import sys

import pytest

from claude_headspace.clients.input_box import InputBox
from claude_headspace.kernel.agent import AgentState, Wait
from claude_headspace.outputs.pane_input import require_no_draft, require_ready
from claude_headspace.outputs.tmux import Refused, find_agent_pane
from tests.kernel.story import new_agent

WAIT = Wait(id="w1", agent_id="agent-1", kind="permission", text="", opened_at=1)


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


@pytest.mark.parametrize(("pane", "hint"), [("%1", "headspace jump"), (None, "headspace show")])
def test_an_agent_at_a_dialog_gets_no_prompt(pane: str | None, hint: str) -> None:
    """The hint names a command that works: without a pane, its terminal cannot be shown."""
    with pytest.raises(Refused, match="waits at a dialog") as refusal:
        require_ready(new_agent(state=AgentState.WAITING, waits=(WAIT,), tmux_pane=pane))
    assert hint in refusal.value.hint


@pytest.mark.parametrize("client", ["claude-code", "copilot", "gemini"])
def test_an_agent_in_shell_mode_gets_no_prompt(client: str) -> None:
    """Nothing can be sent or deleted there: Esc leaves the mode."""
    agent = new_agent(client=client)
    with pytest.raises(Refused, match="shell mode") as refusal:
        require_no_draft(agent, InputBox("!"), keep_draft=True)
    assert "Press Esc" in refusal.value.hint
    with pytest.raises(Refused, match="a draft in its input box: “!ls”"):
        require_no_draft(agent, InputBox("!ls"), keep_draft=False)
    require_no_draft(agent, InputBox(""), keep_draft=False)


def test_an_agent_in_a_shared_process_has_no_terminal_of_its_own() -> None:
    """The refusal says so, and what has one. Other agents without a pane do not run in tmux."""
    waiting = [sys.executable, "-c", "input()", "app-server"]
    with subprocess.Popen(waiting, stdin=subprocess.PIPE) as process:
        with pytest.raises(Refused, match="shares between terminals") as refusal:
            find_agent_pane("fox", None, process.pid)
        process.kill()
    assert "headspace run" in refusal.value.hint
    with pytest.raises(Refused, match="does not run in tmux"):
        find_agent_pane("fox", None, None)
