"""`headspace mission …` and `headspace report`: start an agent on a goal and get its result. Agents run them, too."""

from pathlib import Path
from typing import Annotated

from claude_headspace.clients.capabilities import find_client, require
from claude_headspace.clients.catalog import DEFAULT
from claude_headspace.clients.client import Capability
from claude_headspace.config import find_paths
from claude_headspace.errors import BadRequest, HeadspaceError
from claude_headspace.surfaces.cli import output
from claude_headspace.surfaces.cli.arguments.parameters import Argument, ForwardedArguments, Option
from claude_headspace.surfaces.cli.options import AsJson, complete_agents, examples, now, read_text
from claude_headspace.surfaces.cli.presentation.missions import mission_lines, mission_started, mission_table
from claude_headspace.surfaces.client.api_client import ApiClient, Json
from claude_headspace.surfaces.launch.detached import NOT_STARTED, Launcher, NewAgent, local_launcher

MissionArgument = Annotated[str, Argument("MISSION", help="Id, id prefix, or name of the worker.")]
OUTCOMES = ("succeeded", "failed", "abandoned")


@examples(
    'headspace mission start "Find out why the nightly build is slow."',
    'headspace mission start -b "Update the changelog." -- --permission-mode acceptEdits',
    'headspace mission start --client codex "Write the missing tests."',
    'headspace mission start --for calm-otter "Review the open pull requests."',
)
def start(
    arguments: ForwardedArguments,
    goal: Annotated[str, Argument("GOAL", help="What to do; `-` reads standard input.")],
    background: Annotated[
        bool, Option("--background", "-b", help="Run without an interactive client; ends when it is done.")
    ] = False,
    conversation: Annotated[
        str | None,
        Option("--for", metavar="AGENT", help="Agent that receives the result.", complete=complete_agents),
    ] = None,
    name: Annotated[str, Option("--name", help="Name of the worker; default: generated.")] = "",
    client: Annotated[
        str, Option("--client", help="Client of the worker: claude, codex, opencode, copilot or gemini.")
    ] = DEFAULT,
    role: Annotated[str | None, Option("--role", help="Role of the worker.")] = None,
    record: Annotated[
        bool, Option("--record", help="Only register the mission, and print the environment for your own client.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Start an agent that works on a goal on its own.

    The worker runs in a new tmux session. If an agent runs this command, it receives the result when the worker has
    finished. Arguments after `--` are passed to the client.
    """
    api, chosen = ApiClient.local(), find_client(client)
    require(chosen.name, Capability.MISSION)
    launcher, text = local_launcher(find_paths(), api), read_text(goal)
    worker = NewAgent(directory=str(Path.cwd()), client=chosen.name, prompt=text, arguments=tuple(arguments))
    if not record:
        launcher.check_worker(worker)
    mode = "background" if background else "mission"
    mission = api.start_mission(
        text, worker.directory, mode, conversation=conversation, name=name, role=role, client=chosen.name
    )
    session = None if record else _start_worker(api, launcher, mission, worker)
    if as_json:
        output.write_json({**mission, "tmux_session": session})
        return
    then = [output.dim(f"headspace mission show {mission['id'][:8]}")]
    output.screen().show(mission_started(mission, session), then=then)


def _start_worker(api: ApiClient, launcher: Launcher, mission: Json, worker: NewAgent) -> str:
    """Start the worker in a new tmux session. If that fails, the mission is abandoned."""
    try:
        return launcher.work_on(mission, worker)
    except HeadspaceError as error:
        api.finish_mission(mission["id"], "abandoned", f"{NOT_STARTED} {error.message}")
        raise


@examples("headspace mission list", "headspace mission list --all --json | jq '.[].goal'")
def list_missions(
    show_all: Annotated[bool, Option("--all", "-a", help="Include missions that ended over a day ago.")] = False,
    as_json: AsJson = False,
) -> None:
    """List missions."""
    found = ApiClient.local().missions(include_old=show_all)
    output.write_result(found, as_json, lambda found, screen: mission_table(found, now(), screen.width))


@examples("headspace mission show 3f2a91c4", "headspace mission show brave-wren --json")
def show(mission: MissionArgument, as_json: AsJson = False) -> None:
    """Show a mission: its sessions, timeline and outcome."""
    _show(ApiClient.local().mission(mission), as_json)


@examples("headspace mission finish 3f2a91c4", 'headspace mission finish brave-wren "Not needed." -o abandoned')
def finish(
    mission: MissionArgument,
    text: Annotated[str, Argument("TEXT", help="The reason.")] = "",
    outcome: Annotated[str, Option("--outcome", "-o", help=", ".join(OUTCOMES) + ".")] = "succeeded",
    as_json: AsJson = False,
) -> None:
    """Close a mission with an outcome.

    The agent that started the mission is informed.
    """
    if outcome not in OUTCOMES:
        raise BadRequest("bad_outcome", f"Unknown outcome: {outcome}.", f"Use one of: {', '.join(OUTCOMES)}.")
    _show(ApiClient.local().finish_mission(mission, outcome, read_text(text)), as_json)


def _show(mission: Json, as_json: bool) -> None:
    output.write_result(mission, as_json, lambda mission, screen: mission_lines(mission, now(), screen.width))


@examples('headspace report "Fixed: the cache was stale."', 'headspace report --failed "The server is away."')
def report(
    text: Annotated[str, Argument("TEXT", help="The result; `-` reads standard input.")],
    failed: Annotated[bool, Option("--failed", help="The goal was not reached.")] = False,
    mission: Annotated[
        str,
        Option(
            "--mission", metavar="MISSION", show_default=False, help="Which mission; default: that of this session."
        ),
    ] = "mine",
    as_json: AsJson = False,
) -> None:
    """Report the result of your mission, as its worker.

    This closes the mission. The agent that started it receives the report.
    """
    done = ApiClient.local().report(read_text(text), mission, failed=failed)
    agent = done["conversation"]
    recipient = f"{agent} receives the result." if agent else "`headspace mission show` shows it."
    output.write_result(done, as_json, lambda _done, _: [output.line(f"Reported. {recipient}")])
