"""Commands about agents: `list`, `show`, `why`, `rename`."""

from typing import Annotated, Literal

import typer

from claude_headspace.surfaces.cli.options import Agent, AsJson, now, project_meant

State = Literal["waiting", "error", "working", "starting", "idle", "ended"]

LAST_TURNS = 10


def list_agents(
    state: Annotated[State | None, typer.Option("--state", "-s", help="Only agents in this state.")] = None,
    project: Annotated[
        str | None, typer.Option("--project", "-p", help="Only agents of this project: name, id or directory.")
    ] = None,
    every: Annotated[bool, typer.Option("--all", "-a", help="Also those that ended more than a day ago.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show all agents, those that need you first."""
    from claude_headspace.surfaces.cli import output as terminal
    from claude_headspace.surfaces.cli.presentation.board import after_board, board, empty_board
    from claude_headspace.surfaces.client.api_client import ApiClient
    from claude_headspace.surfaces.text.labels import clean_json

    agents = ApiClient.local().agents(state=state, project=project_meant(project), include_old=every)
    if as_json:
        terminal.write_json(agents)
        return
    screen = terminal.screen()
    if not agents:
        screen.show(empty_board(filtered=bool(state or project)))
        return
    agents = clean_json(agents)
    screen.show(board(agents, now(), screen.width), then=after_board(agents))


def show(agent: Agent, as_json: AsJson = False) -> None:
    """Show one agent: what it asks, where it runs, what was said."""
    from claude_headspace.surfaces.cli import output as terminal
    from claude_headspace.surfaces.cli.presentation.agent_details import next_of, portrait
    from claude_headspace.surfaces.client.api_client import ApiClient
    from claude_headspace.surfaces.text.labels import clean_json

    client = ApiClient.local()
    found = client.agent(agent)
    turns = client.turns(found["id"], LAST_TURNS)
    if as_json:
        terminal.write_json({**found, "turns": turns})
        return
    screen = terminal.screen()
    found = clean_json({**found, "effort": next(iter(client.efforts(agent=found["id"])), None)})
    screen.show(portrait(found, clean_json(turns), now(), screen.width), then=next_of(found, "why", "tail"))


def why(
    agent: Agent,
    last: Annotated[int, typer.Option("--last", "-n", min=1, max=1000, help="How many states to go back.")] = 20,
    as_json: AsJson = False,
) -> None:
    """Tell why an agent is believed to be in its state.

    Which source said so, when, and how sure that is; then the states before, each with its reason; then what the rules
    said of its calls.
    """
    from claude_headspace.surfaces.cli import output as terminal
    from claude_headspace.surfaces.cli.presentation.agent_details import next_of, reasons
    from claude_headspace.surfaces.cli.presentation.policy import judged
    from claude_headspace.surfaces.client.api_client import ApiClient
    from claude_headspace.surfaces.client.policy_checks import verdicts_of
    from claude_headspace.surfaces.text.labels import clean_json

    client = ApiClient.local()
    found = client.agent(agent)
    states, verdicts = client.evidence(found["id"], last), verdicts_of(client, found["id"], last)
    if as_json:
        fields = ("id", "name", "state", "waiting_for", "state_since", "evidence")
        terminal.write_json({**{name: found[name] for name in fields}, "states": states, "verdicts": verdicts})
        return
    screen = terminal.screen()
    found = clean_json(found)
    lines = reasons(found, clean_json(states), now(), screen.width)
    screen.show(lines + judged(clean_json(verdicts), now(), screen.width), then=next_of(found, "show", "tail"))


def rename(
    agent: Agent,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The new name: small letters, digits, dots and dashes.")],
    as_json: AsJson = False,
) -> None:
    """Give an agent another name."""
    from claude_headspace.surfaces.cli import output as terminal
    from claude_headspace.surfaces.client.api_client import ApiClient

    client = ApiClient.local()
    before = client.agent(agent)
    after = client.rename(before["id"], name)
    if as_json:
        terminal.write_json(after)
        return
    terminal.screen().show([terminal.line(f"{before['name']} is now {after['name']}.")])
