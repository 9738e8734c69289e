"""The complete request of a wait: its tool call, with the diff of the files that the call edits.

Rules
- The request is made on the agent's machine, because the file is there. Another daemon requests it as a remote action.
  If that machine does not answer, the request is made from the log, and the diff says so. Each remote action is stored
  as events, so its result is used for a while.
- While a hook is held open, its complete payload is in memory. Otherwise the request is made from the stored event,
  whose long texts may be cut; `complete` and `left_out` say so.
- A file is read whenever its request is shown, while the request is open: the diff shows what an approval changes now.
  Afterwards the file has changed. Whether the hook is held open does not matter, because most clients hold none.
- No file is read for an event without the ingest token: any program can send one, with any path.
- Secrets are redacted, also those of the file.
"""

import asyncio

import msgspec

from claude_headspace.clients.decode import decode
from claude_headspace.clients.requests import grant_options, requested_edits
from claude_headspace.engine.remote_actions import Action, RemoteActions
from claude_headspace.errors import HeadspaceError
from claude_headspace.kernel.agent import Agent, Wait
from claude_headspace.kernel.envelope import SECOND, Micros
from claude_headspace.kernel.facts import Event
from claude_headspace.kernel.redaction.redactor import Redactor
from claude_headspace.kernel.tools import ToolUse
from claude_headspace.kernel.wait.grants import GrantOption
from claude_headspace.kernel.wait.request_text import describe_call, describe_message, limited, short_path
from claude_headspace.kernel.wait.requested_edit import NotApplicable, RequestedEdit, edit_diff, join_diffs, own_diff
from claude_headspace.kernel.wait.views import RequestView, WaitDetailsView, wait_details_view
from claude_headspace.outputs.held_hooks import HeldHooks
from claude_headspace.surfaces.read.agent_files import read_text
from claude_headspace.surfaces.read.model import ReadModel

ACTION = "wait_request"
REUSE: Micros = 15 * SECOND
"""How long the result of another machine is used."""
MAX_REUSED = 100
CLOSED = "the request is closed, and the file may have changed since"
UNAUTHENTICATED = "the request was reported without the token of this installation"
ELSEWHERE = "it is on the machine {host}"
"""Why a file is not read."""


class RequestQuery(msgspec.Struct, frozen=True):
    """Which request another daemon needs."""

    wait_id: str
    everything: bool = False


class WaitRequests:
    """Makes the requests of waits on this machine."""

    def __init__(self, read: ReadModel, held: HeldHooks, redact: Redactor, host: str) -> None:
        self._read = read
        self._held = held
        self._redact = redact
        self._host = host

    async def handle(self, _agent: Agent, action: Action) -> RequestView:
        """The request of a wait, for another daemon."""
        query = msgspec.json.decode(action.text, type=RequestQuery)
        wait = await asyncio.to_thread(self._read.waits.find, query.wait_id)
        return await asyncio.to_thread(self.make, wait, everything=query.everything)

    def make(self, wait: Wait, *, everything: bool, problem: str = "") -> RequestView:
        """The request of a wait. `problem` is why its machine did not make it."""
        event = self._held_event(wait) or self._read.waits.hook_of(wait)
        if event is not None and event.tool is not None:
            request = self._describe_call(wait, event, event.tool, problem)
        else:
            request = describe_message(wait, self._read.waits.message_of(wait))
        return request if everything else limited(request)

    def _describe_call(self, wait: Wait, event: Event, use: ToolUse, problem: str) -> RequestView:
        agent = self._read.agents.find(wait.agent_id)
        problem = problem or self._why_not_read(agent, wait, event)
        cwd, edits = event.meta.cwd, requested_edits(agent.client, use)
        diffs = [(short_path(edit.path, cwd), self._diff(edit, cwd, problem)) for edit in edits]
        return describe_call(wait, use, cwd, join_diffs(diffs) if diffs else None)

    def _why_not_read(self, agent: Agent, wait: Wait, event: Event) -> str:
        """Why the files of a request are not read; empty if they are."""
        if wait.closed_at is not None:
            return CLOSED
        if agent.host != self._host:
            return ELSEWHERE.format(host=agent.host)
        return UNAUTHENTICATED if event.observations.unauthenticated else ""

    def _held_event(self, wait: Wait) -> Event | None:
        """The complete hook that is held open for a wait, without its secrets."""
        received = self._held.received(wait.id)
        if received is None or wait.closed_at is not None:
            return None
        original = received.envelope.original_payload
        if original is None:
            return received.event
        return decode(msgspec.structs.replace(received.envelope, payload=self._redact(original)))

    def _diff(self, edit: RequestedEdit, cwd: str | None, problem: str) -> str:
        name = short_path(edit.path, cwd)
        try:
            if problem:
                raise NotApplicable(problem)
            text = read_text(edit.path, cwd)
            return edit_diff(edit, name, self._redact.text(text) if text is not None else None)
        except NotApplicable as reason:
            return own_diff(edit, name, reason)


class WaitDetails:
    """Shows a wait with its complete request, wherever its agent runs."""

    def __init__(self, read: ReadModel, requests: WaitRequests, remote_actions: RemoteActions, host: str) -> None:
        self._read = read
        self._requests = requests
        self._remote_actions = remote_actions
        self._host = host
        self._reused: dict[RequestQuery, tuple[Micros, RequestView]] = {}

    async def view(self, wait_id: str, *, everything: bool = False) -> WaitDetailsView:
        """A wait with its request. `everything` leaves nothing out that Headspace has."""
        wait = await asyncio.to_thread(self._read.waits.find, wait_id)
        agent = await asyncio.to_thread(self._read.agents.find, wait.agent_id)
        request = await self._request(agent, wait, everything=everything)
        return wait_details_view(wait, request, grant_options(agent.client, wait.suggestions))

    async def client_of(self, wait: Wait) -> str:
        """The client of the agent that waits."""
        return (await asyncio.to_thread(self._read.agents.find, wait.agent_id)).client

    async def grant_options(self, wait: Wait) -> tuple[GrantOption, ...]:
        """What can be granted together with an answer to a wait."""
        agent = await asyncio.to_thread(self._read.agents.find, wait.agent_id)
        return grant_options(agent.client, wait.suggestions)

    async def _request(self, agent: Agent, wait: Wait, *, everything: bool) -> RequestView:
        problem = ""
        if wait.held_until and agent.host != self._host:
            try:
                return await self._remote_request(agent, RequestQuery(wait.id, everything))
            except HeadspaceError as error:
                problem = error.message
        return await asyncio.to_thread(self._requests.make, wait, everything=everything, problem=problem)

    async def _remote_request(self, agent: Agent, query: RequestQuery) -> RequestView:
        """The request, made on the agent's machine now or a moment ago."""
        now = self._read.clock()
        made_at, request = self._reused.get(query, (0, None))
        if request is None or now - made_at > REUSE:
            action = Action(ACTION, "headspace", "api", msgspec.json.encode(query).decode())
            request = await self._remote_actions.do(agent, action, RequestView)
            if len(self._reused) >= MAX_REUSED:
                self._reused.clear()
            self._reused[query] = now, request
        return request
