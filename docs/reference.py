"""Keeps the generated blocks of the documentation true: `python docs/reference.py` writes them, a test compares them.

A block stands between `<!-- begin generated: NAME -->` and `<!-- end generated: NAME -->` and is made from the program
itself.
"""

import ast
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ROOT / "src" / "claude_headspace"
LONG = 500
BLOCK = re.compile(r"(<!-- begin generated: (?P<name>[^>]+?) -->\n).*?(<!-- end generated: (?P=name) -->)", re.DOTALL)


def state_machine() -> str:
    """The diagram and the table of transitions."""
    from claude_headspace.kernel.state_machine import TRANSITIONS, mermaid

    rows = [f"| {a} | {actor} | {intent} | {b} |" for (a, actor, intent), b in TRANSITIONS.items()]
    table = "\n".join(["| from | actor | intent | to |", "|---|---|---|---|", *rows])
    return f"```mermaid\n{mermaid()}\n```\n\n{table}"


def settings() -> str:
    """Every setting."""
    from claude_headspace.config import describe_settings

    rows = [
        f"| `{name}` | `{_toml(default)}` | `HEADSPACE_{name.upper()}` | {description} |"
        for name, default, description in describe_settings()
    ]
    return "\n".join(["| setting | default | environment | what it is for |", "|---|---|---|---|", *rows])


def _toml(value: object) -> str:
    if isinstance(value, tuple):
        return "[]"
    return f'"{value}"' if isinstance(value, str) else str(value)


MEANING = {
    "SessionStart": "A context window opens. The agent is idle, except after a compaction, which disturbs nothing.",
    "SessionEnd": "The window closes. `clear` and `resume` keep the agent; every other reason ends it.",
    "UserPromptSubmit": "A command begins, a question is answered, or a prompt is queued behind the running turn. "
    "A `<task-notification>` was typed by nobody.",
    "PreToolUse": "A tool is about to run. AskUserQuestion, ExitPlanMode and EnterPlanMode open a wait.",
    "PermissionRequest": "The client shows a dialog: the call's wait opens, or is explained.",
    "PermissionDenied": "A call was refused without asking anybody.",
    "PostToolUse": "A call is over, and the wait that it had.",
    "PostToolUseFailure": "A call failed. That is no error of the agent.",
    "PostToolBatch": "All calls of a step are over, whatever came of each.",
    "Notification": "A dialog that nothing else told of; `idle_prompt` only confirms that the agent is idle.",
    "SubagentStart": "A sub-agent begins; its parent works as long as it runs.",
    "SubagentStop": "A sub-agent ends. Without an `agent_type` it was none (compaction, suggestions).",
    "TaskCreated": "The agent's own list grows.",
    "TaskCompleted": "Something on the list is done.",
    "Stop": "The turn is over: its last words decide between idle and waiting. "
    "While a sub-agent runs the agent still works.",
    "StopFailure": "The turn ended in an API error.",
    "PreCompact": "The agent compacts its context, on demand.",
    "PostCompact": "It has compacted.",
    "PostModelSwitch": "Another model answers.",
    "CwdChanged": "The agent works in another directory.",
    "Elicitation": "An MCP server asks the human: a wait opens.",
    "ElicitationResult": "It has its answer: the wait closes.",
}
"""What the events do that do more than to tell that the agent is there."""


def hooks() -> str:
    """Every hook event with its path and what it does."""
    from claude_headspace.inputs.receive.receiver import kebab
    from claude_headspace.kernel.wire import HOOKS

    rows = [f"| `{name}` | `/hook/{kebab(name)}` | {MEANING.get(name, 'A sign of life.')} |" for name in HOOKS]
    return "\n".join(["| event | endpoint | what it does |", "|---|---|---|", *rows])


def installed_hooks() -> str:
    """Which hooks are registered and which are not, with the reasons."""
    from claude_headspace.clients.claude_code.hooks.events import LEFT_OUT, REGISTERED, SINCE

    rows = [f"| `{event}` | {reason}{_since(SINCE.get(event))} |" for event, reason in REGISTERED.items()]
    without = [f"| `{event}` | {reason} |" for event, reason in LEFT_OUT.items()]
    there = ["| registered | what Headspace learns from it |", "|---|---|", *rows]
    return "\n".join([*there, "", "| left out | why |", "|---|---|", *without])


def _since(version: tuple[int, ...] | None) -> str:
    return f" (from {'.'.join(map(str, version))} on)" if version else ""


def endpoints() -> str:
    """Every endpoint with its scope."""
    from claude_headspace.surfaces.api.openapi import HOOK
    from claude_headspace.surfaces.api.routes import ENDPOINTS

    rows = [f"| `{e.method} {e.path}` | {e.scope} | {e.summary} |" for e in (HOOK, *ENDPOINTS)]
    return "\n".join(["| endpoint | scope | what it gives |", "|---|---|---|", *rows])


def stream() -> str:
    """Every event of the stream."""
    from claude_headspace.kernel.react import STREAM

    return "\n".join(
        ["| event | it tells |", "|---|---|", *(f"| `{name}` | {what} |" for name, what in STREAM.items())]
    )


def commands() -> str:
    """The help of every command."""
    from typer.main import get_command
    from typer.testing import CliRunner

    from claude_headspace.main import application

    app = application()
    runner = CliRunner(env={"COLUMNS": "100", "TERM": "dumb", "NO_COLOR": "1"})
    names: list[list[str]] = [[], *(path for path, _ in _paths(get_command(app), []))]
    helps = [(path, runner.invoke(app, [*path, "--help"], prog_name="headspace").output) for path in names]
    return "\n\n".join(
        f"### `{' '.join(['headspace', *path])}`\n\n```text\n{_plain(text)}\n```" for path, text in helps
    )


def _paths(command: Any, path: list[str]) -> Iterator[tuple[list[str], Any]]:
    for name, child in sorted(getattr(command, "commands", {}).items()):
        yield [*path, name], child
        yield from _paths(child, [*path, name])


def _plain(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.strip().splitlines())


def socket_commands() -> str:
    """The socket's commands about efforts, with what they take."""
    from claude_headspace.surfaces.socket.efforts import COMMANDS

    rows = [
        f"| `{name}` | {', '.join(f'`{field}`' for field in command.takes.__struct_fields__)} | {command.about} |"
        for name, command in COMMANDS.items()
    ]
    return "\n".join(["| command | takes | |", "|---|---|---|", *rows])


def told() -> str:
    """What sessions are told of themselves, and when."""
    from claude_headspace.kernel.claude_os import messages as texts

    rows = []
    for level in texts.LEVELS:
        prompt, stop = (texts.context_at("CLAUDE OS SYS", level, level, stops=stops) for stops in (False, True))
        rows += [f"| {level} % | prompt | {prompt} |", f"| | end of a turn | {stop} |"]
    rows.append(f"| no note | prompt | {texts.line('CLAUDE OS SYS', texts.INFO, texts.NOTE)} |")
    return "\n".join(["| when | with | words |", "|---|---|---|", *(row.replace("\n", "<br>") for row in rows)])


def shipped_rules() -> str:
    """Every rule that comes along, and what the presets make of it."""
    from pathlib import Path

    from claude_headspace.config import Places
    from claude_headspace.inputs.policy.files import built_in

    nowhere = Places(*[Path("/headspace")] * 4)
    rules = built_in(nowhere, "strict").policy
    rows = [f"| `{r.id}` | {r.outcome.value} | {rules.outcome(r).value} | {r.reason} |" for r in rules.rules]
    return "\n".join(["| rule | `guard` | `strict` | why |", "|---|---|---|---|", *rows])


def rule_keys() -> str:
    """Every key of a rule."""
    from typing import get_type_hints

    from claude_headspace.kernel.policy.rules import Rule

    hints = get_type_hints(Rule, include_extras=True)
    keys = [(name, hints[name].__metadata__[-1].description) for name in Rule.__struct_fields__]
    return "\n".join(["| key | what it means |", "|---|---|", *(f"| `{name}` | {what} |" for name, what in keys)])


def metrics() -> str:
    """Every number for Prometheus."""
    from claude_headspace.surfaces.api.metrics import Metrics

    counted = Metrics()
    labels = {name: each._labelnames for each in vars(counted).values() for name in _names(each)}
    rows = [
        f"| `{family.name}{'_total' if family.type == 'counter' else ''}` | {family.type} | "
        f"{', '.join(f'`{label}`' for label in labels[family.name])} | {family.documentation} |"
        for family in counted.registry.collect()
    ]
    return "\n".join(["| metric | kind | labels | what it tells |", "|---|---|---|---|", *rows])


def _names(metric: Any) -> list[str]:
    """The names of what one metric gives out; none for what is no metric."""
    return [each.name for each in metric.describe()] if hasattr(metric, "describe") else []


def top_keys() -> str:
    """Every key of `headspace top`."""
    from claude_headspace.surfaces.tui.keys import KEYS

    rows = [f"| {' '.join(f'`{part}`' for part in key.label.split())} | {key.meaning} |" for key in KEYS]
    return "\n".join(["| key | what it does |", "|---|---|", *(row.replace("`–`", "–") for row in rows)])


def tree() -> str:
    """Every package with its purpose, and every file of it, by their own first sentences."""
    packages = sorted(path.parent for path in SOURCES.rglob("__init__.py"))
    return "\n\n".join(_package(folder) for folder in packages)


def _package(folder: Path) -> str:
    name = folder.relative_to(SOURCES.parent).as_posix()
    files = [path for path in sorted(folder.glob("*.py")) if not path.name.startswith("__")]
    lines = [f"**`{name}/`** {first_sentence(folder / '__init__.py')}"]
    if files:
        lines += ["", f"<details><summary>its {len(files)} files</summary>", ""]
        lines += [f"- `{path.name}`: {first_sentence(path)}" for path in files]
        lines += ["", "</details>"]
    return "\n".join(lines)


def first_sentence(path: Path) -> str:
    """What a Python file says that it is."""
    said = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return re.split(r"(?<=\.)\s", " ".join(said.split("\n\n")[0].split()))[0]


def long_files() -> str:
    """The files that are longer than they should be."""
    lengths = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in SOURCES.rglob("*.py")}
    return ", ".join(f"`{path.relative_to(SOURCES)}`" for path, length in sorted(lengths.items()) if length > LONG)


def decisions() -> str:
    """Every decision, by its title."""
    records = sorted((ROOT / "docs" / "decisions").glob("0*.md"))
    titles = [(path, path.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")) for path in records]
    return "\n".join(f"- [{title}]({path.name})" for path, title in titles)


BLOCKS: dict[str, Callable[[], str]] = {
    "state machine": state_machine,
    "settings": settings,
    "hooks": hooks,
    "installed hooks": installed_hooks,
    "endpoints": endpoints,
    "stream": stream,
    "shipped rules": shipped_rules,
    "rule keys": rule_keys,
    "commands": commands,
    "socket commands": socket_commands,
    "told": told,
    "metrics": metrics,
    "top keys": top_keys,
    "tree": tree,
    "long files": long_files,
    "decisions": decisions,
}


def pages() -> Iterator[Path]:
    """Every page that may have blocks."""
    yield ROOT / "README.md"
    yield from sorted((ROOT / "docs").glob("*.md"))
    yield ROOT / "docs" / "decisions" / "README.md"


def rendered(text: str) -> str:
    """A page with its blocks made anew."""
    return BLOCK.sub(lambda found: f"{found[1]}{BLOCKS[found['name']]()}\n{found[3]}", text)


def generated_files() -> dict[str, str]:
    """Files that are made from the program as a whole."""
    from claude_headspace.clients.claude_code.hooks import plugin

    return plugin.files()


def main() -> None:
    """Write every page whose blocks are out of date, and every generated file."""
    for name, fresh in generated_files().items():
        path = ROOT / name
        if not path.exists() or path.read_text(encoding="utf-8") != fresh:
            path.write_text(fresh, encoding="utf-8")
            sys.stdout.write(f"updated {name}\n")
    for page in pages():
        text = page.read_text(encoding="utf-8")
        if (fresh := rendered(text)) != text:
            page.write_text(fresh, encoding="utf-8")
            sys.stdout.write(f"updated {page.relative_to(ROOT)}\n")


if __name__ == "__main__":
    main()
