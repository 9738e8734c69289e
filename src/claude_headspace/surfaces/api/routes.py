"""The JSON API: a table of endpoints, each with its types. The routes and `/openapi.json` are made from it."""

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial

import msgspec
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from claude_headspace.engine.writer import Engine
from claude_headspace.errors import BadRequest
from claude_headspace.inputs.watch.transcript_import import History, Imported, PastFile
from claude_headspace.kernel.acts import AgentRenamed
from claude_headspace.kernel.agent import AgentState
from claude_headspace.kernel.answers import Answer
from claude_headspace.kernel.envelope import Observations
from claude_headspace.kernel.names import NAME
from claude_headspace.kernel.react import STREAM_TYPES
from claude_headspace.kernel.views import AgentView, CommandView, SessionView, Time, TurnView, WaitView, agent_view
from claude_headspace.ports import Clock, Difference, EventFilter, Maintenance
from claude_headspace.surfaces.api.endpoints import actions, activity, missions, usage
from claude_headspace.surfaces.api.endpoints import efforts as efforts_api
from claude_headspace.surfaces.api.endpoints import installation as household
from claude_headspace.surfaces.api.endpoints import interrupt as interrupting
from claude_headspace.surfaces.api.endpoints import log_transfer as past_api
from claude_headspace.surfaces.api.endpoints import maintenance as upkeep_api
from claude_headspace.surfaces.api.endpoints import notifications as notify_api
from claude_headspace.surfaces.api.endpoints import plate_spinner as plates
from claude_headspace.surfaces.api.endpoints import search as search_api
from claude_headspace.surfaces.api.endpoints import tokens as token_api
from claude_headspace.surfaces.api.endpoints import tool_calls as calls
from claude_headspace.surfaces.api.endpoints.answers import Answering
from claude_headspace.surfaces.api.metrics import Metrics
from claude_headspace.surfaces.api.openapi import Endpoint, Parameter
from claude_headspace.surfaces.api.parameters import (
    AFTER,
    BEFORE,
    LARGEST_PAGE,
    LIMIT,
    MOMENT,
    read_body,
    read_flag,
    read_limit,
    read_words,
    whole_number,
)
from claude_headspace.surfaces.api.read_model import EventView, ReadModel, StateView
from claude_headspace.surfaces.api.services import Services
from claude_headspace.surfaces.auth.middleware import ACTOR
from claude_headspace.surfaces.live.stream import Broadcaster, Wanted
from claude_headspace.surfaces.text.timestamps import parse_past_time

STATES = [state.value for state in AgentState]


class Health(msgspec.Struct, frozen=True):
    """Whether all parts work."""

    status: str
    version: str
    parts: dict[str, "PartHealth"]


class PartHealth(msgspec.Struct, frozen=True):
    """One background part."""

    status: str
    detail: str


AWAY = PartHealth("waiting", "begins when the database is there")


def part(running: bool, failure: str | None, detail: str) -> PartHealth:
    """How a background part is doing."""
    if not running:
        return PartHealth("stopped", "not running: restart the daemon and see `headspace logs`")
    return PartHealth("failing", failure) if failure else PartHealth("ok", detail)


class SpoolStatus(msgspec.Struct, frozen=True):
    """What the shims told: on its way, set aside as unreadable, lost while it was full, taken since the start."""

    depth: int
    rejected: int
    lost: int
    taken: int
    last_drain_at: Time | None


class TroubleView(msgspec.Struct, frozen=True):
    """A time without the journal, or without a daemon: events waited in the spool, or were lost where that was full."""

    since: Time
    until: Time | None
    reason: str
    spooled: int
    lost: int


class HookStatus(msgspec.Struct, frozen=True, kw_only=True):
    """How the receiver is doing."""

    enabled: bool
    mode: str
    polling_interval_seconds: float
    last_event_at: Time | None
    seconds_since_last_event: float | None
    last_look_at: Time | None
    events_total: int | None
    events_since_start: int
    agents: dict[str, int] | None
    anomalies: int | None
    last_seq: int | None
    refused: dict[str, int]
    spool: SpoolStatus
    sources: dict[str, PartHealth]
    """What is read beside the hooks: transcripts, registry, processes."""
    journal: PartHealth
    """Whether the database is there; while it is not, what only it knows is null."""
    troubles: list[TroubleView]
    """When it was not, and whether a daemon was killed: the newest of the last week."""
    version: str
    pid: int
    started_at: Time


class Verification(msgspec.Struct, frozen=True):
    """Whether the projections follow from the log."""

    ok: bool
    differences: list[Difference]


class Rebuilt(msgspec.Struct, frozen=True):
    """How much was replayed."""

    events: int


class Renaming(msgspec.Struct, frozen=True):
    """Another name for an agent."""

    name: str


class Importing(msgspec.Struct, frozen=True):
    """The transcript to bring in."""

    path: str


LOG_PARAMETERS = (
    LIMIT,
    AFTER,
    BEFORE,
    Parameter("names", "Only events of these names, with commas.", {"type": "string"}),
    Parameter("origins", "Only what these told, with commas, such as hook.", {"type": "string"}),
    Parameter("odd", "Only those that were odd.", {"type": "boolean"}),
)


class Api:
    """The endpoints, over what the daemon hands in."""

    def __init__(
        self,
        model: ReadModel,
        engine: Engine,
        broadcaster: Broadcaster,
        metrics: Metrics,
        upkeep: Maintenance,
        clock: Clock,
        health: Callable[[], Health],
        status: Callable[[], HookStatus],
        spool_depth: Callable[[], int],
        history: History,
        services: Services,
        answering: Answering,
    ) -> None:
        self._model = model
        self._engine = engine
        self._broadcaster = broadcaster
        self._metrics = metrics
        self._upkeep = upkeep
        self._clock = clock
        self._health = health
        self._status = status
        self._spool_depth = spool_depth
        self._history = history
        self.services = services
        self._answering = answering

    def routes(self) -> list[Route]:
        """The endpoints as Starlette takes them."""
        return [Route(e.path, _respond(partial(e.handler, self)), methods=[e.method]) for e in ENDPOINTS if e.handler]

    # --- reading ---

    async def health(self, _request: Request) -> Health:
        """Whether all parts work."""
        return self._health()

    async def hook_status(self, _request: Request) -> HookStatus:
        """How the receiver is doing."""
        return await asyncio.to_thread(self._status)

    async def agents(self, request: Request) -> list[AgentView]:
        """The board."""
        query = request.query_params
        return await asyncio.to_thread(
            self._model.agents,
            state=_state(query.get("state") or None),
            project=query.get("project") or None,
            every=read_flag(request, "all"),
        )

    async def agent(self, request: Request) -> AgentView:
        """One agent, now or at a moment."""
        reference, told = request.path_params["agent"], request.query_params.get("at")
        if told is None:
            return await asyncio.to_thread(self._model.agent, reference)
        return await asyncio.to_thread(self._model.agent_at, reference, parse_past_time("at", told, self._clock()))

    async def turns(self, request: Request) -> list[TurnView]:
        """What was said."""
        return await asyncio.to_thread(self._model.turns, request.path_params["agent"], read_limit(request))

    async def commands(self, request: Request) -> list[CommandView]:
        """What the agent was told to do."""
        return await asyncio.to_thread(self._model.commands, request.path_params["agent"], read_limit(request))

    async def sessions(self, request: Request) -> list[SessionView]:
        """The agent's context windows."""
        return await asyncio.to_thread(self._model.sessions, request.path_params["agent"])

    async def evidence(self, request: Request) -> list[StateView]:
        """Why the agent is believed to be in its state."""
        return await asyncio.to_thread(self._model.evidence, request.path_params["agent"], read_limit(request))

    async def command_turns(self, request: Request) -> list[TurnView]:
        """What was said in one command."""
        return await asyncio.to_thread(self._model.command_turns, request.path_params["command"], read_limit(request))

    async def waits(self, request: Request) -> list[WaitView]:
        """Who needs a human."""
        agent = request.query_params.get("agent") or None
        return await asyncio.to_thread(self._model.waits, reference=agent, only_open=not read_flag(request, "all"))

    async def events(self, request: Request) -> list[EventView]:
        """The log, of one agent or of all."""
        agent = request.path_params.get("agent")
        query, limit = request.query_params, read_limit(request)
        choice = EventFilter(
            names=read_words(request, "names"),
            origins=read_words(request, "origins"),
            only_anomalies=read_flag(request, "odd"),
            before_seq=whole_number("before", query.get("before") or None, 0),
        )
        after = whole_number("after", query.get("after") or None, 0)
        return await asyncio.to_thread(self._model.events, reference=agent, after=after, limit=limit, choice=choice)

    async def stream(self, request: Request) -> Response:
        """Everything as it happens."""
        query = request.query_params
        types = frozenset(kind for kind in query.get("types", "").split(",") if kind)
        unknown = types - set(STREAM_TYPES)
        if unknown:
            raise BadRequest(
                "unknown_type", f"There is no stream event {min(unknown)}.", f"There are: {', '.join(STREAM_TYPES)}."
            )
        wanted = Wanted(types, query.get("agent_id") or None, query.get("project_id") or None)
        # A browser that reconnects repeats the address it began with, and tells in the header how far it came.
        resumed_at = request.headers.get("last-event-id") or query.get("last_event_id") or None
        after = whole_number("last_event_id", resumed_at, 0)
        if request.method == "HEAD":
            return Response(media_type="text/event-stream")
        now = await self._broadcaster.now()
        return StreamingResponse(self._broadcaster.read(wanted, after, now), media_type="text/event-stream")

    async def metrics(self, _request: Request) -> Response:
        """Numbers for Prometheus."""
        counts = await asyncio.to_thread(self._status)
        page = self._metrics.text(counts.agents, self._broadcaster.readers, self._spool_depth)
        return Response(page, media_type="text/plain; version=0.0.4")

    # --- acting ---

    async def rename(self, request: Request) -> AgentView:
        """Give an agent another name."""
        name = (await read_body(request, Renaming)).name.strip().lower()
        if not NAME.fullmatch(name):
            raise BadRequest(
                "bad_name",
                f"An agent cannot be called {name[:60]!r}.",
                "Use up to 40 small letters, digits, dots and dashes, beginning and ending with a letter or digit.",
            )
        agent = await asyncio.to_thread(self._model.resolve, request.path_params["agent"])
        actor = request.scope.get(ACTOR)
        outcome = await self._engine.record(AgentRenamed(name=name), agent.id, observations=Observations(actor=actor))
        return agent_view(outcome.agent)

    async def answer(self, request: Request) -> WaitView:
        """Answer what an agent waits for."""
        return await self._answering.answer(request, request.path_params["wait"], await read_body(request, Answer))

    async def verify(self, _request: Request) -> Verification:
        """Replay the log and compare."""
        differences = await asyncio.to_thread(lambda: list(self._upkeep.verify()))
        return Verification(not differences, differences[:LARGEST_PAGE])

    async def rebuild(self, _request: Request) -> Rebuilt:
        """Make the projections anew."""
        return Rebuilt(await asyncio.to_thread(self._upkeep.rebuild))

    async def past_files(self, _request: Request) -> list[PastFile]:
        """The transcripts that there are."""
        return await self._history.files()

    async def import_file(self, request: Request) -> Imported:
        """Bring one of them in."""
        return await self._history.read((await read_body(request, Importing)).path)


ENDPOINTS: tuple[Endpoint, ...] = (
    Endpoint("GET", "/health", "Whether all parts work.", Api.health, Health, scope="none"),
    Endpoint("GET", "/hook/status", "How the receiver is doing.", Api.hook_status, HookStatus, scope="none"),
    Endpoint(
        "GET",
        "/api/agents",
        "The board: those who need somebody first.",
        Api.agents,
        list[AgentView],
        parameters=(
            Parameter("state", "Only agents in this state.", {"type": "string", "enum": STATES}),
            Parameter("project", "Only agents of this project (id, name or root).", {"type": "string"}),
            Parameter("all", "Also those that ended more than a day ago.", {"type": "boolean"}),
        ),
    ),
    Endpoint(
        "GET",
        "/api/agents/{agent}",
        "One agent, by id, name or beginning of the id; with `at` as it was then.",
        Api.agent,
        AgentView,
        parameters=(Parameter("at", "As far as it was known at this moment.", MOMENT),),
    ),
    Endpoint("GET", "/api/agents/{agent}/turns", "What was said.", Api.turns, list[TurnView], parameters=(LIMIT,)),
    Endpoint(
        "GET",
        "/api/agents/{agent}/commands",
        "What the agent was told to do.",
        Api.commands,
        list[CommandView],
        parameters=(LIMIT,),
    ),
    Endpoint("GET", "/api/agents/{agent}/sessions", "The agent's context windows.", Api.sessions, list[SessionView]),
    Endpoint(
        "GET",
        "/api/agents/{agent}/events",
        "The agent's events, as they arrived.",
        Api.events,
        list[EventView],
        parameters=LOG_PARAMETERS,
    ),
    Endpoint(
        "GET",
        "/api/agents/{agent}/evidence",
        "Why the agent is believed to be in its state, and in those before.",
        Api.evidence,
        list[StateView],
        parameters=(LIMIT,),
    ),
    Endpoint(
        "POST",
        "/api/agents/{agent}/rename",
        "Give an agent another name.",
        Api.rename,
        AgentView,
        scope="act",
        takes=Renaming,
    ),
    Endpoint(
        "GET",
        "/api/commands/{command}/turns",
        "What was said in one command.",
        Api.command_turns,
        list[TurnView],
        parameters=(LIMIT,),
    ),
    Endpoint(
        "GET",
        "/api/waits",
        "Who needs a human, and what for.",
        Api.waits,
        list[WaitView],
        parameters=(
            Parameter("agent", "Only of this agent.", {"type": "string"}),
            Parameter("all", "Also those that are over.", {"type": "boolean"}),
        ),
    ),
    Endpoint(
        "POST",
        "/api/waits/{wait}/answer",
        "Answer what an agent waits for, while its client holds it open.",
        Api.answer,
        WaitView,
        scope="act",
        takes=Answer,
    ),
    Endpoint("GET", "/api/events", "The log, as it arrived.", Api.events, list[EventView], parameters=LOG_PARAMETERS),
    Endpoint(
        "GET",
        "/api/events/stream",
        "Everything as it happens, as server-sent events; `Last-Event-ID` resumes.",
        Api.stream,
        str,
        parameters=(
            Parameter("types", f"Only these events, with commas: {', '.join(STREAM_TYPES)}.", {"type": "string"}),
            Parameter("agent_id", "Only of this agent.", {"type": "string"}),
            Parameter("project_id", "Only of this project.", {"type": "string"}),
            Parameter("last_event_id", "Resume after this number.", {"type": "integer", "minimum": 0}),
        ),
        produces="text/event-stream",
    ),
    Endpoint("GET", "/metrics", "Numbers for Prometheus.", Api.metrics, str, produces="text/plain"),
    Endpoint(
        "POST",
        "/api/admin/db/verify",
        "Replay the log and compare it with what is shown.",
        Api.verify,
        Verification,
        scope="admin",
    ),
    Endpoint(
        "POST",
        "/api/admin/db/rebuild",
        "Make everything that follows from the log anew.",
        Api.rebuild,
        Rebuilt,
        scope="admin",
    ),
    Endpoint(
        "GET",
        "/api/admin/import",
        "The transcripts that are there already, and how much of each was brought in.",
        Api.past_files,
        list[PastFile],
        scope="admin",
    ),
    Endpoint(
        "POST",
        "/api/admin/import",
        "Bring a transcript in: sessions that nobody has open come in as ended.",
        Api.import_file,
        Imported,
        scope="admin",
        takes=Importing,
    ),
    *search_api.ENDPOINTS,
    *activity.ENDPOINTS,
    *calls.ENDPOINTS,
    *usage.ENDPOINTS,
    *efforts_api.ENDPOINTS,
    *household.ENDPOINTS,
    *notify_api.ENDPOINTS,
    *past_api.ENDPOINTS,
    *token_api.ENDPOINTS,
    *upkeep_api.ENDPOINTS,
    *actions.ENDPOINTS,
    *missions.ENDPOINTS,
    *interrupting.ENDPOINTS,
    *plates.ENDPOINTS,
)
"""Every path, with its types."""


def _respond(handler: Callable[[Request], Awaitable[object]]) -> Callable[[Request], Awaitable[Response]]:
    async def respond(request: Request) -> Response:
        result = await handler(request)
        if isinstance(result, Response):
            return result
        return Response(msgspec.json.encode(result), media_type="application/json")

    return respond


def _state(value: str | None) -> str | None:
    if value is not None and value not in STATES:
        raise BadRequest("bad_parameter", f"There is no state {value[:60]}.", f"There are: {', '.join(STATES)}.")
    return value
