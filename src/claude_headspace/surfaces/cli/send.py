"""The CLI command `send`: a prompt to one agent, to several, or to all that match a filter."""

import sys
import uuid
from collections.abc import Sequence
from typing import Annotated

from claude_headspace.config import find_paths
from claude_headspace.errors import BadRequest
from claude_headspace.kernel.text import count
from claude_headspace.surfaces.cli import output
from claude_headspace.surfaces.cli.agents import State
from claude_headspace.surfaces.cli.arguments.parameters import Argument, Option
from claude_headspace.surfaces.cli.choose import ask_text, choose_agent
from claude_headspace.surfaces.cli.options import (
    AsJson,
    ClientOption,
    ProjectOption,
    complete_agents,
    examples,
    read_text,
    resolve_project,
)
from claude_headspace.surfaces.client.api_client import ApiClient
from claude_headspace.surfaces.client.saved_prompts import SavedPrompts
from claude_headspace.surfaces.client.several_agents import AgentResult, send_to_all
from claude_headspace.surfaces.launch.demo import refuse_in_demo
from claude_headspace.surfaces.text.formatting import Json, clean_text
from claude_headspace.surfaces.text.labels import send_result


def complete_saved(incomplete: str) -> list[str]:
    """Names of saved prompts for shell completion."""
    return [name for name in SavedPrompts(find_paths()).names() if name.startswith(incomplete)]


@examples(
    'headspace send calm-otter "Run the tests again."',
    "git diff | headspace send calm-otter -",
    "headspace send calm-otter --keep-draft /compact",
    'headspace send calm-otter --when-idle "Then update the changelog."',
    'headspace send calm-otter,able-ant "Rebase on main."',
    'headspace send --project shop --state idle "Rebase on main."',
    "headspace send calm-otter --saved review",
)
def send(
    agent: Annotated[
        str | None,
        Argument(
            "AGENT",
            help="Name, part of a name, or id; several with commas. Left out with --all or a filter.",
            complete=complete_agents,
        ),
    ] = None,
    text: Annotated[list[str] | None, Argument("TEXT", help="The text; - reads standard input.")] = None,
    keep_draft: Annotated[
        bool, Option("--keep-draft", help="Put a draft in the input box aside, and restore it afterwards.")
    ] = False,
    when_idle: Annotated[
        bool, Option("--when-idle", help="Wait until the agent is idle: `headspace queue` lists the prompt until then.")
    ] = False,
    saved: Annotated[
        str | None,
        Option(
            "--saved", metavar="NAME", help="Send a saved prompt; TEXT is added at the end.", complete=complete_saved
        ),
    ] = None,
    state: Annotated[State | None, Option("--state", "-s", help="To all agents in this state.")] = None,
    project: ProjectOption = None,
    client: ClientOption = None,
    everyone: Annotated[bool, Option("--all", help="To all agents that have not ended.")] = False,
    yes: Annotated[bool, Option("--yes", "-y", help="Do not ask before a prompt goes to all matching agents.")] = False,
    as_json: AsJson = False,
) -> None:
    """Type a prompt into the terminal of an agent, or of several.

    The text is typed once, and only if the client of the agent still runs in its pane, is ready for a prompt and has no
    draft in its input box. The command waits a few seconds for the agent to confirm that it received the text. With
    several agents it prints the result of each, and exits with 1 if one of them refused.
    """
    refuse_in_demo(find_paths())
    by_filter = everyone or bool(state or project or client)
    words = [each for each in ((agent or "") if by_filter else "", *(text or ())) if each]
    api = ApiClient.local()
    agents = _matching(api, state, project, client) if by_filter else _named(api, agent)
    prompt = _prompt(words, saved, agents)
    if by_filter:
        _confirm(agents, yes=yes)
    elif len(agents) == 1:
        sent = api.send(agents[0]["id"], prompt, uuid.uuid4().hex, keep_draft=keep_draft, when_idle=when_idle)
        output.write_result(sent, as_json, lambda sent, _: [output.line(send_result(sent))])
        return
    _show_results(list(send_to_all(api.send, agents, prompt, keep_draft=keep_draft, when_idle=when_idle)), as_json)


def _matching(api: ApiClient, state: str | None, project: str | None, client: str | None) -> Sequence[Json]:
    """All agents that a filter matches, and that have not ended."""
    found = api.agents(state=state, project=resolve_project(project), client=client)
    agents = [each for each in found if each["state"] != "ended"]
    if not agents:
        raise BadRequest("no_match", "No agent matches. Nothing was sent.", "`headspace list` shows all agents.")
    return agents


def _named(api: ApiClient, agent: str | None) -> Sequence[Json]:
    """The agents that were named, each once; without a name the user chooses one."""
    references = [part for part in (agent or "").split(",") if part]
    agents = [choose_agent(api, each, first=("idle",), acts=True) for each in references or (agent,)]
    return list({each["id"]: each for each in agents}.values())


def _prompt(words: Sequence[str], saved: str | None, agents: Sequence[Json]) -> str:
    """The saved prompt, then the text; without both the user types it."""
    before = SavedPrompts(find_paths()).read(saved) if saved is not None else ""
    if before and not words:
        return before
    names = clean_text(", ".join(agent["name"] for agent in agents))
    text = read_text(" ".join(words)) if words else ask_text(f"Prompt to {names}", "TEXT")
    return "\n\n".join(part for part in (before, text) if part)


def _confirm(agents: Sequence[Json], *, yes: bool) -> None:
    """Ask before a prompt goes to everything that a filter matches."""
    if yes:
        return
    names = clean_text(", ".join(agent["name"] for agent in agents))
    if not output.can_ask():
        hint = f"Add --yes to send it to {names}."
        raise BadRequest("not_confirmed", f"{count(len(agents), 'agent')} would get this prompt.", hint)
    if not output.confirm(f"Send the prompt to {count(len(agents), 'agent')} ({names})?"):
        raise BadRequest("not_confirmed", "Nothing was sent.", "Name the agents that should get it.")


def _show_results(results: Sequence[AgentResult], as_json: bool) -> None:
    if as_json:
        output.write_json([result.json() for result in results])
    else:
        output.screen().show([output.line(clean_text(result.text)) for result in results])
    if any(result.error is not None for result in results):
        sys.exit(1)
