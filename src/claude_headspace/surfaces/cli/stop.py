"""CLI commands that end agents or hide them: `stop`, `archive`.

Both ask first on a terminal and need `--yes` elsewhere. They act only on agents that were named exactly
or chosen in the picker.
"""

from typing import Annotated

from claude_headspace.config import find_paths
from claude_headspace.errors import BadRequest
from claude_headspace.surfaces.cli import output
from claude_headspace.surfaces.cli.arguments.parameters import Argument, Option
from claude_headspace.surfaces.cli.choose import choose_agent
from claude_headspace.surfaces.cli.options import AgentArgument, AsJson, complete_agents, examples
from claude_headspace.surfaces.client.api_client import ApiClient, Json
from claude_headspace.surfaces.launch.demo import refuse_in_demo
from claude_headspace.surfaces.text.formatting import clean_text
from claude_headspace.surfaces.text.labels import stop_result

Yes = Annotated[bool, Option("--yes", "-y", help="Do not ask for confirmation.")]


@examples("headspace stop calm-otter", "headspace stop --force --yes calm-otter")
def stop(
    agent: AgentArgument = None,
    force: Annotated[
        bool, Option("--force", help="Use signals at once, without the exit command of the client.")
    ] = False,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """End the client of an agent.

    A turn is interrupted, and the exit command of the client is typed into its terminal. A client that does not end, or
    runs outside of tmux, gets SIGTERM, and then SIGKILL. `headspace resume` continues an agent that has ended.
    """
    refuse_in_demo(find_paths())
    api = ApiClient.local()
    found = choose_agent(api, None) if agent is None else find_exactly(api, agent)
    confirm_or_refuse(f"Stop {found['name']} ({found['state']}, in {found['project']['name']})?", yes=yes)
    done = api.stop(found["id"], force=force)
    output.write_result(done, as_json, lambda done, _: [output.line(stop_result(done))])


@examples("headspace archive calm-otter", "headspace archive --ended --yes", "headspace archive --undo calm-otter")
def archive(
    agents: Annotated[
        list[str] | None, Argument("AGENT", help="Names, ids or id prefixes.", complete=complete_agents)
    ] = None,
    ended: Annotated[bool, Option("--ended", help="All agents that have ended.")] = False,
    undo: Annotated[bool, Option("--undo", help="Put them back on the board.")] = False,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Take ended agents off the board.

    Nothing is deleted: `list --all`, `show`, `search` and `resume` still find them. An agent that runs again is back on
    the board.
    """
    if bool(agents) == ended:
        raise BadRequest("no_agent", "Name agents, or use --ended.", "`headspace list --state ended` lists them.")
    api = ApiClient.local()
    named = [find_exactly(api, each) for each in agents or ()]
    found = api.agents(state="ended", include_old=undo) if ended else named
    if undo:
        found = [each for each in found if each["archived"]]
    if not found:
        nothing = "None of these agents is archived." if undo else "No agent on the board has ended."
        output.write_result([], as_json, lambda *_: [output.line(nothing)])
        return
    names = ", ".join(each["name"] for each in found)
    if not undo:
        confirm_or_refuse(f"Archive {names}?", yes=yes)
    done = [api.archive(each["id"], archived=not undo) for each in found]
    text = f"Back on the board: {names}." if undo else f"Archived {names}."
    output.write_result(done, as_json, lambda _done, _: [output.line(clean_text(text))])


def find_exactly(api: ApiClient, reference: str) -> Json:
    """The agent with this name, id or start of the id. A similar name is refused."""
    found = api.agent(reference)
    if found["name"] == reference or (reference and found["id"].startswith(reference)):
        return found
    raise BadRequest(
        "not_exact",
        f"{reference} is not the whole name of an agent.",
        f"Did you mean {found['name']}? Name it exactly.",
    )


def confirm_or_refuse(question: str, *, yes: bool) -> None:
    """Ask on a terminal. Without one, `--yes` is needed."""
    if yes:
        return
    if not output.can_ask():
        raise BadRequest("not_confirmed", "Nobody can confirm this here. Nothing was done.", "Use --yes.")
    if not output.confirm(clean_text(question)):
        raise BadRequest("not_confirmed", "Not confirmed. Nothing was done.", "Answer y to confirm.")
