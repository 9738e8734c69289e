"""The CLI command `search`: prompts, replies and tool calls of all agents."""

from typing import Annotated, Literal

from claude_headspace.surfaces.cli import output
from claude_headspace.surfaces.cli.arguments.parameters import Argument, Option
from claude_headspace.surfaces.cli.choose import choose_agent
from claude_headspace.surfaces.cli.options import (
    AsJson,
    ClientOption,
    ProjectOption,
    complete_agents,
    examples,
    now,
    resolve_project,
)
from claude_headspace.surfaces.cli.presentation.search_results import no_results, result_lines, results_footer
from claude_headspace.surfaces.client.api_client import ApiClient
from claude_headspace.surfaces.text.formatting import clean_json, clean_text


@examples("headspace search expired cards", "headspace search '\"rate limit\"' --tool Bash --since 2d")
def search(
    words: Annotated[list[str], Argument("QUERY", help="Words that must all occur; quote a phrase.")],
    project: ProjectOption = None,
    agent: Annotated[str | None, Option("--agent", "-a", help="Only this agent.", complete=complete_agents)] = None,
    client: ClientOption = None,
    actor: Annotated[
        Literal["user", "agent"] | None, Option("--actor", help="Only texts of the user or of the agent.")
    ] = None,
    tool: Annotated[str | None, Option("--tool", "-t", help="Only this tool, such as Bash.")] = None,
    since: Annotated[
        str | None, Option("--since", metavar="TIME", help="Only results after this time: 2h, 14:30, 2026-03-01.")
    ] = None,
    until: Annotated[str | None, Option("--until", metavar="TIME", help="Only results before this time.")] = None,
    limit: Annotated[int, Option("--limit", "-n", min=1, max=100, help="Maximum number of results.")] = 10,
    as_json: AsJson = False,
) -> None:
    """Search prompts, replies, tool inputs and tool results.

    All words must occur. The last word also matches as a prefix, but exact matches rank higher. The best results come
    first; newer results rank slightly higher.
    """
    query = " ".join(words)
    api = ApiClient.local()
    agent_id = choose_agent(api, agent)["id"] if agent else None
    filters = {"agent": agent_id, "client": client, "actor": actor, "tool": tool, "since": since, "until": until}
    found = api.search(query, project=resolve_project(project), limit=limit, **filters)
    if as_json:
        output.write_json(found)
        return
    screen = output.screen()
    hits = clean_json(found["hits"])
    if not hits:
        filtered = any((project, *filters.values()))
        screen.show(no_results(query, clean_text(found["hint"] or ""), filtered=filtered))
        return
    screen.show(result_lines(hits, now(), screen.width), then=results_footer(hits, more=found["next"] is not None))
