"""What a SKILL.md says, and that a strange one says nothing and breaks nothing."""

from hypothesis import given
from hypothesis import strategies as st

from claude_headspace.kernel.effort.skill import parse_skill

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


def test_the_frontmatter_is_read() -> None:
    """Texts over several lines, lists in both forms, numbers and booleans."""
    skill = parse_skill("x", SKILL, "/skills/x/SKILL.md")
    assert (skill.name, skill.description) == ("brainstorm", "Thinks about a problem from several sides.")
    assert skill.phases == ("look", "think", "decide")
    assert skill.preload == ("notes.md", "docs/why.md")
    assert (skill.settings["tries"], skill.settings["quiet"]) == (3, True)


def test_phases_may_be_headings() -> None:
    """Without a list of phases the headings that name one count, in order."""
    skill = parse_skill("fix", "# Fix\n\n## Phase 1: Look around\ntext\n### Phase 2 – Repair ##\n## Notes\n")
    assert (skill.name, skill.phases) == ("fix", ("Look around", "Repair"))


def test_a_file_without_anything_is_a_skill_by_its_name() -> None:
    """Nothing is needed."""
    assert parse_skill("fix", "").name == "fix"


@given(st.text(max_size=400))
def test_whatever_a_file_holds_it_is_read(text: str) -> None:
    """Total: also with broken frontmatter."""
    for written in (text, f"---\n{text}\n---\n{text}", f"---\nphases:\n{text}"):
        assert isinstance(parse_skill("x", written).phases, tuple)
