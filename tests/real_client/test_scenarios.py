"""Headspace is right about the real Claude Code: every state on the way, every command and turn in the end.

The scenarios are in `scenarios.py` and `lives.py`, and read in ten lines each. They run with both versions of the
client, in a real terminal, with a model that says what the scenario wrote.
"""

import pytest

from tests.real_client.conftest import Played
from tests.real_client.lives import ALL, UNHEARD
from tests.real_client.play import Take
from tests.real_client.program import VERSIONS

HEARD_TAKES = [Take(scenario, version) for scenario in ALL for version in VERSIONS]
UNHEARD_TAKES = [
    Take(take.scenario, take.version, heard=False) for take in HEARD_TAKES if take.scenario.name in UNHEARD
]


@pytest.mark.parametrize("take", HEARD_TAKES, ids=lambda take: take.name)
def test_every_state_is_shown(take: Take, played: Played) -> None:
    """Each state is shown in its turn and no other, and in the end all that happened is understood."""
    assert played[take.name].result()


@pytest.mark.parametrize("take", UNHEARD_TAKES, ids=lambda take: take.name)
def test_a_session_that_nobody_heard_is_understood_afterwards(take: Take, played: Played) -> None:
    """With the daemon down for the whole session, and started afterwards, commands and turns are the same."""
    played[take.name].result()
