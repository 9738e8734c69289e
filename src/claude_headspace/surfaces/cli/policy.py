"""`headspace policy`: the commands `check`, `explain`, `test` and `backtest` about the rules for tool calls."""

import json
import sys
from pathlib import Path
from typing import Annotated, Literal

from claude_headspace.clients.tools import SHELL_TOOL, find_tool, tool_input
from claude_headspace.config import find_paths, load_settings
from claude_headspace.inputs.policy.files import RuleBook, load_rules
from claude_headspace.kernel.policy.call import Subject
from claude_headspace.kernel.tools import ToolKind
from claude_headspace.surfaces.cli import output
from claude_headspace.surfaces.cli.arguments.parameters import Argument, Option
from claude_headspace.surfaces.cli.arguments.parse import UsageError
from claude_headspace.surfaces.cli.options import AsJson, examples, now
from claude_headspace.surfaces.cli.presentation.policy import (
    backtest_result,
    explanation,
    policy_check_result,
    policy_test_result,
)
from claude_headspace.surfaces.client import policy_checks
from claude_headspace.surfaces.client.api_client import ApiClient

Preset = Literal["guard", "strict", "watch", "off"]
Mode = Literal["interactive", "mission", "background"]

PresetOption = Annotated[
    Preset | None, Option("--preset", help="Use this preset instead of the configured one.", show_default=False)
]
FileOption = Annotated[
    Path | None, Option("--policy", "-f", help="Use this file instead of your policy.toml.", show_default=False)
]


@examples("headspace policy check", "headspace policy check draft.toml")
def check(
    file: Annotated[Path | None, Argument("FILE", help="Use this file instead of your policy.toml.")] = None,
    preset: PresetOption = None,
    as_json: AsJson = False,
) -> None:
    """Validate the rule files and list your changes.

    Reads policy.toml, contacts.toml, and the rules of the project in this directory. Exits with 1 if a file is invalid.
    """
    report = policy_checks.check(find_paths(), _preset(preset), str(Path.cwd()), file)
    output.write_result(report, as_json, lambda report, screen: policy_check_result(report, screen.width))


@examples(
    "headspace policy explain 'cd / && rm -rf *'",
    "headspace policy explain .env --tool Write",
    "headspace policy explain 'sudo ls' --preset strict --json | jq .verdict",
)
def explain(
    command: Annotated[str, Argument("COMMAND", help="The command line of the agent, in quotes.")],
    tool: Annotated[
        str,
        Option("--tool", "-t", help="Another tool; COMMAND is then the file that it writes, or its JSON input."),
    ] = SHELL_TOOL,
    mode: Annotated[Mode, Option("--mode", "-m", help="Mode of the session.")] = "interactive",
    role: Annotated[str | None, Option("--role", "-r", help="Role of the session.")] = None,
    preset: PresetOption = None,
    file: FileOption = None,
    as_json: AsJson = False,
) -> None:
    """Explain what the rules decide about a tool call.

    Shows the programs that the call would run, the files that it would use, and the rules that match. Nothing is run.
    """
    directory, home = str(Path.cwd()), str(Path.home())
    given = _tool_input(tool, command)
    report = policy_checks.explain(_rules(preset, file), tool, given, Subject(mode, role), directory, home)
    output.write_result(report, as_json, lambda report, screen: explanation(report, screen.width))


def _tool_input(tool: str, text: str) -> dict[str, object]:
    """The input of the tool: a command, a JSON object, or the name of a file."""
    if find_tool(tool).kind is not ToolKind.SHELL and text.lstrip().startswith("{"):
        try:
            found: dict[str, object] = json.loads(text)
        except ValueError as error:
            raise UsageError(f"Not valid JSON: {error}.") from error
        return found
    return tool_input(tool, text)


@examples("headspace policy test cases.toml", "headspace policy test cases.toml -f draft.toml")
def run_tests(
    files: Annotated[list[Path], Argument("FILE", help="Files with tool calls and the expected verdicts.")],
    preset: PresetOption = None,
    file: FileOption = None,
    as_json: AsJson = False,
) -> None:
    """Run test cases against the rules.

    Exits with 1 if a tool call gets another verdict than expected.
    """
    report = policy_checks.run_cases(_rules(preset, file), files, str(Path.cwd()), str(Path.home()))
    output.write_result(report, as_json, lambda report, screen: policy_test_result(report, screen.width))
    if report["wrong"]:
        sys.exit(1)


@examples("headspace policy backtest", "headspace policy backtest --preset strict --last 10000")
def backtest(
    last: Annotated[
        int | None,
        Option("--last", "-n", min=1, metavar="N", help="Use only the newest N events.", show_default=False),
    ] = None,
    preset: PresetOption = None,
    file: FileOption = None,
    as_json: AsJson = False,
) -> None:
    """Apply the rules to past tool calls.

    Reads the log of the daemon and lists the calls that the rules would have stopped. Files and links are resolved as
    they are today.
    """
    report = policy_checks.backtest(ApiClient.local(), _rules(preset, file), str(Path.home()), last)
    output.write_result(report, as_json, lambda report, screen: backtest_result(report, now(), screen.width))


def _rules(preset: str | None, file: Path | None) -> RuleBook:
    return load_rules(find_paths(), _preset(preset), file)


def _preset(given: str | None) -> str:
    return given or load_settings(find_paths()).policy_preset
