"""A real client that a tool of another client starts."""

from pathlib import Path

from tests.real_client.model import reply, text, tool
from tests.real_clients.homes import CopilotHome, GeminiHome
from tests.real_clients.models import GeminiModel
from tests.real_clients.programs import find_program
from tests.real_clients.test_control import opened
from tests.real_clients.test_dialogs import prompt
from tests.support import wait_until

NESTED = {"Say hello": [reply(text("Hello."), held="hello")]}


class NestingHome(CopilotHome):
    """A home of Copilot CLI whose shell finds Gemini CLI."""

    def __init__(self, root: Path, version: str = "") -> None:
        super().__init__(root, version)
        inner = GeminiHome(root / "inner")
        (root / "bin" / "gemini").symlink_to(find_program(inner.client_name, inner.version))
        self.inner_config_dir = inner.config_dir.rename(root / ".gemini")
        inner.config_dir = self.inner_config_dir
        inner.prepare("")


def test_gemini_in_copilot_is_its_own_agent(tmp_path: Path) -> None:
    """It inherits the variables and the pane of Copilot CLI, and is its child, with its own state and turns."""
    with GeminiModel(NESTED) as model:
        variables = " ".join(f"{name}={value.format(model=model.url)}" for name, value in GeminiHome.variables.items())
        call = tool("bash", command=f"{variables} gemini -p 'Say hello'", description="start it")
        script = {"Nest it": [reply(call), reply(text("Nested."))]}
        with opened(tmp_path, NestingHome, script) as workspace:
            home = workspace.home
            assert isinstance(home, NestingHome)
            options = ("--client=gemini", f"--config-dir={home.inner_config_dir}")
            assert workspace.headspace("install", "--yes", *options).returncode == 0
            client = home.open_client(workspace.terminals, workspace.model.url, "--allow-all-tools")
            client.wait_until_ready()
            workspace.agent("idle")
            prompt(client, "Nest it")
            wait_until(model.reached("hello").is_set, "the prompt of the inner client")
            outer = workspace.agent("working", client="copilot")
            inner = workspace.agent("working", client="gemini", parent_id=outer["id"])
            assert (inner["tmux"]["pane"], outer["tmux"]["pane"]) == (None, client.pane)
            model.gate("hello").set()
            workspace.agent("ended", id=inner["id"])
            workspace.agent("idle", id=outer["id"])
            assert len(workspace.daemon.agents()) == 2
            assert workspace.user_turns(inner) == ["Say hello"]
            assert workspace.user_turns(outer) == ["Nest it"]
            assert workspace.daemon.verified()
