"""Hooks over HTTP: `POST /hook/{event}` for every event of Claude Code, and for those that nobody knows yet.

The body is kept as it came, but for secrets and what is too long (`keeping`). Only what says whose event it is must
have the right type, because a wrong guess there would mix up agents; everything else is the decoder's business. The
shim adds what a payload cannot know: in `X-Headspace-…` headers, or as the notes of a file in the spool. Nobody sends
its events a second time, so what is broken in their text is repaired.
"""

import re
import secrets
import time
from collections.abc import Awaitable, Callable, Iterable
from itertools import count
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from claude_headspace.clients import claude_code
from claude_headspace.clients.claude_code.wire import HOOKS, STATUS_LINE, kebab
from claude_headspace.clients.decode import decode
from claude_headspace.errors import BadRequest
from claude_headspace.inputs.receive.sanitize import Sanitizer
from claude_headspace.kernel.envelope import SECOND, Envelope, Micros, Observations, Origin
from claude_headspace.kernel.policy.verdict import Verdict
from claude_headspace.kernel.tolerant_json import UNREADABLE
from claude_headspace.ports import Clock, Received

LocateProject = Callable[[str | None], Awaitable[Observations]]
"""Finds out what belongs to a directory: its project's root and branch."""

FindAncestry = Callable[[int], Awaitable[Observations]]
"""Finds out when a process began and what it descends from."""

MAX_DELIVERY_ID_BYTES = 200

TRUSTED_NOTES = (b"role", b"mode", b"mission-id")
"""What rules and context depend on: only the user's own script tells it."""

NOTES = (b"tmux-session", b"tmux-pane", b"session-id", b"wrapper-id", b"agent-id", *TRUSTED_NOTES)
"""The notes that are texts."""

_EVENT = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}")
_NOT_JSON = "Send one JSON object in UTF-8, as Claude Code's hooks do."


_NAMES = {kebab(name): name for name in HOOKS} | {name: name for name in (*HOOKS, STATUS_LINE)}


def event_name(path: str) -> str:
    """The event that a path names; an unknown one keeps its own name."""
    if not _EVENT.fullmatch(path):
        raise BadRequest(
            "bad_event_name",
            "An event's name is made of letters, digits and dashes.",
            "Use the kebab case of Claude Code's name, such as /hook/pre-tool-use.",
        )
    return _NAMES.get(path) or "".join(part[:1].upper() + part[1:] for part in re.split("[-_]", path))


Name = Annotated[str, Meta(max_length=500)]
PathText = Annotated[str, Meta(max_length=8_192)]
"""Longer than any path that a system opens. An agent carries these for good, so they are bounded."""
Pid = Annotated[int, Meta(ge=0, le=2**31 - 1)]


class WireIdentity(msgspec.Struct):
    """What says whose event it is."""

    session_id: Name
    cwd: PathText | None = None
    working_directory: PathText | None = None
    project_path: PathText | None = None
    """The directory, as plate-spinner calls it."""
    transcript_path: PathText | None = None
    hook_event_name: str | None = None
    tmux_session: Name | None = None
    tmux_pane: Name | None = None
    headspace_session_id: Name | None = None
    client_pid: Pid | None = None


_identity = msgspec.json.Decoder(WireIdentity)

_ESCAPES = re.compile(
    rb"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(\\u[dD][89a-fA-F][0-9a-fA-F]{2})|\\.", re.DOTALL
)


def replace_lone_surrogates(body: bytes) -> bytes:
    """Halves of characters, which JavaScript leaves where it cuts a text, become the sign for a broken one."""
    return _ESCAPES.sub(lambda found: rb"\ufffd" if found[1] else found[0], body)


def read_identity(body: bytes, *, lenient: bool = False) -> tuple[WireIdentity, bytes]:
    """Check a body and read whose event it is, from the body or a repaired one. Errors name what is wrong.

    A lenient look also repairs bytes that are no text.
    """
    try:
        body.decode("utf-8")
        identity, body = _decode_identity(body)
    except msgspec.ValidationError as error:
        raise BadRequest(
            "bad_field", f"The body does not fit: {error}.", "Every event needs a `session_id` string."
        ) from error
    except UnicodeDecodeError as error:
        if lenient:
            return read_identity(body.decode("utf-8", "replace").encode())
        raise BadRequest("bad_json", f"The body is not JSON: {error}.", _NOT_JSON) from error
    except msgspec.DecodeError as error:
        raise BadRequest("bad_json", f"The body is not JSON: {error}.", _NOT_JSON) from error
    except RecursionError as error:
        raise BadRequest("bad_json", "The body is nested too deeply.", _NOT_JSON) from error
    _check_session_id(identity.session_id)
    return identity, body


def read_body(body: bytes, *, lenient: bool = False) -> tuple[WireIdentity, bytes, Any]:
    """Decode a body once and check its identity: the identity, the text that is stored, and the JSON as builtins.

    A text that has to be repaired, or holds a number that Python cannot, gives None: it is decoded tolerantly later.
    """
    try:
        value = msgspec.json.decode(body)
        identity = msgspec.convert(value, WireIdentity)
    except UNREADABLE:
        return *read_identity(body, lenient=lenient), None
    _check_session_id(identity.session_id)
    return identity, body, value


def _check_session_id(name: str) -> None:
    if not name.strip() or not name.isprintable() or "\ufffd" in name:
        raise BadRequest("bad_field", "`session_id` is empty or has control characters.", "Send the session's own id.")


def _decode_identity(body: bytes) -> tuple[WireIdentity, bytes]:
    try:
        return _identity.decode(body), body
    except msgspec.ValidationError:
        raise
    except msgspec.DecodeError:
        repaired = replace_lone_surrogates(body)
        if repaired == body:
            raise
    return _identity.decode(repaired), repaired


_counter = count()
_process_id = secrets.token_hex(6)


def new_id() -> str:
    """A unique id that sorts by time, so that rows made together lie together."""
    return f"{time.time_ns() // 1_000_000:012x}{next(_counter) & 0xFFFFFF:06x}{_process_id}"


class HookReceiver:
    """Puts what arrives at `/hook/*` into envelopes."""

    def __init__(
        self,
        host: str,
        clock: Clock,
        locate_project: LocateProject,
        find_ancestry: FindAncestry | None = None,
        correct_time: Callable[[Micros], Micros] = lambda at: at,
        sanitizer: Sanitizer | None = None,
    ) -> None:
        self._host = host
        self._correct_time = correct_time
        self._clock = clock
        self._locate_project = locate_project
        self._find_ancestry = find_ancestry
        self._sanitizer = sanitizer or Sanitizer()

    async def receive(
        self, path: str, body: bytes, headers: Iterable[tuple[bytes, bytes]], *, trusted: bool = False
    ) -> Received:
        """Receive a hook over HTTP. The broken text of a trusted sender is repaired."""
        told = {key[12:]: value for key, value in headers if key.startswith(b"x-headspace-")}
        if not trusted:
            told = {key: value for key, value in told.items() if key not in TRUSTED_NOTES}
        return await self._receive(event_name(path), body, told, lenient=trusted)

    async def receive_spooled(self, event: str, payload: bytes, notes: dict[bytes, bytes]) -> Received:
        """Receive a hook from the spool or the socket. A tool call that was judged before brings its verdict."""
        received = await self._receive(event_name(event), payload, notes, lenient=True)
        verdict = _verdict(notes.get(b"verdict"))
        return received if verdict is None else received.decided(verdict=verdict)

    async def _receive(self, name: str, body: bytes, told: dict[bytes, bytes], *, lenient: bool) -> Received:
        received_at = self._clock()
        identity, kept, value = read_body(body, lenient=lenient)
        around = await self._locate_project(identity.cwd or identity.working_directory or identity.project_path)
        context = _observations(identity, told, around)
        if kept is not body:
            context = msgspec.structs.replace(context, anomaly="the text was broken and has been repaired")
        envelope_id, payload = new_id(), self._sanitizer.hook(kept)
        envelope = Envelope(
            id=envelope_id,
            name=name,
            origin=Origin.STATUS_LINE if name == STATUS_LINE else Origin.HOOK,
            client=claude_code.NAME,
            host=self._host,
            fired_at=self._fired_at(told.get(b"fired-at"), received_at),
            received_at=received_at,
            payload=payload,
            original_payload=kept if payload is not kept else None,
            observations=await self._add_ancestry(context),
            delivery_id=_delivery_id(told.get(b"delivery-id")) or envelope_id,
        )
        return Received(envelope, decode(envelope, value if payload is kept else None), value)

    def _fired_at(self, told: bytes | None, received_at: Micros) -> Micros:
        """The sender's word, in seconds since 1970; nothing fires before it is sent."""
        try:
            fired_at = self._correct_time(round(float(told) * SECOND)) if told else received_at
        except (ValueError, OverflowError):
            return received_at
        return fired_at if 0 < fired_at < received_at else received_at

    async def _add_ancestry(self, context: Observations) -> Observations:
        """What the process table tells of the client that the sender named."""
        if self._find_ancestry is None or not context.client_pid:
            return context
        client = await self._find_ancestry(context.client_pid)
        return msgspec.structs.replace(
            context,
            client_started_at=client.client_started_at,
            ancestor_pids=client.ancestor_pids or context.ancestor_pids,
        )


def _observations(identity: WireIdentity, told: dict[bytes, bytes], around: Observations) -> Observations:
    texts = {name: _text(told[name]) for name in NOTES if name in told}
    return Observations(
        tmux_session=texts.get(b"tmux-session") or identity.tmux_session,
        tmux_pane=texts.get(b"tmux-pane") or identity.tmux_pane,
        client_pid=_number(told.get(b"client-pid")) or identity.client_pid,
        ancestor_pids=_numbers(told[b"ancestor-pids"]) if b"ancestor-pids" in told else (),
        headspace_id=texts.get(b"session-id") or identity.headspace_session_id,
        wrapper_id=texts.get(b"wrapper-id"),
        fleet_id=texts.get(b"agent-id"),
        role=texts.get(b"role"),
        declared_mode=texts.get(b"mode"),
        declared_mission_id=texts.get(b"mission-id"),
        project_root=around.project_root,
        branch=around.branch,
    )


def _delivery_id(told: bytes | None) -> str | None:
    """The whole of it, since half an id could be another's."""
    if told is not None and len(told) > MAX_DELIVERY_ID_BYTES:
        raise BadRequest(
            "bad_delivery_id",
            f"The delivery id is longer than {MAX_DELIVERY_ID_BYTES} bytes.",
            "Send a UUID as X-Headspace-Delivery-Id.",
        )
    return _text(told)


def _verdict(told: bytes | None) -> Verdict | None:
    try:
        return msgspec.json.decode(told, type=Verdict) if told else None
    except msgspec.DecodeError:
        return None


def _text(told: bytes | None) -> str | None:
    return told.decode("utf-8", "replace").replace("\0", "")[:200] or None if told else None


def _numbers(told: bytes) -> tuple[int, ...]:
    found = (_number(part) for part in told[:MAX_DELIVERY_ID_BYTES].split())
    return tuple(number for number in found if number)


def _number(told: bytes | None) -> int | None:
    return int(told) if told and told.isdigit() and len(told) < 10 else None
