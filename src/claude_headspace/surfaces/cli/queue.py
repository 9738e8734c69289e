"""`headspace queue`: prompts that are sent when their agents are idle."""

from typing import Annotated

from claude_headspace.errors import BadRequest
from claude_headspace.surfaces.cli import output
from claude_headspace.surfaces.cli.arguments.parameters import Argument
from claude_headspace.surfaces.cli.choose import choose_agent
from claude_headspace.surfaces.cli.options import AgentArgument, AsJson, examples, now
from claude_headspace.surfaces.cli.presentation.prompts import queue_lines
from claude_headspace.surfaces.client.api_client import ApiClient
from claude_headspace.surfaces.text.formatting import Json, one_line


@examples("headspace queue", "headspace queue --json")
def list_queue(as_json: AsJson = False) -> None:
    """List prompts that wait until their agent is idle."""
    agents = [agent for agent in ApiClient.local().agents() if agent["pending_prompts"]]
    if as_json:
        found = [{"agent": a["name"], "agent_id": a["id"], **prompt} for a in agents for prompt in a["pending_prompts"]]
        output.write_json(found)
        return
    output.write_result(agents, False, lambda agents, screen: queue_lines(agents, now(), screen.width))


@examples("headspace queue cancel calm-otter", "headspace queue cancel calm-otter 3f9a")
def cancel(
    agent: AgentArgument = None,
    prompt: Annotated[str, Argument("PROMPT", help="Beginning of its id; without it, all prompts of the agent.")] = "",
    as_json: AsJson = False,
) -> None:
    """Cancel the prompts that wait for an agent, or one of them."""
    api = ApiClient.local()
    found = choose_agent(api, agent, acts=True)
    wanted = [prompt] if prompt else [each["id"] for each in found["pending_prompts"]]
    if not wanted:
        raise BadRequest("no_prompt", f"No prompt waits for {found['name']}.", "`headspace queue` lists all prompts.")
    done = [api.cancel_prompt(found["id"], each) for each in wanted]
    output.write_result(done, as_json, lambda done, _: [output.line(_cancel_result(each)) for each in done])


def _cancel_result(done: Json) -> str:
    return f"{_DONE[done['status']]}: {one_line(done['summary'])}"


_DONE = {"cancelled": "Cancelled", "removed": "Removed from the list"}
