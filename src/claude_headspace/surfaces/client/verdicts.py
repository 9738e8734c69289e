"""Verdicts of the policy guard about the tool calls of an agent, read from the log. Loads no rules."""

from typing import Any

from claude_headspace.clients.tools import tool_of
from claude_headspace.surfaces.client.api_client import ApiClient, Json

PAGE = 1_000
INPUT_FIELDS = ("command", "file_path", "notebook_path", "path", "to")


def verdicts_of(client: ApiClient, agent_id: str, last: int) -> list[Json]:
    """The verdicts about the newest tool calls of an agent, oldest first."""
    found = [event for event in client.events(agent_id, limit=PAGE) if event["verdict"]]
    return [
        {"rule": None, "reason": None, "enforced": True, "lapse": None, **event["verdict"]}
        | {"seq": event["seq"], "at": event["fired_at"], "call": call_text(*tool_of(event["payload"]))}
        for event in found[-last:]
    ]


def call_text(tool: str, given: dict[str, Any]) -> str:
    """A tool call in short: the tool and its main input."""
    first = next((given[name] for name in INPUT_FIELDS if isinstance(given.get(name), str)), "")
    return f"{tool}: {first}" if first else tool
