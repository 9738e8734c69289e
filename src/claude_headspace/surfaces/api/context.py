"""The context of the endpoints. Every handler is called with it and the request."""

from dataclasses import dataclass

from claude_headspace.outputs.notify.notifier import Notifier
from claude_headspace.surfaces.api.administration import Administration
from claude_headspace.surfaces.api.agent_actions import AgentActions
from claude_headspace.surfaces.api.answers import Answers
from claude_headspace.surfaces.api.installation import Installation
from claude_headspace.surfaces.auth.requester import RequesterLookup
from claude_headspace.surfaces.live.stream import EventStream
from claude_headspace.surfaces.read.model import ReadModel


@dataclass(frozen=True, kw_only=True)
class ApiContext:
    """Reading (`read`, `stream`), acting (`actions`, `answers`, `notifier`), and the daemon itself."""

    read: ReadModel
    stream: EventStream
    actions: AgentActions
    answers: Answers
    notifier: Notifier
    requesters: RequesterLookup
    installation: Installation
    administration: Administration
