"""Clients as people see them: titles, and what a client cannot do, in the same words on every surface. Pure."""

from collections.abc import Iterable, Sequence

import msgspec

from claude_headspace.clients.catalog import CLIENTS
from claude_headspace.clients.client import Capability, Client
from claude_headspace.clients.tools import FILE_KINDS, KNOWN_TOOLS
from claude_headspace.surfaces.text.formatting import Json

NOT_HELD = "Headspace did not run when the dialog opened, or does not wait for answers."
"""Why a dialog that Headspace could have answered cannot be answered, if no other reason is recorded."""


class CapabilityView(msgspec.Struct, frozen=True):
    """Something that a client can or cannot do."""

    name: str
    """Such as `answer_permission`."""
    title: str
    supported: bool
    text: str
    """Why it is not supported, as a sentence for people; if it is, a remark or nothing."""


class ClientView(msgspec.Struct, frozen=True):
    """A client: one program that people run agents with."""

    name: str
    """As in the field `client` of an agent."""
    title: str
    short_title: str
    program: str
    tested_versions: tuple[str, ...]
    capabilities: list[CapabilityView]


class ToolView(msgspec.Struct, frozen=True):
    """The words for a tool."""

    name: str
    doing: str
    """The verb for a running call, as in "editing auth.py"; may be empty."""
    wants: str
    """The verb of a permission, as in "wants to run"; may be empty."""
    is_file: bool
    """Whether it works on one file: then only the name of the file is shown."""


def tool_views() -> list[ToolView]:
    """The tools of all clients that have words of their own."""
    return [
        ToolView(name, tool.doing, tool.wants, tool.kind in FILE_KINDS)
        for name, tool in KNOWN_TOOLS.items()
        if tool.doing or tool.wants
    ]


def client_views() -> list[ClientView]:
    """All clients, in the order in which they are shown."""
    return [client_view(each) for each in CLIENTS.values()]


def client_view(client: Client) -> ClientView:
    """One client, with all capabilities."""
    capabilities = [
        CapabilityView(
            each.name.lower(), each.value, client.can(each), client.limits.get(each, client.notes.get(each, ""))
        )
        for each in Capability
    ]
    return ClientView(
        client.name, client.title, client.short_title, client.program, client.tested_versions, capabilities
    )


def clients_without_guards(problems: Sequence[Json]) -> str:
    """In which clients guards are off: " in Codex, opencode". Empty if one of the problems affects all clients."""
    names = list(dict.fromkeys(each.get("client") or "" for each in problems))
    titles = [CLIENTS[name].title if name in CLIENTS else name for name in names]
    return f" in {', '.join(titles)}" if all(titles) else ""


def short_title(name: str) -> str:
    """The name of a client where there is little space. An unknown client keeps its name."""
    found = CLIENTS.get(name)
    return found.short_title if found is not None else name


def limit(agent: Json, capability: Capability) -> str:
    """Why the client of an agent cannot do something; empty if it can, or if the client is unknown."""
    found = CLIENTS.get(agent["client"])
    return found.limits.get(capability, "") if found is not None else ""


def answering(kind: str) -> Capability:
    """What a client must be able to do so that a wait of this kind is answered through Headspace."""
    return Capability.ANSWER_QUESTION if kind == "question" else Capability.ANSWER_PERMISSION


def denying_with_message(kind: str) -> Capability:
    """What a client must be able to do so that it takes a message with the refusal of a wait of this kind."""
    return Capability.DECLINE_MESSAGE if kind == "question" else Capability.DENY_MESSAGE


def message_limit(client: str, kind: str) -> str:
    """Why a client takes no message with the refusal of a wait of this kind; empty if it does."""
    found = CLIENTS.get(client)
    return found.limits.get(denying_with_message(kind), "") if found is not None else ""


def answer_limit(agent: Json, wait: Json) -> str:
    """Why a wait can be answered only in the terminal; empty if it can be answered, or if nothing is known."""
    known = wait.get("obstacle") or limit(agent, answering(wait["kind"]))
    return known or (NOT_HELD if _was_never_held(agent, wait) else "")


def _was_never_held(agent: Json, wait: Json) -> bool:
    """Whether a dialog of a client whose hooks can be held was not held. A question in plain text has no dialog."""
    found = CLIENTS.get(agent["client"])
    has_dialog = wait["kind"] in ("permission", "plan", "elicitation") or bool(wait.get("questions"))
    return (
        found is not None
        and bool(found.held)
        and has_dialog
        and not wait.get("held_until")
        and not wait.get("answered")
    )


def has_several_clients(agents: Iterable[Json]) -> bool:
    """Whether these agents use more than one client. Only then their clients are worth a column."""
    return len({agent["client"] for agent in agents}) > 1


def tested_with(name: str) -> str:
    """The versions that a client was tested with: "tested with 0.166.0"; empty for an unknown client."""
    found = CLIENTS.get(name)
    return f"tested with {' and '.join(found.tested_versions)}" if found is not None else ""
