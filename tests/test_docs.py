"""The documentation says what is true: generated blocks are fresh, links lead somewhere, commands exist."""

import importlib.util
import re
import shlex
from pathlib import Path
from types import ModuleType

import pytest
from typer.main import get_command

from claude_headspace.kernel.wire import HOOKS
from claude_headspace.main import application

ROOT = Path(__file__).resolve().parent.parent
FRONT = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "bench/README.md")
PAGES = [*(ROOT / name for name in FRONT), *sorted((ROOT / "docs").rglob("*.md"))]


def reference() -> ModuleType:
    """The generator of the reference blocks."""
    spec = importlib.util.spec_from_file_location("reference", ROOT / "docs/reference.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_generated_blocks_are_fresh(page: Path) -> None:
    """Every block that is made from the program is as the program would make it now."""
    text = page.read_text(encoding="utf-8")
    assert reference().rendered(text) == text, "run `.venv/bin/python docs/reference.py`"


def test_every_block_stands_somewhere() -> None:
    """Settings, events, endpoints, stream, commands and the state machine are all documented."""
    text = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    missing = [name for name in reference().BLOCKS if f"<!-- begin generated: {name} -->" not in text]
    assert missing == []


def test_only_events_that_exist_are_explained() -> None:
    """The meanings of events name events of Claude Code."""
    assert set(reference().MEANING) <= set(HOOKS)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    """Every relative link of a page leads to a file or folder that is there."""
    targets = re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text(encoding="utf-8"))
    assert [target for target in targets if not (page.parent / target).exists()] == []


def test_commands_in_the_readme_exist() -> None:
    """Every `bin/…` line of the README names a program that is there, and a command that it knows."""
    commands = get_command(application()).commands  # type: ignore[attr-defined]  # a group
    lines = re.findall(r"^(bin/\S+.*?)(?:\s+#.*)?$", (ROOT / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert lines
    for line in lines:
        program, *rest = shlex.split(line)
        assert (ROOT / program).is_file(), line
        if program == "bin/headspace":
            assert rest[0] in commands, line
