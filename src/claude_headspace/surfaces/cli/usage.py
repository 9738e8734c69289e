"""The CLI command `usage`: cost and tokens of agents over all their sessions."""

from datetime import timedelta
from typing import Annotated

from claude_headspace.errors import BadRequest
from claude_headspace.surfaces.cli import output
from claude_headspace.surfaces.cli.arguments.parameters import Argument, Option
from claude_headspace.surfaces.cli.options import (
    AsJson,
    ClientOption,
    ProjectOption,
    complete_agents,
    examples,
    now,
    resolve_project,
)
from claude_headspace.surfaces.cli.presentation.usage import usage_table
from claude_headspace.surfaces.client.api_client import ApiClient
from claude_headspace.surfaces.text.usage_records import usage_csv

DEFAULT_DAYS = 7


@examples(
    "headspace usage",
    "headspace usage calm-otter",
    "headspace usage --by project,model --since 30d",
    "headspace usage --by day,agent --since 2026-03-01 --csv > march.csv",
)
def usage(
    agent: Annotated[
        str | None,
        Argument("AGENT", help="Only this agent: name, id or id prefix. All of its time.", complete=complete_agents),
    ] = None,
    by: Annotated[
        str,
        Option("--by", metavar="KEYS", help="Group by day, project, model, client, agent or session; comma-separated."),
    ] = "day",
    since: Annotated[
        str | None, Option("--since", metavar="TIME", help="Only from this time on: 30d, 2026-03-01. Default: 7 days.")
    ] = None,
    until: Annotated[str | None, Option("--until", metavar="TIME", help="Only up to this time.")] = None,
    project: ProjectOption = None,
    client: ClientOption = None,
    model: Annotated[str | None, Option("--model", "-m", help="Only this model.")] = None,
    as_json: AsJson = False,
    as_csv: Annotated[bool, Option("--csv", help="Print CSV.")] = False,
) -> None:
    """Show cost and tokens by day, project, model, client or agent.

    All sessions of an agent count: `/clear`, a restart and a resume do not reset them. A resumed session is not counted
    twice. Costs are those that the client reports, or computed from its tokens and list prices. A cost that is not
    known is never shown as zero.
    """
    if as_json and as_csv:
        raise BadRequest("bad_option", "--json and --csv exclude each other.", "Use one of them.")
    if since is None and agent is None:
        since = (now().date() - timedelta(days=DEFAULT_DAYS - 1)).isoformat()
    filters = {"agent": agent, "project": resolve_project(project), "client": client, "model": model}
    found = ApiClient.local().usage(by.replace(" ", ""), since=since, until=until, **filters)
    if as_csv:
        output.write_text(usage_csv(found))
        return
    output.write_result(found, as_json, lambda result, screen: usage_table(result, screen.width))
