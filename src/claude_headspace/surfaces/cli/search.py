"""`headspace search`: what was said and done, found by its words."""

from typing import Annotated, Literal

import typer

from claude_headspace.surfaces.cli.options import AsJson, complete_agents, now, project_meant


def search(
    words: Annotated[
        list[str], typer.Argument(metavar="QUERY", help="Words that must all occur; a phrase stands in quotes.")
    ],
    project: Annotated[
        str | None, typer.Option("--project", "-p", help="Only of this project: name, id or directory.")
    ] = None,
    agent: Annotated[
        str | None, typer.Option("--agent", "-a", help="Only of this agent.", autocompletion=complete_agents)
    ] = None,
    actor: Annotated[
        Literal["user", "agent"] | None, typer.Option("--actor", help="Only what the user or the agent said.")
    ] = None,
    tool: Annotated[str | None, typer.Option("--tool", "-t", help="Only of this tool, as in `Bash`.")] = None,
    since: Annotated[str | None, typer.Option("--since", help="Not older: 2h, 14:30, 2026-03-01.")] = None,
    until: Annotated[str | None, typer.Option("--until", help="Not newer.")] = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=100, help="How many at most.")] = 10,
    as_json: AsJson = False,
) -> None:
    """Search prompts, answers, and what tools were given and gave back.

    All words must occur; the last one may be a beginning, but what has the word itself comes first. The best hits come
    first, newer ones a little before older.
    """
    from claude_headspace.surfaces.cli import output as terminal
    from claude_headspace.surfaces.cli.presentation.search_results import after_findings, findings, nothing_found
    from claude_headspace.surfaces.client.api_client import ApiClient
    from claude_headspace.surfaces.text.labels import clean_json, clean_text

    query = " ".join(words)
    found = ApiClient.local().search(
        query,
        project=project_meant(project),
        agent=agent,
        actor=actor,
        tool=tool,
        since=since,
        until=until,
        limit=limit,
    )
    if as_json:
        terminal.write_json(found)
        return
    screen = terminal.screen()
    hits = clean_json(found["hits"])
    if not hits:
        hint = clean_text(found["hint"] or "")
        screen.show(nothing_found(query, hint, filtered=any((project, agent, actor, tool, since, until))))
        return
    screen.show(findings(hits, now(), screen.width), then=after_findings(hits, more=found["next"] is not None))
