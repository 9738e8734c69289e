"""The rollouts of Codex: where they are, and their lines.

`sessions/YYYY/MM/DD/rollout-<local time>-<thread id>.jsonl`. The thread of a sub-agent has a file of its own. Only its
first line (`session_meta`) says whose sub-agent it is, so it is read again for every part of the file.
"""

import os
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from claude_headspace.clients.codex.rollout import is_message, read_stored
from claude_headspace.clients.codex.rollout_wire import (
    WireItem,
    WireLine,
    WirePayload,
    WireSessionMeta,
    WireStored,
    WireTurnContext,
)
from claude_headspace.clients.files import open_regular_file
from claude_headspace.clients.prices import Tokens, cost_of
from claude_headspace.clients.transcript_line import Line
from claude_headspace.clients.unknown_lines import UnknownLines
from claude_headspace.kernel.tolerant_json import fit, parse, tolerant

__all__ = ["find_transcripts", "is_message", "is_subagent", "is_transcript", "read_lines", "roots", "session_of"]

TRANSCRIPTS = "sessions"
"""The directory of rollouts, below a config dir."""
FIRST_LINE, MAX_FIRST_LINE = 64 * 1024, 1024 * 1024
"""How much is read to find the first line, and how much if it is longer. It contains the instructions of the model."""
MAX_READ_AGAIN = 64 * 1024 * 1024
PLAN_DISTANCE = 256 * 1024
"""How far before the end of its turn a plan is searched."""
MAX_CACHED = 4_000
USAGE, TURN_CONTEXT = "token_count", "turn_context"
BULKY = ("base_instructions", "replacement_history")
"""Fields of payloads that are not stored: instructions, and copies of the conversation."""

_ROLLOUT = re.compile(r"(?:\d+/){3}rollout-[0-9T-]+?-([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.jsonl")


class Owner(msgspec.Struct, frozen=True):
    """Whose lines a file contains."""

    session_id: str
    subagent_id: str | None = None
    cwd: str | None = None
    first_ordinal: int = 0
    """Lines before this one, except the first of the file, are a copy of the parent's."""

    def has(self, line: dict[str, Any]) -> bool:
        """Whether a line of the file is its own."""
        ordinal = line.get("ordinal")
        return not isinstance(ordinal, int) or ordinal == 0 or ordinal >= self.first_ordinal


_owners: dict[str, Owner] = {}
_models: dict[str, tuple[str, ...]] = {}
"""The models of the turns in a file, the newest last, for the usage that follows."""
_unknown_lines = UnknownLines()


def roots(config_dir: Path) -> list[Path]:
    """The directories of transcripts."""
    return [config_dir / TRANSCRIPTS]


def is_transcript(path: str, root: Path) -> bool:
    """Whether a path below a root is one that clients write transcripts to."""
    return path.isprintable() and _ROLLOUT.fullmatch(path.removeprefix(f"{root}{os.sep}")) is not None


def find_transcripts(roots: Iterable[Path]) -> list[tuple[str, os.stat_result]]:
    """All transcripts: those of sessions before those of sub-agents, the oldest first."""
    found = []
    for root in roots:
        for path in root.glob("*/*/*/rollout-*.jsonl"):
            with suppress(OSError):
                if is_transcript(str(path), root):
                    found.append((str(path), path.stat()))
    return sorted(found, key=lambda each: (is_subagent(each[0]), each[1].st_mtime))


def is_subagent(path: str) -> bool:
    """Whether a transcript is a sub-agent's."""
    return _owner(path).subagent_id is not None


def session_of(path: str) -> str:
    """The session that a transcript belongs to."""
    return _owner(path).session_id


def read_lines(path: str, raw: bytes, start: int) -> Iterator[tuple[bytes, Line]]:
    """The lines in a part of a file that have facts or are unknown, with their session and without bulky fields."""
    owner = _owner(path, b"" if start else raw)
    _find_models(path, start)
    for text in filter(bytes.strip, raw.split(b"\n")):
        body = parse(text)[0]
        body = body if isinstance(body, dict) else {"payload": {"text": text.decode("utf-8", "replace")}}
        if not owner.has(body):
            continue
        _remember_model(path, body)
        stored = _stored(owner, body, _plan_before(path, raw, start, text), _models.get(path, ()))
        line = read_stored(stored, fit(parse(stored)[0], WireStored)[0])
        if line is not None and _unknown_lines.accept(path, line.anomaly):
            yield stored, line


def _stored(owner: Owner, body: dict[str, Any], plan: str, models: tuple[str, ...]) -> bytes:
    payload = body.get("payload")
    kept = {name: value for name, value in payload.items() if name not in BULKY} if isinstance(payload, dict) else {}
    extra: dict[str, Any] = {"plan": plan}
    if kept.get("type") == USAGE and models:
        extra |= {"model": models[-1], "cost_usd": _cost(kept, models)}
    whose = {"session_id": owner.session_id, "subagent_id": owner.subagent_id, "cwd": owner.cwd}
    known = whose | {name: value for name, value in extra.items() if value}
    return msgspec.json.encode(known | {"line": body | {"payload": kept}})


def _cost(payload: dict[str, Any], models: tuple[str, ...]) -> float | None:
    """What all replies of the thread cost; None if it used several models, because the totals are not by model."""
    info = fit(payload, WirePayload)[0].info
    total = info.total_token_usage if info is not None else None
    if total is None or len(models) != 1:
        return None
    used = Tokens(input=total.input_tokens, cached=total.cached_input_tokens, output=total.output_tokens)
    return cost_of(models[0], used)


def _find_models(path: str, start: int) -> None:
    """Find the models in the part of a file that another process of Headspace has read."""
    if not start:
        _models.pop(path, None)
    elif path not in _models:
        _models[path] = ()
        for text in _read(path, 0, min(start, MAX_READ_AGAIN)).split(b"\n"):
            if b'"turn_context"' in text and isinstance(body := parse(text)[0], dict):
                _remember_model(path, body)


def _remember_model(path: str, body: dict[str, Any]) -> None:
    model = fit(body.get("payload"), WireTurnContext)[0].model if body.get("type") == TURN_CONTEXT else None
    if model:
        others = tuple(each for each in _models.get(path, ()) if each != model)
        _cache(_models, path, (*others, model))


def _cache(cache: dict[str, Any], path: str, value: object) -> None:
    if len(cache) >= MAX_CACHED:
        cache.clear()
    cache[path] = value


# --- the owner of a file ----------------------------------------------------------------------------------------------


def _owner(path: str, beginning: bytes = b"") -> Owner:
    """Whose lines a file contains. Cached when its first line is complete."""
    if path in _owners:
        return _owners[path]
    first, separator, _ = (beginning or _read(path, 0, FIRST_LINE)).partition(b"\n")
    if not separator:
        first, separator, _ = _read(path, 0, MAX_FIRST_LINE).partition(b"\n")
    owner = _owner_in(path, first)
    if separator:
        _cache(_owners, path, owner)
    return owner


def _owner_in(path: str, first_line: bytes) -> Owner:
    """The owner by the first line; by the name of the file if that is no `session_meta`."""
    found = _ROLLOUT.search(path)
    thread = found[1] if found else ""
    line = tolerant(first_line, WireLine)[0]
    known = fit(line.payload, WireSessionMeta)[0]
    if line.type != "session_meta" or not known.id:
        return Owner(thread)
    parent = known.session_id if known.session_id not in ("", known.id) else known.parent_thread_id
    first_own = known.subagent_history_start_ordinal or 0
    return Owner(parent or known.id, known.id if parent else None, known.cwd, first_own if parent else 0)


def _read(path: str, start: int, size: int) -> bytes:
    try:
        with open_regular_file(path) as handle:
            return os.pread(handle, size, start)
    except OSError:
        return b""


# --- plans ------------------------------------------------------------------------------------------------------------


def _plan_before(path: str, raw: bytes, start: int, text: bytes) -> str:
    """The plan of the turn that a line completes. It is in this part of the file, or shortly before it."""
    if b'"task_complete"' not in text:
        return ""
    turn_id = fit(tolerant(text, WireLine)[0].payload, WirePayload)[0].turn_id
    before = max(0, start - PLAN_DISTANCE)
    return _plan_in(raw, turn_id) or _plan_in(_read(path, before, start - before), turn_id)


def _plan_in(raw: bytes, turn_id: str | None) -> str:
    for text in raw.split(b"\n"):
        if b'"Plan"' in text:
            payload = fit(tolerant(text, WireLine)[0].payload, WirePayload)[0]
            item = fit(payload.item, WireItem)[0]
            if item.type == "Plan" and payload.turn_id == turn_id:
                return item.text
    return ""
