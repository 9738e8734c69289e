"""The Python client of the API, for the command line, the terminal and scripts. Imports no HTTP library, to start fast.

    from claude_headspace.surfaces.client.api_client import ApiClient

    client = ApiClient.local()
    for agent in client.agents(state="waiting"):
        print(agent["name"], agent["waits"][-1]["text"])

Results are decoded JSON, as described in `/openapi.json`. Errors of the API are raised as `HeadspaceError` with code,
message and hint, and as `DaemonMissing` if no daemon answers. Every request has a time limit and uses the token with
the smallest scope that it needs.
"""

import http.client
import json
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode, urlsplit

from claude_headspace.clients.environment import clients_in, session_in
from claude_headspace.config import Paths, find_paths
from claude_headspace.errors import BadRequest, DaemonMissing, Forbidden, HeadspaceError, JournalUnavailable
from claude_headspace.surfaces.auth.tokens import Scope, make_token, read_secret
from claude_headspace.surfaces.client.running_daemon import DaemonInfo, code_fingerprint, find_daemon, is_locked

Json = dict[str, Any]

ANSWER_SECONDS = 10.0
DELIVERY_SECONDS = 35.0
"""How long to wait for the result of an answer, which some clients get as keystrokes."""
REPLAY_SECONDS = 3600.0
"""How long the daemon may take to replay its whole log."""
SEND_SECONDS = 60.0
"""The daemon types one text at a time to an agent, and waits for its confirmation."""
NOTIFY_SECONDS = 300.0
"""A test waits for every channel."""
SILENCE_SECONDS = 120.0
"""A stream without a heartbeat for this long is closed."""
RETRY_SECONDS = 0.5

START_HINT = "Start it with `headspace up`."
UNKNOWN_ENDPOINT_CODES = ("not_found", "method_not_allowed")
"""Errors of a daemon that does not know an endpoint. A daemon with the same code knows all of them."""
_WILDCARD_HOSTS = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104  # addresses to listen on, and how to reach them


class Message(NamedTuple):
    """One event of the stream."""

    id: int | None
    type: str
    data: Json


class ApiClient:
    """Sends requests to one daemon."""

    def __init__(
        self,
        url: str,
        tokens: Mapping[Scope, str],
        timeout: float = ANSWER_SECONDS,
        via: str = "cli",
        *,
        code: str | None = None,
    ) -> None:
        self.url = url
        self._tokens = tokens
        self._via = via
        self._timeout = timeout
        self._code = code
        """The fingerprint of the daemon's code, if known."""
        parts = urlsplit(url)
        self._host, self._port = _WILDCARD_HOSTS.get(parts.hostname or "", parts.hostname or ""), parts.port or 80

    @classmethod
    def local(cls, paths: Paths | None = None, timeout: float = ANSWER_SECONDS, via: str = "cli") -> "ApiClient":
        """A client for the local daemon, with tokens made from the local secret."""
        paths = paths or find_paths()
        daemon = _find_running(paths)
        return cls(daemon.url, local_tokens(paths), timeout, via, code=daemon.code)

    # --- read ---

    def agents(
        self,
        *,
        state: str | None = None,
        project: str | None = None,
        client: str | None = None,
        include_old: bool = False,
    ) -> list[Json]:
        """The board, agents that need a person first. `include_old` includes agents that ended over a day ago."""
        everything = "true" if include_old else None
        return self._list("/api/agents", state=state, project=project, client=client, all=everything)

    def clients(self) -> list[Json]:
        """All clients that the daemon supports, with what each can do."""
        return self._list("/api/clients")

    def agent(self, reference: str) -> Json:
        """One agent, by id, name or beginning of the id."""
        return self._object(_path("agents", reference))

    def agent_at(self, reference: str, time: str) -> Json:
        """One agent, as it was known at a time."""
        return self._object(_with_query(_path("agents", reference), at=time), REPLAY_SECONDS)

    def turns(self, reference: str, limit: int = 100) -> list[Json]:
        """The turns of an agent, newest last."""
        return self._list(_path("agents", reference, "turns"), limit=limit)

    def command_turns(self, command_id: str, limit: int = 100) -> list[Json]:
        """The turns of one command, newest last."""
        return self._list(_path("commands", command_id, "turns"), limit=limit)

    def tool_calls(self, reference: str, limit: int = 100) -> list[Json]:
        """The tool calls of an agent, newest last."""
        return self._list(_path("agents", reference, "calls"), limit=limit)

    def commands(self, reference: str, limit: int = 100) -> list[Json]:
        """The commands of an agent, newest last."""
        return self._list(_path("agents", reference, "commands"), limit=limit)

    def sessions(self, reference: str) -> list[Json]:
        """The sessions of an agent."""
        return self._list(_path("agents", reference, "sessions"))

    def evidence(self, reference: str, limit: int = 100) -> list[Json]:
        """The states of an agent with their reasons, newest last."""
        return self._list(_path("agents", reference, "evidence"), limit=limit)

    def changes(self, reference: str, command: str | None = None) -> Json:
        """What an agent, or one of its commands (id, number or `latest`), changed."""
        return self._object(_with_query(_path("agents", reference, "changes"), command=command), SEND_SECONDS)

    def waits(self, *, agent: str | None = None, include_closed: bool = False) -> list[Json]:
        """Open waits. `include_closed` includes closed ones."""
        return self._list("/api/waits", agent=agent, all="true" if include_closed else None)

    def wait(self, wait_id: str, *, all: bool = False) -> Json:
        """One wait with the complete request. `all` leaves nothing out that Headspace has."""
        return self._object(_with_query(_path("waits", wait_id), all="true" if all else None), SEND_SECONDS)

    def missions(self, *, include_old: bool = False) -> list[Json]:
        """Missions, newest first. `include_old` includes missions that ended over a day ago."""
        return self._list("/api/missions", all="true" if include_old else None)

    def mission(self, reference: str) -> Json:
        """One mission, by id, beginning of the id, or name of its worker."""
        return self._object(_path("missions", reference))

    def events(self, reference: str | None = None, *, after: int | None = None, limit: int = 100) -> list[Json]:
        """Events of the log, of one agent or of all."""
        path = _path("agents", reference, "events") if reference else "/api/events"
        return self._list(path, after=after, limit=limit)

    def efforts(self, *, include_finished: bool = False, agent: str | None = None) -> list[Json]:
        """Active efforts, newest first. `include_finished` includes finished ones."""
        return self._list("/api/efforts", all="true" if include_finished else None, agent=agent)

    def effort(self, reference: str) -> Json:
        """One effort with its sessions and messages."""
        return self._object(_path("efforts", reference))

    def search(self, query: str, **filters: str | int | None) -> Json:
        """Search results, best first."""
        return self._object(_with_query("/api/search", q=query, **filters))

    def usage(self, by: str, **filters: str | None) -> Json:
        """Cost and tokens of agents, grouped."""
        return self._object(_with_query("/api/usage", by=by, **filters))

    def status(self) -> Json:
        """The status of the daemon."""
        return self._object("/hook/status")

    def last_seq(self) -> int:
        """The number of the newest event. A stream that starts after it misses nothing."""
        found: int | None = self.status()["last_seq"]
        if found is None:
            raise JournalUnavailable("journal_unavailable", "The database is unavailable.", "See `headspace status`.")
        return found

    def health(self) -> Json:
        """The health of all components."""
        return self._object("/health")

    # --- act ---

    def rename(self, reference: str, name: str) -> Json:
        """Rename an agent."""
        return self._post(_path("agents", reference, "rename"), Scope.ACT, {"name": name})

    def register(self, headspace_id: str, cwd: str, **more: str | int | None) -> Json:
        """Register an agent that is about to be started."""
        given = {name: value for name, value in more.items() if value is not None}
        return self._post("/api/agents", Scope.ACT, {"headspace_id": headspace_id, "cwd": cwd, **given})

    def resume(self, reference: str, **where: str | int | None) -> Json:
        """Report that an ended agent is being resumed."""
        given = {name: value for name, value in where.items() if value is not None}
        return self._post(_path("agents", reference, "resume"), Scope.ACT, given)

    def close(self, reference: str, reason: str, pid: int | None) -> Json:
        """Report that the client of an agent ended."""
        return self._post(_path("agents", reference, "close"), Scope.ACT, {"reason": reason, "pid": pid})

    def restart(self, reference: str, reason: str) -> Json:
        """Report a supervised restart."""
        return self._post(_path("agents", reference, "restart"), Scope.ACT, {"reason": reason})

    def unsupervise(self, reference: str, reason: str) -> Json:
        """Report the end of supervision."""
        return self._post(_path("agents", reference, "unsupervise"), Scope.ACT, {"reason": reason})

    def mark_seen(self, reference: str) -> Json:
        """Report that a person has looked at an agent."""
        return self._post(_path("agents", reference, "seen"), Scope.ACT, {})

    def send(
        self, reference: str, text: str, send_id: str, *, keep_draft: bool = False, when_idle: bool = False
    ) -> Json:
        """Type a prompt into the terminal of an agent, now or when it is idle. Idempotent by `send_id`."""
        body = {"text": text, "id": send_id, "keep_draft": keep_draft, "when_idle": when_idle}
        return self._post(_path("agents", reference, "send"), Scope.ACT, body, SEND_SECONDS)

    def cancel_prompt(self, reference: str, prompt_id: str) -> Json:
        """Remove a pending prompt of an agent, by its id or the beginning of its id."""
        return self._post(_path("agents", reference, "prompts", prompt_id, "cancel"), Scope.ACT, {})

    def start_mission(self, goal: str, cwd: str, mode: str, **more: str | None) -> Json:
        """Register a mission, with a placeholder for the agent that will work on it."""
        given = {name: value for name, value in more.items() if value}
        return self._post("/api/missions", Scope.ACT, {"goal": goal, "cwd": cwd, "mode": mode, **given})

    def report(self, text: str, mission: str = "mine", *, failed: bool = False) -> Json:
        """Report the result of a mission, as its worker."""
        return self._post(_path("missions", mission, "report"), Scope.ACT, {"text": text, "failed": failed})

    def finish_mission(self, reference: str, outcome: str, text: str = "") -> Json:
        """Close a mission with an outcome."""
        return self._post(_path("missions", reference, "finish"), Scope.ACT, {"outcome": outcome, "text": text})

    def interrupt(self, reference: str) -> Json:
        """Press Esc in the terminal of an agent."""
        return self._post(_path("agents", reference, "interrupt"), Scope.ACT, {}, SEND_SECONDS)

    def stop(self, reference: str, *, force: bool = False) -> Json:
        """End the client of an agent. `force`: with signals at once."""
        return self._post(_path("agents", reference, "stop"), Scope.ACT, {"force": force}, SEND_SECONDS)

    def archive(self, reference: str, *, archived: bool = True) -> Json:
        """Take an ended agent off the board, or put it back."""
        return self._post(_path("agents", reference, "archive"), Scope.ACT, {"archived": archived})

    def note(self, reference: str, text: str) -> Json:
        """Set the note of an agent. An empty text removes it."""
        return self._post(_path("agents", reference, "note"), Scope.ACT, {"text": text})

    def answer(self, wait_id: str, answer: Json, *, grant: Sequence[str] = ()) -> Json:
        """Answer a wait. `grant` has the ids of suggestions of the wait that are granted, too."""
        body = {**answer, "grant": list(grant)} if grant else answer
        return self._post(_path("waits", wait_id, "answer"), Scope.ACT, body, DELIVERY_SECONDS)

    def notifications(self) -> Json:
        """Sent and delayed notifications."""
        return self._object("/api/notifications")

    def notification_rules(self) -> Json:
        """The rules and channels of notifications."""
        return self._object("/api/notifications/rules")

    def test_notifications(self, channel: str | None) -> Json:
        """Send a test notification through one channel, or all."""
        return self._post("/api/notifications/test", Scope.ACT, {"channel": channel}, NOTIFY_SECONDS)

    def db_verify(self) -> Json:
        """Replay the log and compare it with the projections."""
        return self._post("/api/admin/db/verify", Scope.ADMIN, {}, REPLAY_SECONDS)

    def db_rebuild(self) -> Json:
        """Rebuild the projections from the log."""
        return self._post("/api/admin/db/rebuild", Scope.ADMIN, {}, REPLAY_SECONDS)

    def create_sign_in_link(self) -> Json:
        """A link that signs a browser in. It works once."""
        return self._post("/api/admin/signin", Scope.ADMIN, {})

    def db_prune(self, days: int | None, *, dry_run: bool) -> Json:
        """Delete events that are older than the retention period."""
        return self._post("/api/admin/db/prune", Scope.ADMIN, {"days": days, "dry_run": dry_run}, REPLAY_SECONDS)

    def tokens(self) -> list[Json]:
        """All named tokens."""
        answer: list[Json] = self._request("GET", "/api/admin/tokens", Scope.ADMIN)
        return answer

    def create_token(self, name: str, scopes: Sequence[str], owner: str = "", expires_at: str | None = None) -> Json:
        """Create a named token. Only this result contains its text."""
        body = {"name": name, "scopes": list(scopes), "owner": owner, "expires_at": expires_at}
        return self._post("/api/admin/tokens", Scope.ADMIN, body)

    def revoke_token(self, name: str) -> Json:
        """Revoke a named token."""
        return self._post(_path("admin", "tokens", name, "revoke"), Scope.ADMIN, {})

    def transcript_files(self) -> list[Json]:
        """Existing transcripts, and how many bytes of each are imported."""
        answer: list[Json] = self._request("GET", "/api/admin/import", Scope.ADMIN, None, REPLAY_SECONDS)
        return answer

    def import_file(self, path: str) -> Json:
        """Import a transcript."""
        return self._post("/api/admin/import", Scope.ADMIN, {"path": path}, REPLAY_SECONDS)

    def import_log(self, header: str, lines: Sequence[str], first: int) -> Json:
        """Import lines of an exported log."""
        body = {"header": header, "lines": list(lines), "first": first}
        return self._post("/api/admin/import/log", Scope.ADMIN, body, REPLAY_SECONDS)

    def export(self, reference: str) -> Iterator[bytes]:
        """The log of an agent, or of one session, line by line."""
        return self._lines(_path("agents", reference, "export"))

    # --- follow ---

    def stream(
        self, after: int | None = None, types: Sequence[str] = (), *, agent_id: str | None = None
    ) -> Iterator[Message]:
        """The events after an event number (None: from now on), until the daemon closes the stream."""
        path = _with_query("/api/events/stream", types=",".join(types) or None, agent_id=agent_id, last_event_id=after)
        return read_messages(self._lines(path))

    # --- requests ---

    def _list(self, path: str, **query: str | int | None) -> list[Json]:
        answer: list[Json] = self._request("GET", _with_query(path, **query), Scope.READ)
        return answer

    def _object(self, path: str, timeout: float | None = None) -> Json:
        answer: Json = self._request("GET", path, Scope.READ, timeout=timeout)
        return answer

    def _post(self, path: str, scope: Scope, body: Json, timeout: float | None = None) -> Json:
        answer: Json = self._request("POST", path, scope, json.dumps(body).encode(), timeout)
        return answer

    def _request(
        self, method: str, path: str, scope: Scope, body: bytes | None = None, timeout: float | None = None
    ) -> Any:
        with self._connect(timeout or self._timeout) as connection:
            return _decode(self._send(connection, method, path, scope, body).read())

    def _lines(self, path: str) -> Iterator[bytes]:
        with self._connect(SILENCE_SECONDS) as connection:
            yield from iter(self._send(connection, "GET", path, Scope.READ).readline, b"")

    @contextmanager
    def _connect(self, timeout: float) -> Iterator[http.client.HTTPConnection]:
        """A connection to the daemon. If it is refused or lost, the error is `DaemonMissing`."""
        connection = http.client.HTTPConnection(self._host, self._port, timeout=timeout)
        try:
            yield connection
        except (OSError, http.client.HTTPException) as error:
            raise self._missing(error) from error
        finally:
            connection.close()

    def _send(
        self, connection: http.client.HTTPConnection, method: str, path: str, scope: Scope, body: bytes | None = None
    ) -> http.client.HTTPResponse:
        headers = {"Content-Type": "application/json"} if body is not None else {}
        if token := self._tokens.get(scope):
            headers["Authorization"] = f"Bearer {token}"
        headers["X-Headspace-Via"] = self._via
        if session := _own_session():
            headers["X-Headspace-Caller-Session"] = quote(session)
        connection.request(method, path, body, headers)
        response = connection.getresponse()
        if response.status >= 400:
            raise self._explained(_error(response.status, response.read()))
        return response

    def _explained(self, error: HeadspaceError) -> HeadspaceError:
        """An error with a better hint if the daemon runs another version."""
        if error.code not in UNKNOWN_ENDPOINT_CODES or self._code in (None, code_fingerprint()):
            return error
        return BadRequest(
            "other_version",
            "The running daemon has another version, which does not support this.",
            "Replace it with `headspace up`.",
            status=error.status,
        )

    def _missing(self, error: Exception) -> DaemonMissing:
        if isinstance(error, TimeoutError):
            return DaemonMissing(
                "daemon_silent",
                f"Headspace at {self.url} did not answer in time.",
                "See `headspace logs`; `headspace down` and `headspace up` restart it.",
            )
        return DaemonMissing("daemon_missing", f"Headspace does not answer at {self.url} ({error}).", START_HINT)


def local_tokens(paths: Paths) -> dict[Scope, str]:
    """The local tokens of all scopes."""
    secret = read_secret(paths.secret_file)
    return {scope: make_token(secret, scope) for scope in Scope}


def follow(
    find: Callable[[], ApiClient],
    after: int | None,
    types: Sequence[str] = (),
    *,
    agent_id: str | None = None,
    on_lost: Callable[[], None] = lambda: None,
    on_reconnect: Callable[[], None] = lambda: None,
) -> Iterator[Message]:
    """An endless stream: if the connection is lost, wait for the daemon and continue after the last event.

    `on_lost` and `on_reconnect` are called each time. Raises `DaemonMissing` only if no daemon runs at the beginning.
    """
    client = find()
    while True:
        try:
            for message in client.stream(after, types, agent_id=agent_id):
                after = message.id if message.id is not None else after
                yield message
        except DaemonMissing:
            pass
        on_lost()
        client = _wait_for(find)
        on_reconnect()


def _wait_for(find: Callable[[], ApiClient]) -> ApiClient:
    """Wait for a daemon that answers."""
    while True:
        time.sleep(RETRY_SECONDS)
        try:
            client = find()
            client.health()
            return client
        except DaemonMissing:
            continue


def read_messages(lines: Iterable[bytes]) -> Iterator[Message]:
    """Parse server-sent events. Comments and an incomplete last event are skipped."""
    fields: dict[str, str] = {}
    for line in lines:
        text = line.decode("utf-8", "replace").rstrip("\r\n")
        if text:
            name, _, rest = text.partition(":")
            value = rest.removeprefix(" ")
            fields[name] = f"{fields[name]}\n{value}" if name == "data" and name in fields else value
        elif "data" in fields:
            number = fields.get("id", "")
            yield Message(
                int(number) if number.isdigit() else None, fields.get("event", "message"), _decode(fields["data"])
            )
            fields = {}
        else:
            fields = {}


def _find_running(paths: Paths) -> DaemonInfo:
    found = find_daemon(paths)
    if found is not None:
        return found
    if is_locked(paths):
        raise DaemonMissing("daemon_starting", "Headspace is starting.", "Try again in a few seconds.")
    raise DaemonMissing("daemon_missing", "Headspace is not running.", START_HINT)


def _own_session() -> str | None:
    """The session of the agent that runs this process; None for a person."""
    if len(clients_in(os.environ)) < 2:
        return session_in(os.environ)
    from claude_headspace.clients.processes import own_environment  # slow, and only needed for nested clients

    return session_in(own_environment(os.environ))


def _path(*parts: str) -> str:
    """The path of a resource. A name that would lead to another path is refused."""
    if bad := [part for part in parts if not part.strip() or "/" in part]:
        raise BadRequest("not_found", f"{bad[0]!r} is not a name.", "`headspace list` shows all agents.", status=404)
    return "/".join(("/api", *(quote(part, safe="") for part in parts)))


def _with_query(path: str, **query: str | int | None) -> str:
    given = {name: value for name, value in query.items() if value is not None}
    return f"{path}?{urlencode(given)}" if given else path


def _decode(body: str | bytes) -> Any:
    """Decode JSON with the standard library, which accepts the lone surrogates that events may contain."""
    try:
        return json.loads(body)
    except (ValueError, RecursionError) as error:
        raise HeadspaceError(
            "bad_answer", "The response is not from Headspace, or from another version.", "See `headspace status`."
        ) from error


_ERRORS: dict[int, type[HeadspaceError]] = {401: Forbidden, 403: Forbidden, 503: JournalUnavailable}


def _error(status: int, body: bytes) -> HeadspaceError:
    """The exception for an error of the API."""
    decoded = _decode(body)
    try:
        error = decoded["error"]
        code, message, hint = str(error["code"]), str(error["message"]), str(error["hint"])
    except (TypeError, KeyError):
        code, message, hint = "bad_answer", f"Headspace answered with status {status}.", "See `headspace logs`."
    kind = _ERRORS.get(status) or (BadRequest if status < 500 else HeadspaceError)
    return kind(code, message, hint, status=status)
