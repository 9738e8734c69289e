"""Receives hooks over HTTP, from the spool and from the socket: checks the body and wraps it in an envelope.

Rules
- Every event name is accepted, also names that Headspace does not know; but not Claude Code's names in kebab case for
  another client that does not have them.
- Some clients run a hook once for each registration. Copies of the same payload, with its time, are one delivery.
- The payload is stored as it arrived, after secrets were redacted and long text was truncated (`Sanitizer`).
- Only the fields that identify the agent must have the right type; a wrong guess would mix up agents. All other fields
  are left to the decoder.
- A hook of a client without a usable session id is no error: the client may have renamed the field. It is stored with
  its client and belongs to no agent, and its tool call is judged. Any other sender gets an error.
- The hook script adds metadata that a payload does not have: in `X-Headspace-…` headers, or as notes in a spool file.
- A process that runs the sessions of several terminals has the environment of one of them: nothing of it counts.
- A request without the ingest token can come from any program. Only its session, its directory, its time and its
  delivery id count: never a process, a terminal or the id of a wrapper.
- The hook script never sends an event twice, so broken text from it is repaired instead of refused.
"""

import hashlib
import re
import secrets
import time
from collections.abc import Awaitable, Callable, Iterable
from itertools import count

import msgspec

from claude_headspace.clients import catalog, environment
from claude_headspace.clients.capabilities import find_client
from claude_headspace.clients.decode import decode
from claude_headspace.clients.hooks import EVENT_NAMES, OTHER_EVENT_NAMES, STATUS_LINE, kind_of
from claude_headspace.clients.processes import client_of_process, is_shared_process
from claude_headspace.clients.transcript_line import IsMessage
from claude_headspace.clients.transcript_line import truncate as truncate_line
from claude_headspace.errors import BadRequest
from claude_headspace.inputs.receive.body import WireIdentity, decode_body, is_usable_session
from claude_headspace.inputs.redaction.rules import build_redactor
from claude_headspace.kernel.correlate import without_session
from claude_headspace.kernel.envelope import NO_OBSERVATIONS, SECOND, Envelope, Micros, Observations, Origin
from claude_headspace.kernel.hooks import HookKind
from claude_headspace.kernel.policy.verdict import Verdict
from claude_headspace.kernel.redaction.redactor import Redactor
from claude_headspace.kernel.sanitize import Bounds, truncate
from claude_headspace.ports import Clock, Received

LocateProject = Callable[[str | None], Awaitable[Observations]]
"""Finds the project root, the branch and the commit of a directory."""

FindAncestry = Callable[[int], Awaitable[Observations]]
"""Finds the start time and the ancestors of a process."""

MAX_DELIVERY_ID_BYTES = 200
HUGE_BYTES = 2 * 1024 * 1024

NOTES = tuple(note.encode() for note in environment.NOTES.values())
"""The notes that are texts."""

TIME = b'"timestamp"'
"""The field with the time of an event: without it, equal payloads may be different events."""
_EVENT = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}")
_OTHER_EVENT = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,63}")

_KEBAB = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")

IdentifyClient = Callable[[int], str | None]
"""Finds out which client a process is; None if it is none."""

IsShared = Callable[[str, int], bool]
"""Whether a process of a client runs the sessions of several terminals."""


def event_name(path: str, client: str = catalog.DEFAULT) -> str:
    """The event name for the last part of a path. An unknown name of Claude Code is converted to camel case.

    Another client has its own names, also in kebab case. What looks like kebab case and is none of them is refused:
    it is most likely the name of Claude Code's event, and would be stored without a meaning.
    """
    is_default = client == catalog.DEFAULT
    if not (_EVENT if is_default else _OTHER_EVENT).fullmatch(path):
        raise BadRequest(
            "bad_event_name",
            "An event name consists of letters, digits and dashes.",
            "Use Claude Code's event name in kebab case, such as /hook/pre-tool-use.",
        )
    if not is_default:
        return _other_event_name(path, client)
    return EVENT_NAMES.get(path) or "".join(part[:1].upper() + part[1:] for part in re.split("[-_]", path))


def _other_event_name(path: str, client: str) -> str:
    known = OTHER_EVENT_NAMES.get(client, {})
    if path not in known and _KEBAB.fullmatch(path):
        message = f"{find_client(client).title} has no event {path}."
        raise BadRequest("bad_event_name", message, f"Use its own events: {', '.join(known)}.")
    return known.get(path, path)


_counter = count()
_process_id = secrets.token_hex(6)


def new_id() -> str:
    """A unique id that sorts by time, so that rows created together are stored together."""
    return f"{time.time_ns() // 1_000_000:012x}{next(_counter) & 0xFFFFFF:06x}{_process_id}"


class Sanitizer:
    """Sanitizes payloads before they are stored: redacts secrets first, then truncates long text.

    Huge payloads are truncated before, too, to twice the limits: redacting them would delay other events. Secrets at
    these ends are removed when the text is truncated again.
    """

    def __init__(self, limits: Bounds | None = None, redact: Redactor | None = None) -> None:
        self._bounds = limits or Bounds()
        self._wide_bounds = Bounds(2 * self._bounds.message, 2 * self._bounds.result)
        self._redact = redact or build_redactor()

    def sanitize_hook(self, payload: bytes) -> bytes:
        """The payload of a hook as it is stored."""
        redacted = self._redact(payload if len(payload) <= HUGE_BYTES else truncate(payload, self._wide_bounds))
        is_small = len(redacted) <= min(self._bounds.result, self._bounds.message)
        return redacted if is_small else truncate(redacted, self._bounds)

    def sanitize_line(self, raw: bytes, is_message: IsMessage) -> bytes:
        """A line of a transcript as it is stored."""
        line = raw.strip()
        if len(line) > HUGE_BYTES:
            line = truncate_line(line, self._wide_bounds, is_message)
        return truncate_line(self._redact(line), self._bounds, is_message)


class HookReceiver:
    """Wraps hooks in envelopes and decodes them."""

    def __init__(
        self,
        host: str,
        clock: Clock,
        locate_project: LocateProject,
        find_ancestry: FindAncestry | None = None,
        correct_time: Callable[[Micros], Micros] = lambda at: at,
        sanitizer: Sanitizer | None = None,
        identify_client: IdentifyClient = client_of_process,
        is_shared: IsShared = is_shared_process,
    ) -> None:
        self._host = host
        self._is_shared = is_shared
        self._identify_client = identify_client
        self._correct_time = correct_time
        self._clock = clock
        self._locate_project = locate_project
        self._find_ancestry = find_ancestry
        self._sanitizer = sanitizer or Sanitizer()

    async def receive(
        self, path: str, body: bytes, headers: Iterable[tuple[bytes, bytes]], *, trusted: bool = False
    ) -> Received:
        """Receive a hook over HTTP. Broken text of a trusted sender is repaired."""
        notes = {key[12:]: value for key, value in headers if key.startswith(b"x-headspace-")}
        notes.pop(b"unauthenticated", None)
        if not trusted:
            notes[b"unauthenticated"] = b"1"
        return await self._receive(path, body, notes, lenient=trusted, is_of_client=trusted and b"client" in notes)

    async def receive_spooled(
        self, event: str, payload: bytes, notes: dict[bytes, bytes], *, is_of_client: bool = False
    ) -> Received:
        """Receive a hook from the spool or the socket. The notes contain the verdict if it was judged before.

        `is_of_client`: whether the hook script of a client reports it, so that it needs no session.
        """
        received = await self._receive(event, payload, notes, lenient=True, is_of_client=is_of_client)
        verdict = _verdict(notes.get(b"verdict"))
        return received if verdict is None else received.decided(verdict=verdict)

    async def _receive(
        self, event: str, body: bytes, notes: dict[bytes, bytes], *, lenient: bool, is_of_client: bool
    ) -> Received:
        client, received_at = self._client(notes), self._clock()
        is_default = client == catalog.DEFAULT
        name = (EVENT_NAMES.get(event) if is_default else None) or event_name(event, client)
        identity, original, value = decode_body(body, lenient=lenient, needs_session=not is_of_client)
        kind = kind_of(client, name)
        starts = kind is HookKind.SESSION_START
        observations = await self._observe(client, identity, notes, starts=starts)
        if original is not body:
            observations = msgspec.structs.replace(observations, anomaly="the text was broken and has been repaired")
        envelope_id, payload, delivery_id = new_id(), self._sanitizer.sanitize_hook(original), notes.get(b"delivery-id")
        envelope = Envelope(
            id=envelope_id,
            name=name,
            origin=Origin.STATUS_LINE if name == STATUS_LINE and is_default else Origin.HOOK,
            client=client,
            host=self._host,
            fired_at=self._fired_at(notes[b"fired-at"], received_at) if b"fired-at" in notes else received_at,
            received_at=received_at,
            payload=payload,
            original_payload=original if payload is not original else None,
            observations=observations,
            delivery_id=(_delivery_id(delivery_id) if delivery_id else None) or envelope_id,
        )
        is_repeated = kind is not None and kind in find_client(client).repeated and TIME in original
        if is_repeated and not observations.unauthenticated:
            mark = hashlib.blake2b(original, digest_size=16).hexdigest()
            envelope = msgspec.structs.replace(envelope, delivery_id=f"{client}:{name}:{mark}")
        decoded = decode(envelope, value if payload is original else None)
        has_session = not is_of_client or is_usable_session(decoded.meta.session_id)
        return Received(envelope, decoded if has_session else without_session(decoded), value)

    def _client(self, notes: dict[bytes, bytes]) -> str:
        """The client that runs a hook: as the sender names it, or by its process, or else Claude Code."""
        named = notes.get(b"client")
        if named is not None:
            return find_client(named.decode("utf-8", "replace")).name
        pid = _number(notes.get(b"client-pid", b""))
        return (self._identify_client(pid) if pid else None) or catalog.DEFAULT

    async def _observe(
        self, client: str, identity: WireIdentity, notes: dict[bytes, bytes], *, starts: bool
    ) -> Observations:
        """The client's terminal, process and project: from the notes, the body and this host."""
        project = await self._locate_project(identity.cwd or identity.working_directory or identity.project_path)
        commit = project.commit if starts else None
        if b"unauthenticated" in notes:
            return Observations(
                project_root=project.project_root,
                repository_root=project.repository_root,
                branch=project.branch,
                commit=commit,
                unauthenticated=True,
            )
        texts = {name: _text(notes[name]) for name in NOTES if name in notes}
        pid = (_number(notes[b"client-pid"]) if b"client-pid" in notes else None) or identity.client_pid
        process = await self._find_ancestry(pid) if pid and self._find_ancestry else NO_OBSERVATIONS
        if pid and self._is_shared(client, pid):
            return Observations(
                client_pid=pid,
                client_started_at=process.client_started_at,
                shared_process=True,
                project_root=project.project_root,
                repository_root=project.repository_root,
                branch=project.branch,
                commit=commit,
            )
        ancestor_pids = _numbers(notes[b"ancestor-pids"]) if b"ancestor-pids" in notes else ()
        return Observations(
            tmux_session=texts.get(b"tmux-session") or identity.tmux_session,
            tmux_pane=texts.get(b"tmux-pane") or identity.tmux_pane,
            client_pid=pid,
            client_started_at=process.client_started_at,
            ancestor_pids=process.ancestor_pids or ancestor_pids,
            headspace_id=texts.get(b"session-id") or identity.headspace_session_id,
            wrapper_id=texts.get(b"wrapper-id"),
            fleet_id=texts.get(b"agent-id"),
            role=texts.get(b"role"),
            declared_mode=texts.get(b"mode"),
            declared_mission_id=texts.get(b"mission-id"),
            project_root=project.project_root,
            repository_root=project.repository_root,
            branch=project.branch,
            commit=commit,
            only_reports=b"only-reports" in notes,
        )

    def _fired_at(self, seconds: bytes, received_at: Micros) -> Micros:
        """The sender's time, in seconds since 1970. The time of reception if that is invalid or later."""
        try:
            fired_at = self._correct_time(round(float(seconds) * SECOND))
        except (ValueError, OverflowError):
            return received_at
        return fired_at if 0 < fired_at < received_at else received_at


def _delivery_id(value: bytes) -> str | None:
    """The delivery id. Never truncated, because a part of an id could equal another id."""
    if len(value) > MAX_DELIVERY_ID_BYTES:
        raise BadRequest(
            "bad_delivery_id",
            f"The delivery id is longer than {MAX_DELIVERY_ID_BYTES} bytes.",
            "Send a UUID as X-Headspace-Delivery-Id.",
        )
    return value.decode("utf-8", "replace").replace("\0", "") or None


def _verdict(value: bytes | None) -> Verdict | None:
    try:
        return msgspec.json.decode(value, type=Verdict) if value else None
    except msgspec.DecodeError:
        return None


def _text(value: bytes) -> str | None:
    return value.decode("utf-8", "replace").replace("\0", "")[:200] or None


def _numbers(value: bytes) -> tuple[int, ...]:
    found = (_number(part) for part in value[:MAX_DELIVERY_ID_BYTES].split())
    return tuple(number for number in found if number)


def _number(value: bytes) -> int | None:
    return int(value) if value.isdigit() and len(value) < 10 else None
