"""Which typed skills start an effort, and the defaults of a new effort."""

from pathlib import Path

import pytest

from claude_headspace.config import Settings
from claude_headspace.engine.effort_start import default_metadata, is_excluded


@pytest.mark.parametrize(
    ("entries", "excluded"),
    [
        ((), False),
        (("fix",), True),
        (("brainstorm",), False),
        (("/code/shop",), True),
        (("/code",), True),
        (("/code/shop:fix",), True),
        (("/code/shop:brainstorm",), False),
        (("~/shop",), False),
    ],
)
def test_skills_and_projects_can_be_excluded(entries: tuple[str, ...], excluded: bool) -> None:
    """By the name of the skill, by the directory of the project, or by both."""
    assert is_excluded(Settings(effort_except=entries), "fix", "/code/shop") is excluded


def test_a_home_directory_is_expanded() -> None:
    """`~` is the home directory of the user."""
    assert is_excluded(Settings(effort_except=("~/shop:fix",)), "fix", f"{Path.home()}/shop")


def test_typing_can_be_off() -> None:
    """For all skills and projects."""
    assert is_excluded(Settings(effort_start="off"), "fix", "/code/shop")


def test_limits_and_gates_have_defaults_in_the_settings() -> None:
    """Requirement: heartbeat, overflow and gates have defaults in the configuration. Built-in values are left out."""
    assert default_metadata(Settings()) == {}
    settings = Settings(effort_heartbeat_limit=20, effort_overflow_at=80, effort_gates=("AGENTS.md",))
    expected = {"heartbeat_limit": 20, "overflow_at": 80, "gates": {"directives": ["AGENTS.md"]}}
    assert default_metadata(settings) == expected
