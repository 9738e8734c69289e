"""Headspace shows every state of the real Codex without its daemon, and records every command and turn."""

import pytest

from claude_headspace.clients.catalog import CLIENTS
from tests.real_client.cases import Case
from tests.real_client.conftest import Results
from tests.real_clients.codex.embedded_scenarios import ALL, WITHOUT_DAEMON
from tests.real_clients.homes import CodexHome

CASES = [
    Case(scenario, version, make_home=CodexHome) for scenario in ALL for version in CLIENTS["codex"].tested_versions
]
CASES_WITHOUT_DAEMON = [
    Case(case.scenario, case.version, with_daemon=False, make_home=CodexHome)
    for case in CASES
    if case.scenario.name in WITHOUT_DAEMON
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_every_state_is_shown(case: Case, results: Results) -> None:
    """Exactly the expected states are shown in order. At the end commands and turns are as expected."""
    assert results[case.name].result()


@pytest.mark.parametrize("case", CASES_WITHOUT_DAEMON, ids=lambda case: case.name)
def test_a_session_without_headspace_is_recorded_afterwards(case: Case, results: Results) -> None:
    """A Headspace that starts after the session records the same commands and turns."""
    results[case.name].result()
