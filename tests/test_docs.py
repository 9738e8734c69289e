"""The documentation is complete and correct: all interfaces are listed, all names exist, generated blocks are current.

`tests/stories/test_documentation.py` runs the examples.
"""

import importlib.util
import json
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from claude_headspace.clients.claude_code.hooks.events import NOT_REGISTERED, REGISTERED
from claude_headspace.clients.claude_code.wire import HOOKS
from claude_headspace.config import PathBelow, Paths, describe_settings, effective_settings, find_paths
from claude_headspace.kernel.agent import AgentState
from claude_headspace.kernel.react import STREAM
from claude_headspace.main import HEADSPACE
from claude_headspace.surfaces.api.metrics import Metrics
from claude_headspace.surfaces.api.routes import ENDPOINTS
from claude_headspace.surfaces.cli.arguments.parse import Parsed
from claude_headspace.surfaces.tui.keymap import apply_entries
from claude_headspace.surfaces.tui.keys import KEYS

ROOT = Path(__file__).resolve().parent.parent
FRONT = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "bench/README.md")
PAGES = [*(ROOT / name for name in FRONT), *sorted((ROOT / "docs").rglob("*.md"))]
CURRENT = [page for page in PAGES if page.parent.name != "decisions"]
"""Pages that describe the current state. Decision records may describe earlier states."""
TREE = ("src", "web", "tests", "bench", "bin", "docs", "plugin", ".claude-plugin", ".ci")
"""The folders of the checkout. Pages name paths below `src` by their package."""
PACKAGES = ("inputs", "journal", "kernel", "outputs", "surfaces", "evolve")
VARIABLES = {f"HEADSPACE_{name.upper()}" for name, _, _ in describe_settings()}


def reference() -> ModuleType:
    """Load the generator of the reference blocks."""
    spec = importlib.util.spec_from_file_location("reference", ROOT / "docs/reference.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_generated_blocks_are_fresh(page: Path) -> None:
    """Every generated block is identical to what the program generates now."""
    text = page.read_text(encoding="utf-8")
    assert reference().rendered(text) == text, "run `.venv/bin/python docs/reference.py`"


def test_generated_files_are_current() -> None:
    """The files of the plugin equal the generated ones."""
    for path, text in reference().generated_files().items():
        assert (ROOT / path).read_text() == text, "run `.venv/bin/python docs/reference.py`"


def test_every_generated_block_is_used() -> None:
    """Every generated block is on a page."""
    text = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    missing = [name for name in reference().BLOCKS if f"<!-- begin generated: {name} -->" not in text]
    assert missing == []


def test_only_events_that_exist_are_explained() -> None:
    """Every documented event effect belongs to an event of Claude Code."""
    assert set(reference().MEANING) <= set(HOOKS)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    """Every relative link of a page leads to an existing file or folder."""
    targets = re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text(encoding="utf-8"))
    assert [target for target in targets if not (page.parent / target).exists()] == []


def test_commands_in_the_readme_exist() -> None:
    """Every `bin/…` line of the README names an existing program and command."""
    commands = [entry.name for entry in HEADSPACE.commands]
    lines = re.findall(r"^(bin/\S+.*?)(?:\s+#.*)?$", (ROOT / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert lines
    for line in lines:
        program, *rest = shlex.split(line)
        assert (ROOT / program).is_file(), line
        if program == "bin/headspace":
            assert rest[0] in commands, line


# --- completeness ---


def command_paths(entry: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield every command with its path, including sub-commands."""
    yield path, entry.load()
    for child in getattr(entry, "commands", ()):
        yield from command_paths(child, (*path, child.name))


def reported(counter: str = "") -> list[str]:
    """Return the names of all metrics, with a suffix for counters."""
    return [each.name + (counter if each.type == "counter" else "") for each in Metrics().registry.collect()]


COMMANDS = dict(command_paths(HEADSPACE))

DOCUMENTED: dict[str, list[str]] = {
    "cli.md": [f"### `{' '.join(('headspace', *path))}`" for path in COMMANDS],
    "configuration.md": [f"| `{name}` |" for name, _, _ in describe_settings()],
    "api.md": [f"| `{each.method} {each.path}` |" for each in ENDPOINTS] + [f"| `{name}` |" for name in STREAM],
    "events.md": [f"| `{name}` |" for name in HOOKS] + [f"| `{state.value}`" for state in AgentState],
    "hooks.md": [f"| `{name}` |" for name in (*REGISTERED, *NOT_REGISTERED)],
    "operations.md": [f"| `{name}` |" for name in reported(counter="_total")],
    "terminal.md": [f"| {key.description} |" for key in KEYS],
}
"""What each page must contain."""


@pytest.mark.parametrize("page", DOCUMENTED)
def test_everything_is_documented(page: str) -> None:
    """Every command, setting, endpoint, event, state, metric and key is on its page."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    assert DOCUMENTED[page]
    assert [name for name in DOCUMENTED[page] if name not in text] == []


def test_every_file_of_a_home_is_documented() -> None:
    """The configuration page names every file of an installation."""
    text = (ROOT / "docs/configuration.md").read_text(encoding="utf-8")
    paths = find_paths({"HEADSPACE_HOME": "/home"})
    files = [getattr(paths, name) for name, each in vars(Paths).items() if isinstance(each, PathBelow)]
    assert files
    assert [path.name for path in files if path.name not in text] == []


def test_every_shortcut_of_the_page_is_documented() -> None:
    """Each description of the table of shortcuts is in docs/dashboard.md."""
    text = (ROOT / "docs/dashboard.md").read_text(encoding="utf-8")
    shortcuts = (ROOT / "web/src/lib/shortcuts.ts").read_text(encoding="utf-8")
    descriptions = re.findall(r'^  \{ name: .*description: "([^"]+)"', shortcuts, re.MULTILINE)
    assert len(descriptions) > 20
    assert [each for each in descriptions if each not in text] == []


def test_the_board_of_grafana_shows_every_metric_and_no_other() -> None:
    """The Grafana dashboard shows exactly the metrics that the program exports."""
    board = json.loads((ROOT / "docs/grafana.json").read_text(encoding="utf-8"))
    asked = " ".join(target["expr"] for panel in board["panels"] for target in panel["targets"])
    used = {re.sub(r"_(bucket|sum|count|total)$", "", name) for name in re.findall(r"headspace_\w+", asked)}
    assert used == set(reported())
    assert len({panel["id"] for panel in board["panels"]}) == len(board["panels"])


# --- names exist ---

SPANS = re.compile(r"`((?:bin/)?headspace [^`\n]+)`")
LINES = re.compile(r"^(?:\$ | +)?((?:bin/)?headspace (?!\[).+)$", re.MULTILINE)
BLOCKS = re.compile(r"```(?:bash|console|text)\n(.*?)```", re.DOTALL)


def typed(text: str) -> Iterator[str]:
    """Yield every Headspace command that a page names, in a sentence or in an example."""
    for block in BLOCKS.findall(text):
        yield from LINES.findall(block)
    yield from SPANS.findall(BLOCKS.sub("", text))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_commands_and_their_options_exist(page: Path) -> None:
    """Every Headspace command on a page exists and accepts the options shown."""
    for line in typed(page.read_text(encoding="utf-8")):
        words = re.split(r" (?:[|#]|--) |[;&]", line)[0].split()[1:]
        path: tuple[str, ...] = ()
        while words and (*path, words[0]) in COMMANDS:
            path = (*path, words.pop(0))
        rest = [word for word in words if re.fullmatch(r"--?[a-z][a-z-]*", word)]
        assert path or not words or not words[0][0].isalpha(), f"{line}: no such command"
        known = {*Parsed(COMMANDS[path].parameters).options, "--help", "-h"}
        assert COMMANDS[path].forwarded or set(rest) <= known, f"{line}: {set(rest) - known}"


@pytest.mark.parametrize("page", CURRENT, ids=lambda page: str(page.relative_to(ROOT)))
def test_files_and_variables_that_pages_name_exist(page: Path) -> None:
    """Every path of the checkout and every Headspace variable that a page names exists."""
    text = page.read_text(encoding="utf-8")
    files = re.findall(r"`((?:[\w.-]+/)+[\w.-]+\.(?:py|ts|svelte|sh|toml|json))`", text)
    roots = (ROOT, ROOT / "src/claude_headspace", ROOT / "src/claude_headspace/kernel", ROOT / "docs", ROOT / "web")
    ours = [name for name in files if name.split("/")[0] in (*TREE[1:], *PACKAGES)]
    assert [name for name in ours if not any((root / name).exists() for root in roots)] == []
    variables = set(re.findall(r"\bHEADSPACE_[A-Z_]*[A-Z]\b", text)) - VARIABLES
    assert not variables or variables <= set(re.findall(r"HEADSPACE_[A-Z_]*[A-Z]", programs()))


def test_every_promise_of_security_names_a_test() -> None:
    """Each row of a table with promises ends with files of tests, which exist."""
    rows = re.findall(r"^\| (?!promise|-).*$", (ROOT / "docs/security.md").read_text(encoding="utf-8"), re.MULTILINE)
    promises = [row for row in rows if re.search(r"`(tests/|test_)", row) or "the same file" in row]
    names = {name for row in promises for name in re.findall(r"`(?:tests/[\w./]*?)?(\w+\.(?:py|toml))`", row)}
    known = {path.name for path in (ROOT / "tests").rglob("*")}
    assert len(promises) >= 40
    assert names <= known


def programs() -> str:
    """Return the source text of all programs that read environment variables."""
    code = [
        *(ROOT / "src").rglob("*.py"),
        *(ROOT / "bin").iterdir(),
        ROOT / "hatch_build.py",
        ROOT / "tests/conftest.py",
    ]
    return "".join(path.read_text(encoding="utf-8") for path in code)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_headings_that_links_name_exist(page: Path) -> None:
    """Every link with an anchor leads to an existing heading."""
    links = re.findall(r"\]\((?!https?:)([^)#]*)#([^)]+)\)", page.read_text(encoding="utf-8"))
    assert [(file, to) for file, to in links if to not in headings(page.parent / file if file else page)] == []


def headings(page: Path) -> set[str]:
    """Return the anchors of a page's headings."""
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    titles = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}


def test_every_picture_is_shown() -> None:
    """Every picture is used by a page."""
    text = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    assert [path.name for path in (ROOT / "docs/pictures").iterdir() if f"pictures/{path.name}" not in text] == []


def test_every_page_can_be_found() -> None:
    """The README links to every page."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert [page.name for page in (ROOT / "docs").glob("*.md") if f"(docs/{page.name})" not in text] == []


# --- examples ---


def blocks(kind: str) -> list[tuple[Path, str]]:
    """Return every code block of a language, with its page."""
    found = re.compile(rf"```{kind}\n(.*?)```", re.DOTALL)
    return [(page, block) for page in PAGES for block in found.findall(page.read_text(encoding="utf-8"))]


@pytest.mark.parametrize(("page", "block"), blocks("json"), ids=lambda each: getattr(each, "name", ""))
def test_json_examples_are_json(page: Path, block: str) -> None:
    """Every JSON example is valid."""
    assert json.loads(block), page


@pytest.mark.parametrize(("page", "block"), blocks("toml"), ids=lambda each: getattr(each, "name", ""))
def test_toml_examples_can_be_used(page: Path, block: str, tmp_path: Path) -> None:
    """Every settings example loads. Rules, contacts and notifications have their own tests and are only parsed here."""
    assert tomllib.loads(block)
    first = block.partition("\n")[0]
    if page.name == "notifications.md" or re.match(r"# (policy|contacts|cases|redact|keys)\.toml", first):
        return
    paths = find_paths({"HEADSPACE_HOME": str(tmp_path)})
    if first == "# keys.toml":
        assert apply_entries(tomllib.loads(block)) != KEYS
        return
    paths.config_file.write_text(block, encoding="utf-8")
    _, origins = effective_settings(paths, {})
    assert str(paths.config_file) in origins.values()


# --- the tree ---


def test_every_folder_is_explained() -> None:
    """The codebase page names every folder of the checkout."""
    text = (ROOT / "docs/codebase.md").read_text(encoding="utf-8")
    folders = [f"{name}/" for name in TREE if (ROOT / name).is_dir()]
    folders += [f"tests/{path.parent.name}" for path in (ROOT / "tests").glob("*/*.py")]
    assert [folder for folder in folders if folder not in text] == []


@pytest.mark.parametrize("folder", ["src", "tests", "bench", "docs"])
def test_every_python_file_says_what_it_is(folder: str) -> None:
    """Every Python file has a module docstring."""
    silent = [str(path) for path in (ROOT / folder).rglob("*.py") if not reference().first_sentence(path)]
    assert silent == []


def test_every_file_of_the_page_says_what_it_is() -> None:
    """Every file of the web page and every program in `bin` starts with a comment."""
    page = [
        path
        for end in ("ts", "svelte")
        for part in ("src", "tests")
        for path in (ROOT / "web" / part).rglob(f"*.{end}")
    ]
    assert page
    assert [
        path.name for path in page if not path.read_text(encoding="utf-8").startswith(("// ", "/**", "<!-- "))
    ] == []
    programs = [path for path in (ROOT / "bin").iterdir() if path.is_file()]
    assert [
        path.name for path in programs if not path.read_text(encoding="utf-8").split("\n")[1].startswith("# ")
    ] == []


# --- roles cookbook ---

ROLES = (ROOT / "docs/roles.md").read_text(encoding="utf-8")
FILES = re.findall(r"^`(/home/ann/[^`\n]+)`\n\n```markdown\n(.*?)```", ROLES, re.MULTILINE | re.DOTALL)
EXAMPLES = re.findall(r"```console\n\$ headspace ([^\n]+)\n(.*?)```", ROLES, re.DOTALL)


@pytest.mark.parametrize(("command", "printed"), EXAMPLES, ids=[command for command, _ in EXAMPLES])
def test_the_cookbook_of_roles_is_true(command: str, printed: str, tmp_path: Path) -> None:
    """The examples, run in the order of the page, print what the page shows."""
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
    """The parser finds the files and examples of the page."""
    assert len(FILES) > 5
    assert len(EXAMPLES) > 4
