"""CLI commands about agents: `list`, `show`, `why`, `rename`."""

from typing import Annotated, Literal

from claude_headspace.config import find_paths
from claude_headspace.surfaces.cli import output
from claude_headspace.surfaces.cli.arguments.parameters import Argument, Option
from claude_headspace.surfaces.cli.choose import ask_text, choose_agent
from claude_headspace.surfaces.cli.options import (
    AgentArgument,
    AsJson,
    ClientOption,
    ProjectOption,
    examples,
    now,
    resolve_project,
)
from claude_headspace.surfaces.cli.presentation.agent_details import (
    agent_lines,
    granted_lines,
    next_commands,
    state_reasons,
)
from claude_headspace.surfaces.cli.presentation.board import board_footer, empty_board, grouped_table
from claude_headspace.surfaces.cli.presentation.policy import verdict_history
from claude_headspace.surfaces.client.api_client import ApiClient
from claude_headspace.surfaces.client.board_view import load_view
from claude_headspace.surfaces.client.verdicts import verdicts_of
from claude_headspace.surfaces.text.board_order import BoardView, group_agents, sort_agents
from claude_headspace.surfaces.text.formatting import clean_json

State = Literal["waiting", "error", "working", "starting", "idle", "ended"]

SortName = Literal["urgency", "name", "project", "activity", "started", "context", "cost"]

LAST_TURNS = 10


@examples(
    "headspace list",
    "headspace list --state waiting",
    "headspace list --client codex",
    "headspace list --json | jq -r '.[].name'",
)
def list_agents(
    state: Annotated[State | None, Option("--state", "-s", help="Only agents in this state.")] = None,
    project: ProjectOption = None,
    client: ClientOption = None,
    sort: Annotated[SortName | None, Option("--sort", help="Order; default: that of `headspace top`.")] = None,
    show_all: Annotated[bool, Option("--all", "-a", help="Include agents that ended over a day ago.")] = False,
    as_json: AsJson = False,
) -> None:
    """List agents, those that need you first.

    In the order of `headspace top`: with its sort key, groups and pins. JSON has the order of the API.
    """
    filters = {"state": state, "project": resolve_project(project), "client": client}
    agents = ApiClient.local().agents(**filters, include_old=show_all)
    if as_json:
        output.write_json(agents)
        return
    screen = output.screen()
    if not agents:
        screen.show(empty_board(filtered=any(filters.values())))
        return
    view = load_view(find_paths())
    view = view if sort is None else BoardView(sort=sort, pins=view.pins)
    groups = group_agents(sort_agents(clean_json(agents), view), view)
    ordered = [agent for group in groups for agent in group.agents]
    screen.show(grouped_table(groups, now(), screen.width, view.pins), then=board_footer(ordered))


@examples("headspace show calm-otter", "headspace show calm-otter --json | jq .waits")
def show(
    agent: AgentArgument = None,
    full: Annotated[bool, Option("--full", help="Shorten no request, however long it is.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show one agent: its state, requests, grants and last turns."""
    client = ApiClient.local()
    found = choose_agent(client, agent)
    found["waits"] = [client.wait(wait["id"], all=full) for wait in found["waits"]]
    turns = client.turns(found["id"], LAST_TURNS)
    if as_json:
        output.write_json({**found, "turns": turns})
        return
    screen = output.screen()
    found = clean_json({**found, "effort": next(iter(client.efforts(agent=found["id"])), None)})
    lines = agent_lines(found, clean_json(turns), now(), screen.width)
    screen.show(lines, then=next_commands(found, "why", "tail"))


@examples("headspace why calm-otter", "headspace why calm-otter --last 100")
def why(
    agent: AgentArgument = None,
    last: Annotated[int, Option("--last", "-n", min=1, max=1000, help="How many past states to list.")] = 20,
    as_json: AsJson = False,
) -> None:
    """Explain the current state of an agent.

    Shows which source reported the state, when, and with what confidence. Below it, the previous states with their
    reasons, what the agent has been granted, and the verdicts of the policy guard.
    """
    client = ApiClient.local()
    found = choose_agent(client, agent)
    states, verdicts = client.evidence(found["id"], last), verdicts_of(client, found["id"], last)
    if as_json:
        fields = ("id", "name", "client", "state", "waiting_for", "state_since", "evidence", "grants")
        output.write_json({**{name: found[name] for name in fields}, "states": states, "verdicts": verdicts})
        return
    screen = output.screen()
    found = clean_json(found)
    lines = state_reasons(found, clean_json(states), now(), screen.width)
    lines += granted_lines(found, now(), screen.width)
    lines += verdict_history(clean_json(verdicts), now(), screen.width)
    screen.show(lines, then=next_commands(found, "show", "tail"))


@examples("headspace rename calm-otter login-fix")
def rename(
    agent: AgentArgument = None,
    name: Annotated[
        str | None, Argument("NAME", help="The new name: lowercase letters, digits, dots and dashes.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Rename an agent."""
    client = ApiClient.local()
    before = choose_agent(client, agent, acts=True)
    after = client.rename(before["id"], name if name is not None else ask_text("New name", "NAME"))
    output.write_result(after, as_json, lambda after, _: [output.line(f"Renamed {before['name']} to {after['name']}.")])
