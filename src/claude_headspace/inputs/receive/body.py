"""Decodes the body of a hook: JSON with the fields that identify the agent. Broken text is repaired where possible."""

import re
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from claude_headspace.errors import BadRequest
from claude_headspace.kernel.tolerant_json import UNREADABLE

_NOT_JSON = "Send one JSON object in UTF-8, as Claude Code's hooks do."

BAD_FIELD = "bad_field"
MAX_NAME = 500
Name = Annotated[str, Meta(max_length=MAX_NAME)]
PathText = Annotated[str, Meta(max_length=8_192)]
"""Longer than any usable path. Paths are stored with the agent, so they are limited."""
Pid = Annotated[int, Meta(ge=0, le=2**31 - 1)]


class WireIdentity(msgspec.Struct):
    """The fields that identify the agent of an event."""

    session_id: Name = ""
    camel_session_id: Name = msgspec.field(default="", name="sessionId")
    """The same in hooks with camel case, which some clients send."""
    cwd: PathText | None = None
    working_directory: PathText | None = None
    project_path: PathText | None = None
    """The directory in events of plate-spinner."""
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
    """Replace escaped lone surrogates, which JavaScript creates when it cuts a text, by U+FFFD."""
    return _ESCAPES.sub(lambda found: rb"\ufffd" if found[1] else found[0], body)


def read_identity(body: bytes, *, lenient: bool = False) -> tuple[WireIdentity, bytes]:
    """Read the identity in a body. Returns the identity and the body, repaired if necessary.

    `lenient` also repairs bytes that are not UTF-8.
    """
    try:
        body.decode("utf-8")
        identity, body = _decode_identity(body)
    except msgspec.ValidationError as error:
        raise BadRequest(
            BAD_FIELD, f"The body is not valid: {error}.", "Every event needs a `session_id` string."
        ) from error
    except UnicodeDecodeError as error:
        if lenient:
            return read_identity(body.decode("utf-8", "replace").encode())
        raise BadRequest("bad_json", f"The body is not JSON: {error}.", _NOT_JSON) from error
    except msgspec.DecodeError as error:
        raise BadRequest("bad_json", f"The body is not JSON: {error}.", _NOT_JSON) from error
    except RecursionError as error:
        raise BadRequest("bad_json", "The body is nested too deeply.", _NOT_JSON) from error
    return identity, body


def decode_body(body: bytes, *, lenient: bool = False, needs_session: bool = True) -> tuple[WireIdentity, bytes, Any]:
    """Decode a body and check its identity. Returns the identity, the body, and the JSON as builtins.

    The JSON is None if the body had to be repaired or has a number that Python cannot represent. Such a body is decoded
    tolerantly later. Without `needs_session`, an identity that cannot be used is empty instead of an error.
    """
    try:
        value = msgspec.json.decode(body)
        identity = msgspec.convert(value, WireIdentity)
    except UNREADABLE:
        value = None
        try:
            identity, body = read_identity(body, lenient=lenient)
        except BadRequest as error:
            if needs_session or error.code != BAD_FIELD:
                raise
            return WireIdentity(), _as_utf8(body), None
    session_id = identity.session_id or identity.camel_session_id
    if needs_session and not session_id and '"session_id"' not in body.decode("utf-8", "replace"):
        raise BadRequest(BAD_FIELD, "The body has no `session_id`.", "Every event needs a `session_id` string.")
    if needs_session and not is_usable_session(session_id):
        raise BadRequest(BAD_FIELD, "`session_id` is empty or has control characters.", "Send the id of the session.")
    return identity, body, value


def is_usable_session(session_id: str) -> bool:
    """Whether a text can identify a session."""
    has_text = bool(session_id.strip()) and len(session_id) <= MAX_NAME
    return has_text and session_id.isprintable() and "\ufffd" not in session_id


def _as_utf8(body: bytes) -> bytes:
    repaired = body.decode("utf-8", "replace").encode()
    return body if repaired == body else repaired


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
