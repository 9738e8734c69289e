"""Headspace shows every state of the real Codex with its shared daemon, and answers its approvals.

The scenarios are in `daemon_scenarios.py`.
"""

import pytest

from tests.real_client.cases import Case
from tests.real_client.conftest import Results
from tests.real_clients.codex.daemon_scenarios import SCENARIOS, WITH_OLDER_MODEL, WITHOUT_DAEMON
from tests.real_clients.homes import MODEL, OLDER_MODEL, CodexDaemonHome

VERSION = "0.166.0"


class OlderModelHome(CodexDaemonHome):
    """A home with a model that has the first version of sub-agents. An option would start Codex without its daemon."""

    def prepare(self, model_url: str) -> None:
        """Write the configuration."""
        super().prepare(model_url)
        config = self.config_dir / "config.toml"
        config.write_text(config.read_text().replace(f'model = "{MODEL}"', f'model = "{OLDER_MODEL}"'))


CASES = [
    *(Case(scenario, VERSION, make_home=CodexDaemonHome) for scenario in SCENARIOS),
    *(Case(scenario, VERSION, make_home=OlderModelHome) for scenario in WITH_OLDER_MODEL),
    *(Case(scenario, VERSION, with_daemon=False, make_home=CodexDaemonHome) for scenario in WITHOUT_DAEMON),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_every_state_is_shown(case: Case, results: Results) -> None:
    """Exactly the expected states are shown in order. At the end commands and turns are as expected."""
    results[case.name].result()
