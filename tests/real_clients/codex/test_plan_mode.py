"""Headspace shows the questions and plans of the real Codex, with and without its daemon."""

import pytest

from claude_headspace.clients.catalog import CLIENTS
from tests.real_client.cases import Case
from tests.real_client.conftest import Results
from tests.real_clients.codex.plan_scenarios import EMBEDDED, IN_DAEMON
from tests.real_clients.homes import CodexDaemonHome, CodexHome

VERSION = CLIENTS["codex"].tested_versions[-1]
CASES = [
    *(Case(scenario, VERSION, make_home=CodexHome) for scenario in EMBEDDED),
    *(Case(scenario, VERSION, make_home=CodexDaemonHome) for scenario in IN_DAEMON),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_every_state_is_shown(case: Case, results: Results) -> None:
    """Exactly the expected states are shown in order. At the end commands and turns are as expected."""
    assert results[case.name].result()
