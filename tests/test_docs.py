"""The documentation says what is true: generated blocks are fresh, links lead somewhere, commands exist."""

import importlib.util
import json
import re
import shlex
import subprocess
import sys
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


# --- the cookbook of roles ---

ROLES = (ROOT / "docs/roles.md").read_text(encoding="utf-8")
FILES = re.findall(r"^`(/home/ann/[^`\n]+)`\n\n```markdown\n(.*?)```", ROLES, re.MULTILINE | re.DOTALL)
EXAMPLES = re.findall(r"```console\n\$ headspace ([^\n]+)\n(.*?)```", ROLES, re.DOTALL)


@pytest.mark.parametrize(("command", "printed"), EXAMPLES, ids=[command for command, _ in EXAMPLES])
def test_the_cookbook_of_roles_is_true(command: str, printed: str, tmp_path: Path) -> None:
    """The examples are typed in, in the order of the page, and print what it says."""
    typed = command.partition(" | jq ")[0]
    written = ROLES[: ROLES.index(f"$ headspace {command}\n")]
    for path, text in (each for each in FILES if f"`{each[0]}`" in written):
        file = tmp_path / path.removeprefix("/home/ann/")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    (tmp_path / "shop" / ".git").mkdir(parents=True)
    env = {"HEADSPACE_HOME": str(tmp_path / "home"), "HEADSPACE_CLAUDE_OS_ROOT": str(tmp_path / "os")}
    done = subprocess.run(
        [sys.executable, "-m", "claude_headspace", *shlex.split(typed)],
        cwd=tmp_path / "shop",
        env={**env, "PATH": "/usr/bin:/bin", "COLUMNS": "200"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode in (0, 1), done.stderr
    found = "\n".join(json.loads(done.stdout)["loaded"]) + "\n" if typed != command else done.stdout
    assert found.replace(str(tmp_path), "/home/ann") == printed


def test_the_cookbook_has_examples() -> None:
    """The test above reads the page that people read."""
    assert len(FILES) > 5
    assert len(EXAMPLES) > 4
