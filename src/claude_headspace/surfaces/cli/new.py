"""CLI commands that start agents in tmux sessions of their own: `new`, `fork`, `restart`."""

import os
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Annotated

from claude_headspace.clients.command_lines import chosen_options, split_client
from claude_headspace.config import find_paths
from claude_headspace.errors import BadRequest
from claude_headspace.surfaces.cli import output
from claude_headspace.surfaces.cli.arguments.echo import echo
from claude_headspace.surfaces.cli.arguments.parameters import Argument, ForwardedArguments, Option
from claude_headspace.surfaces.cli.choose import choose_agent
from claude_headspace.surfaces.cli.options import AgentArgument, AsJson, complete_agents, examples, read_text
from claude_headspace.surfaces.cli.run import run
from claude_headspace.surfaces.cli.stop import Yes, confirm_or_refuse, find_exactly
from claude_headspace.surfaces.cli.worktree_run import BaseOption, WorktreeOption
from claude_headspace.surfaces.client.api_client import ApiClient, Json
from claude_headspace.surfaces.launch.demo import refuse_in_demo
from claude_headspace.surfaces.launch.detached import NewAgent, local_launcher, require_directory
from claude_headspace.surfaces.text.formatting import clean_text
from claude_headspace.surfaces.text.labels import stop_result
from claude_headspace.surfaces.tui.actions import TerminalActions

Name = Annotated[str, Option("--name", help="Name of the agent; default: generated.")]
Prompt = Annotated[str, Option("--prompt", help="First prompt; - reads standard input.")]
Model = Annotated[str, Option("--model", help="Model, in the words of the client.")]
PermissionMode = Annotated[str, Option("--permission-mode", metavar="MODE", help="Permission mode of the client.")]
Attach = Annotated[bool, Option("--attach", "-a", help="Switch to it when it runs.")]


@examples(
    "headspace new",
    'headspace new codex --project ~/code/shop --prompt "Fix the flaky test"',
    "headspace new --model opus --permission-mode plan --attach",
    'headspace new --worktree login-fix --prompt "Fix the login"',
    "headspace new --name login-fix -- --add-dir ../shared",
)
def new(
    arguments: ForwardedArguments,
    project: Annotated[Path, Option("--project", "-p", metavar="DIRECTORY", help="Where it works.")] = Path(),
    prompt: Prompt = "",
    model: Model = "",
    permission_mode: PermissionMode = "",
    name: Name = "",
    role: Annotated[str, Option("--role", help="Role of the agent.")] = "",
    worktree: WorktreeOption = None,
    base: BaseOption = None,
    here: Annotated[bool, Option("--here", help="Run it in this terminal.")] = False,
    attach: Attach = False,
    as_json: AsJson = False,
) -> None:
    """Start an agent in a tmux session of its own.

    The first argument can name the client: claude, codex, opencode, copilot or gemini. All further arguments are passed
    to the client. The agent runs until it is stopped, also when this terminal is closed. `headspace jump` switches to
    it. With --worktree it works in its own git worktree, on its own branch.
    """
    refuse_in_demo(find_paths())
    client, forwarded = split_client(arguments)
    directory, text = str(project.expanduser().resolve()), read_text(prompt)
    options = chosen_options(client.name, model, permission_mode)
    require_directory(directory)
    if here:
        os.chdir(directory)
        run(
            ForwardedArguments([client.name, *options, *forwarded]),
            name,
            role or None,
            prompt=text,
            worktree=worktree,
            base=base,
            here=True,
        )
    wanted = NewAgent(
        directory=directory,
        client=client.name,
        name=name,
        worktree=worktree,
        base=base,
        prompt=text,
        model=model,
        permission_mode=permission_mode,
        role=role,
        arguments=tuple(forwarded),
    )
    made = local_launcher(find_paths(), ApiClient.local()).new(wanted, partial(echo, is_error=True))
    _show(made, "was started", as_json=as_json, attach=attach)


@examples(
    "headspace fork calm-otter",
    'headspace fork calm-otter --name second-try --prompt "Now without the cache."',
)
def fork(
    arguments: ForwardedArguments,
    agent: AgentArgument = None,
    prompt: Prompt = "",
    model: Model = "",
    permission_mode: PermissionMode = "",
    name: Name = "",
    attach: Attach = False,
    as_json: AsJson = False,
) -> None:
    """Continue the conversation of an agent as another agent.

    The new agent starts in a tmux session of its own, in the same directory, with everything that was said so far. The
    first one is not changed, and may run. All further arguments are passed to the client.
    """
    refuse_in_demo(find_paths())
    api = ApiClient.local()
    source = choose_agent(api, agent, acts=True)
    wanted = NewAgent(
        directory="",
        name=name,
        prompt=read_text(prompt),
        model=model,
        permission_mode=permission_mode,
        arguments=tuple(arguments),
    )
    made = local_launcher(find_paths(), api).fork(source, wanted)
    _show(made, f"continues the conversation of {source['name']}", as_json=as_json, attach=attach)


@examples("headspace restart calm-otter", "headspace restart --crashed")
def restart(
    agents: Annotated[
        list[str] | None, Argument("AGENT", help="Names, ids or id prefixes.", complete=complete_agents)
    ] = None,
    crashed: Annotated[bool, Option("--crashed", help="All agents on the board whose client crashed.")] = False,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Start the client of agents again.

    Each conversation is resumed in a tmux session of its own. A client that still runs is stopped first, after a
    confirmation.
    """
    refuse_in_demo(find_paths())
    if bool(agents) == crashed:
        raise BadRequest("no_agent", "Name agents, or use --crashed.", "`headspace list` shows them.")
    api = ApiClient.local()
    found = [each for each in api.agents(state="ended") if each["crashed"]] if crashed else []
    found += [find_exactly(api, each) for each in agents or ()]
    done = [_restart(api, each, yes=yes) for each in found]
    names = ", ".join(each["name"] for each in done)
    text = f"Restarted {names}." if done else "No agent on the board has crashed."
    output.write_result(done, as_json, lambda _done, _: [output.line(clean_text(text))])


def _restart(api: ApiClient, agent: Json, *, yes: bool) -> Json:
    if agent["state"] != "ended":
        confirm_or_refuse(f"Stop {agent['name']} ({agent['state']}) and start it again?", yes=yes)
        stopped = api.stop(agent["id"])
        if stopped["state"] != "ended":
            raise BadRequest("not_ended", stop_result(stopped), "Nothing was started.")
    return local_launcher(find_paths(), api).resume(api.agent(agent["id"]))


def _show(agent: Json, what: str, *, as_json: bool, attach: bool) -> None:
    name = agent["name"]
    text = f"{name} {what}, in the tmux session {agent['tmux']['session'] or name}."
    then = [] if as_json or attach else [output.dim(f"headspace jump {name}")]
    if as_json:
        output.write_json(agent)
    else:
        output.screen().show([output.line(clean_text(text))], then=then)
    if attach and (foreground := TerminalActions().jump(agent).foreground):
        sys.exit(subprocess.run(foreground, check=False).returncode)
