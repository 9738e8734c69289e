"""Commands about what agents may do: `policy check`, `explain`, `test`, `backtest`."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from claude_headspace.clients.claude_code import SHELL_TOOL
from claude_headspace.surfaces.cli.options import AsJson, places

Preset = Literal["guard", "strict", "watch", "off"]
Mode = Literal["interactive", "mission", "background"]

PresetOption = Annotated[
    Preset | None, typer.Option("--preset", help="Another preset than the one that is set.", show_default=False)
]
FileOption = Annotated[
    Path | None, typer.Option("--policy", "-f", help="Rules in place of your policy.toml.", show_default=False)
]


def check(
    file: Annotated[Path | None, typer.Argument(metavar="[FILE]", help="Rules in place of your policy.toml.")] = None,
    preset: PresetOption = None,
    as_json: AsJson = False,
) -> None:
    """Tell whether the rules can be used, and what yours change.

    Reads your policy.toml and contacts.toml, and what the project in this directory adds. Exits with 1 if any of them
    cannot be used.
    """
    from claude_headspace.surfaces.cli import output as terminal
    from claude_headspace.surfaces.cli.presentation.policy import checked
    from claude_headspace.surfaces.client import policy_checks as policy
    from claude_headspace.surfaces.text.labels import clean_json

    report = policy.check(places(), _preset(preset), str(Path.cwd()), file)
    if as_json:
        terminal.write_json(report)
        return
    screen = terminal.screen()
    screen.show(checked(clean_json(report), screen.width))


def explain(
    command: Annotated[str, typer.Argument(metavar="COMMAND", help="What an agent would run, in quotes.")],
    tool: Annotated[
        str,
        typer.Option("--tool", "-t", help="Another tool: COMMAND is then the file it writes, or its input as JSON."),
    ] = SHELL_TOOL,
    mode: Annotated[Mode, typer.Option("--mode", "-m", help="The mode of the session.")] = "interactive",
    role: Annotated[str | None, typer.Option("--role", "-r", help="The role of the session.")] = None,
    preset: PresetOption = None,
    file: FileOption = None,
    as_json: AsJson = False,
) -> None:
    """Tell what a call would do, and what the rules say of it. Nothing is run."""
    from claude_headspace.kernel.policy.call import Subject
    from claude_headspace.surfaces.cli import output as terminal
    from claude_headspace.surfaces.cli.presentation.policy import explained
    from claude_headspace.surfaces.client import policy_checks as policy
    from claude_headspace.surfaces.text.labels import clean_json

    book = policy.rule_book(places(), _preset(preset), file)
    here, home = str(Path.cwd()), str(Path.home())
    report = policy.explain(book, tool, _input(tool, command), Subject(mode, role), here, home)
    if as_json:
        terminal.write_json(report)
        return
    screen = terminal.screen()
    screen.show(explained(clean_json(report), screen.width))


def _input(tool: str, text: str) -> dict[str, object]:
    """The tool's input: a command, a JSON object, or the name of a file."""
    import json

    from claude_headspace.clients.tools import find_tool
    from claude_headspace.kernel.tools import ToolKind

    known = find_tool(tool)
    if known.kind is ToolKind.SHELL:
        return {"command": text}
    if text.lstrip().startswith("{"):
        try:
            found: dict[str, object] = json.loads(text)
        except ValueError as error:
            raise typer.BadParameter(f"That is no JSON: {error}.") from error
        return found
    return {known.file or "path": text}


def try_out(
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE…", help="Files of calls with the verdicts they should get.")
    ],
    preset: PresetOption = None,
    file: FileOption = None,
    as_json: AsJson = False,
) -> None:
    """Try calls on the rules, and tell which came out otherwise than they should.

    Exits with 1 if any did.
    """
    from claude_headspace.surfaces.cli import output as terminal
    from claude_headspace.surfaces.cli.presentation.policy import tested
    from claude_headspace.surfaces.client import policy_checks as policy
    from claude_headspace.surfaces.text.labels import clean_json

    book = policy.rule_book(places(), _preset(preset), file)
    report = policy.run_cases(book, files, str(Path.cwd()), str(Path.home()))
    if as_json:
        terminal.write_json(report)
    else:
        screen = terminal.screen()
        screen.show(tested(clean_json(report), screen.width))
    if report["wrong"]:
        raise typer.Exit(1)


def backtest(
    last: Annotated[
        int | None, typer.Option("--last", "-n", min=1, help="Only the newest so many events.", show_default=False)
    ] = None,
    preset: PresetOption = None,
    file: FileOption = None,
    as_json: AsJson = False,
) -> None:
    """Tell what the rules would have said of the calls that agents made.

    Goes through the daemon's whole log. Files and links are looked up as they are today.
    """
    from claude_headspace.surfaces.cli import output as terminal
    from claude_headspace.surfaces.cli.options import now
    from claude_headspace.surfaces.cli.presentation.policy import looked_back
    from claude_headspace.surfaces.client import policy_checks as policy
    from claude_headspace.surfaces.client.api_client import ApiClient
    from claude_headspace.surfaces.text.labels import clean_json

    book = policy.rule_book(places(), _preset(preset), file)
    report = policy.backtest(ApiClient.local(), book, str(Path.home()), last)
    if as_json:
        terminal.write_json(report)
        return
    screen = terminal.screen()
    screen.show(looked_back(clean_json(report), now(), screen.width))


def _preset(given: str | None) -> str:
    from claude_headspace.config import load_settings

    return given or load_settings(places()).policy_preset
