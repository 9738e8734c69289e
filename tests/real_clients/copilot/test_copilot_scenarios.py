"""Headspace shows every state of the real Copilot CLI and records every command and turn."""

import pytest

from claude_headspace.clients.catalog import CLIENTS
from tests.real_client.cases import Case
from tests.real_client.conftest import Results
from tests.real_clients.copilot.scenarios import ALL, WITHOUT_DAEMON
from tests.real_clients.homes import CopilotHome

[VERSION] = CLIENTS["copilot"].tested_versions
CASES = [Case(scenario, VERSION, make_home=CopilotHome) for scenario in ALL]
CASES_WITHOUT_DAEMON = [
    Case(scenario, VERSION, with_daemon=False, make_home=CopilotHome)
    for scenario in ALL
    if scenario.name in WITHOUT_DAEMON
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_every_state_is_shown(case: Case, results: Results) -> None:
    """Exactly the expected states are shown in order. At the end commands and turns are as expected."""
    assert results[case.name].result()


@pytest.mark.parametrize("case", CASES_WITHOUT_DAEMON, ids=lambda case: case.name)
def test_a_session_without_a_daemon_is_recorded_afterwards(case: Case, results: Results) -> None:
    """A daemon that starts after the session records the same commands and turns."""
    results[case.name].result()
