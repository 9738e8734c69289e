"""Parsing a SKILL.md; invalid files never raise."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claude_headspace.kernel.effort.skill import parse_skill, skill_metadata, starts_effort, typed_skill

SKILL = """---
name: brainstorm
description: Thinks about a problem
  from several sides.
phases: [look, think, decide]
preload:
  - notes.md
  - "docs/why.md"
tries: 3
quiet: true
---
# Brainstorm
"""


def test_the_frontmatter_is_parsed() -> None:
    """Strings over several lines, lists in both forms, integers and booleans."""
    skill = parse_skill("x", SKILL, "/skills/x/SKILL.md")
    assert (skill.name, skill.description) == ("brainstorm", "Thinks about a problem from several sides.")
    assert skill.phases == ("look", "think", "decide")
    assert skill.preload == ("notes.md", "docs/why.md")
    assert (skill.settings["tries"], skill.settings["quiet"]) == (3, True)


def test_phases_can_be_headings() -> None:
    """Without a list of phases, the phase headings count, in order."""
    skill = parse_skill("fix", "# Fix\n\n## Phase 1: Look around\ntext\n### Phase 2 – Repair ##\n## Notes\n")
    assert (skill.name, skill.phases) == ("fix", ("Look around", "Repair"))


def test_an_empty_file_is_a_skill_with_the_given_name() -> None:
    """All settings are optional."""
    assert parse_skill("fix", "").name == "fix"


@given(st.text(max_size=400))
def test_any_file_is_parsed(text: str) -> None:
    """Also with broken frontmatter."""
    for content in (text, f"---\n{text}\n---\n{text}", f"---\nphases:\n{text}"):
        assert isinstance(parse_skill("x", content).phases, tuple)


@pytest.mark.parametrize(
    ("frontmatter", "starts"),
    [
        ("phases: [look, repair]", True),
        ("phases: [look, repair]\neffort: false", False),
        ("effort: true", True),
        ("description: no phases", False),
    ],
)
def test_a_skill_with_declared_phases_starts_an_effort(frontmatter: str, starts: bool) -> None:
    """Headings are not a declaration: many skills have steps."""
    assert starts_effort(parse_skill("fix", f"---\n{frontmatter}\n---\n## Step 1: Look\n")) is starts


@pytest.mark.parametrize(
    ("prompt", "name"),
    [
        ("/implement", "implement"),
        ("  /fix the cart\nplease", "fix"),
        ("/usr/bin/env is a path", None),
        ("run /fix", None),
        ("//", None),
        ("/plugin:fix it", None),
    ],
)
def test_the_skill_of_a_prompt(prompt: str, name: str | None) -> None:
    """Only at the beginning of the prompt, and only a name."""
    assert typed_skill(prompt) == name


def test_a_skill_sets_limits_and_gates() -> None:
    """Requirement: heartbeat, overflow and gates have defaults in the skill. Other values are ignored."""
    text = "---\nheartbeat_limit: 20\noverflow_at: many\ngates: [session, AGENTS.md]\n---\n"
    expected = {"heartbeat_limit": 20, "gates": {"session": True, "directives": ["AGENTS.md"]}}
    assert skill_metadata(parse_skill("fix", text)) == expected
    assert skill_metadata(None) == {}
