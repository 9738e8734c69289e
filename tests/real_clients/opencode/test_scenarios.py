"""Headspace shows every state of the real opencode, in a real terminal with a scripted model."""

import pytest

from claude_headspace.clients.opencode.description import CLIENT
from tests.real_client.cases import Case
from tests.real_client.conftest import Results
from tests.real_clients.opencode.home import PreparedHome
from tests.real_clients.opencode.scenarios import ALL, WITHOUT_DAEMON

CASES = [Case(scenario, version, make_home=PreparedHome) for scenario in ALL for version in CLIENT.tested_versions]
CASES_WITHOUT_DAEMON = [
    Case(case.scenario, case.version, with_daemon=False, make_home=PreparedHome)
    for case in CASES
    if case.scenario.name in WITHOUT_DAEMON
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_every_state_is_shown(case: Case, results: Results) -> None:
    """Exactly the expected states are shown in order. At the end commands and turns are as expected."""
    assert results[case.name].result()


@pytest.mark.parametrize("case", CASES_WITHOUT_DAEMON, ids=lambda case: case.name)
def test_a_session_without_a_daemon_is_recorded_afterwards(case: Case, results: Results) -> None:
    """A daemon that starts after the session records the same commands and turns."""
    results[case.name].result()
