"""Read JSON from outside. Never raises: what cannot be read or has the wrong type is left out and reported.

`parse` decodes bytes to builtins once. `fit` converts builtins into a `Wire…` shape. `tolerant` does both.
"""

import re
from typing import Any, TypeVar

import msgspec

NOT_AN_OBJECT = "payload is not a JSON object"
NOT_UNICODE = "text is not Unicode"

_ESCAPE = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)", re.DOTALL
)
"""An escape in a JSON text: a complete surrogate pair, a lone surrogate (the group), or any other escape."""

UNREADABLE = (msgspec.DecodeError, RecursionError, UnicodeError)
"""What decoding a JSON text can raise."""

_T = TypeVar("_T")
_Shape = TypeVar("_Shape", bound=msgspec.Struct)


def parse(payload: bytes) -> tuple[Any, str | None]:
    """Decode JSON to builtins, and report what had to be repaired or left out; None if nothing can be read."""
    try:
        return msgspec.json.decode(payload), None
    except UNREADABLE:
        return _salvage(_mend(payload))


def fit(value: object, shape: type[_Shape]) -> tuple[_Shape, str | None]:
    """Convert builtins into a shape. Fields of the wrong type keep their default and are reported."""
    try:
        return msgspec.convert(value, shape), None
    except msgspec.ValidationError:
        return _fit_fields(value, shape) if isinstance(value, dict) else (shape(), NOT_AN_OBJECT)


def tolerant(payload: bytes, shape: type[_Shape]) -> tuple[_Shape, str | None]:
    """Decode JSON into a shape. Leaves out what does not fit and reports it."""
    if (read := _read(payload, shape)) is not None:
        return read, None
    value, problem = parse(payload)
    fitted, misfit = fit(value, shape)
    return fitted, misfit or problem


def _fit_fields(value: dict[str, Any], shape: type[_Shape]) -> tuple[_Shape, str]:
    kept: dict[str, object] = {}
    dropped: list[str] = []
    for field in msgspec.structs.fields(shape):
        name = field.encode_name
        if name in value:
            try:
                kept[field.name] = getattr(msgspec.convert({name: value[name]}, shape), field.name)
            except msgspec.ValidationError:
                dropped.append(name)
    return shape(**kept), f"unexpected type of {', '.join(sorted(dropped))}"


def _salvage(payload: bytes) -> tuple[Any, str]:
    """Decode repaired text; failing that, every member on its own, without those that cannot be decoded."""
    try:
        return msgspec.json.decode(payload), NOT_UNICODE
    except UNREADABLE:
        pass
    if payload.lstrip()[:1] == b"{" and (members := _read(payload, dict[str, msgspec.Raw])) is not None:
        return {name: _salvage(bytes(raw))[0] for name, raw in members.items()}, "parts of the payload are unreadable"
    return None, NOT_AN_OBJECT


def _read(payload: bytes, shape: type[_T]) -> _T | None:
    try:
        return msgspec.json.decode(payload, type=shape)
    except UNREADABLE:
        return None


def _mend(payload: bytes) -> bytes:
    """Replace lone surrogates (JavaScript leaves them where it cuts a text) and bytes that are not UTF-8."""
    mended = _ESCAPE.sub(lambda found: rb"\ufffd" if found[1] else found[0], payload)
    return mended.decode("utf-8", "replace").encode()
