"""`python -m bench.path_probe FILE PROJECT`: record what one PreToolUse hook runs in a real daemon, as JSON into FILE.

The daemon runs in this process, in the home that the environment names, on SQLite and with the default settings, so
with guards. The request is the one that the installed hook script sends when it asks. It goes to the ASGI application
directly: the HTTP server is not part of the path. An agent with a running turn exists. `PreToolUse` and `PostToolUse`
take turns; the first ones warm up imports and caches. Two kinds of calls alternate: `git status`, whose analysis is
cached, and a command that the daemon has not analysed before.

A recording lasts from the entry into the application until no function of the package has been called for `QUIET`.
Work that waits for a timer, such as the board displays, is not part of it. A background check may still fall into a
recording and only adds calls, so the smallest of several is taken.
"""

import asyncio
import importlib.util
import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from itertools import count, islice
from pathlib import Path
from typing import Any

from bench import sessions
from bench.recorder import Call, Recorder, merged

WARM_UP = 5
RECORDINGS = 5
"""Per kind of call."""
QUIET = 0.02
"""Seconds without a call after which a request is finished."""
SETTLE_SECONDS = 0.6
"""Before a recording: longer than the pauses after which the daemon updates its displays."""
REPEATED, NEW = "repeated", "new"
COMMANDS: dict[str, Callable[[int], str]] = {
    REPEATED: lambda _step: "git status",
    NEW: lambda step: f"git log --oneline -n {step} -- src/file{step}.py",
}
"""The command of a step, by kind."""
RESULT = {"stdout": "On branch main\nnothing to commit, working tree clean", "stderr": "", "interrupted": False}


def application() -> Any:
    """The daemon's ASGI application. The only place that imports Headspace: modules may move."""
    from claude_headspace.config import find_paths, load_settings
    from claude_headspace.daemon.compose import Daemon
    from claude_headspace.journal.open import open_configured_journal

    paths = find_paths()
    settings = load_settings(paths)
    return Daemon(settings, paths, open_configured_journal(settings, paths)).app()


def main(file: Path, project: Path, token: str) -> None:
    """Record, and write the smallest recording of each kind."""
    found = importlib.util.find_spec("claude_headspace")
    assert found is not None
    assert found.origin is not None
    recorder = Recorder(Path(found.origin).parent)
    recorder.install()
    recordings = asyncio.run(_record(recorder, project, token))
    file.write_text(json.dumps({kind: _result(*min(some, key=_size)) for kind, some in recordings.items()}))


def _size(recording: tuple[bytes, list[Call]]) -> int:
    return sum(call.is_counted for call in recording[1])


async def _record(recorder: Recorder, project: Path, token: str) -> dict[str, list[tuple[bytes, list[Call]]]]:
    """The recorded requests by kind, each with its payload."""
    app = application()
    script = sessions.script(1, project, Path(os.environ["CLAUDE_CONFIG_DIR"]))
    recordings: dict[str, list[tuple[bytes, list[Call]]]] = {kind: [] for kind in COMMANDS}
    async with _lifespan(app):
        await _send(app, token, "SessionStart", script.start.filled())
        await _send(app, token, "UserPromptSubmit", script.prompt.filled(sessions.prompt_id_of(1, 0)))
        for _kind, before, after in islice(_tool_hooks(script), WARM_UP * len(COMMANDS)):
            await _send(app, token, "PreToolUse", before)
            await _send(app, token, "PostToolUse", after)
        for kind, before, after in islice(_tool_hooks(script, WARM_UP), RECORDINGS * len(COMMANDS)):
            await asyncio.sleep(SETTLE_SECONDS)
            recorder.begin()
            await _send(app, token, "PreToolUse", before)
            await _until_quiet(recorder)
            recordings[kind].append((before, recorder.end()))
            await _send(app, token, "PostToolUse", after)
    return recordings


def _tool_hooks(script: sessions.Script, first: int = 0) -> Iterator[tuple[str, bytes, bytes]]:
    """The two hooks of one call after the other, in the same turn, each with its kind."""
    prompt_id = sessions.prompt_id_of(script.number, 0)
    for step in count(first * len(COMMANDS)):
        kind = list(COMMANDS)[step % len(COMMANDS)]
        called = {"command": COMMANDS[kind](step), "description": "Show the state of the repository"}
        ids = prompt_id, sessions.tool_use_id_of(script.number, 0, step)
        pre, post = (json.loads(template.filled(*ids)) for template in script.calls[0])
        yield (
            kind,
            _encoded(pre | {"tool_input": called}),
            _encoded(post | {"tool_input": called, "tool_response": RESULT}),
        )


def _encoded(payload: dict[str, object]) -> bytes:
    return json.dumps(payload, separators=(",", ":")).encode()


async def _until_quiet(recorder: Recorder) -> None:
    before = -1
    while recorder.changes != before:
        before = recorder.changes
        await asyncio.sleep(QUIET)


async def _send(app: Any, token: str, event: str, payload: bytes) -> None:
    """One request as the hook script sends it; its reply must be a success."""
    fired_at, body, statuses = time.time(), payload + b"\n", []
    headers = {
        "host": "127.0.0.1:5055",
        "authorization": f"Bearer {token}",
        "content-type": "application/json",
        "content-length": str(len(body)),
        "connection": "close",
        "x-headspace-reply": "hook",
        "x-headspace-delivery-id": f"bench-{os.getpid()}-{fired_at:.6f}",
        "x-headspace-client-pid": str(os.getpid()),
        "x-headspace-fired-at": f"{fired_at:.6f}",
    }
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "POST",
        "scheme": "http",
        "path": f"/hook/{event}",
        "raw_path": f"/hook/{event}".encode(),
        "query_string": b"",
        "root_path": "",
        "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
        "client": ("127.0.0.1", 50_000),
        "server": ("127.0.0.1", 5055),
    }

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: dict[str, Any]) -> None:
        if message["type"] == "http.response.start":
            statuses.append(message["status"])

    await app(scope, receive, send)
    if statuses not in ([200], [204]):
        raise SystemExit(f"{event} was answered {statuses}")


@asynccontextmanager
async def _lifespan(app: Any) -> Any:
    """Start the application and stop it, by the ASGI protocol."""
    incoming: asyncio.Queue[dict[str, str]] = asyncio.Queue()
    outgoing: asyncio.Queue[dict[str, str]] = asyncio.Queue()
    running = asyncio.ensure_future(app({"type": "lifespan", "asgi": {"version": "3.0"}}, incoming.get, outgoing.put))
    await incoming.put({"type": "lifespan.startup"})
    started = await outgoing.get()
    if started["type"] != "lifespan.startup.complete":
        raise SystemExit(f"the daemon did not start: {started.get('message')}")
    async with AsyncExitStack() as stack:
        stack.push_async_callback(asyncio.wait_for, running, 10)
        stack.push_async_callback(incoming.put, {"type": "lifespan.shutdown"})
        yield


def _result(payload: bytes, calls: list[Call]) -> dict[str, object]:
    """The figures, and every call with the number of its caller."""
    counted = [call for call in calls if call.is_counted]
    numbers = {call: number for number, call in enumerate(calls)}
    return {
        "calls": len(counted),
        "functions": len({(call.file, merged(call.function)) for call in counted}),
        "files": len({call.file for call in counted}),
        "crossings": sum(call.crosses for call in counted),
        "decodes": sum(_decodes(call, payload) for call in calls),
        "tree": [
            {
                "file": call.file,
                "function": call.function,
                "caller": numbers[call.caller] if call.caller else None,
                "is_counted": call.is_counted,
                "thread": call.thread,
                "decodes": _decodes(call, payload),
            }
            for call in calls
        ],
    }


def _decodes(call: Call, payload: bytes) -> int:
    """How often the call decoded the hook's payload or its `tool_input`, in whatever spelling."""
    whole = json.loads(payload)
    return sum(_value(text) in (whole, whole["tool_input"]) for text in call.decoded)


def _value(text: bytes) -> object:
    try:
        return json.loads(text)
    except ValueError:
        return None


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), os.environ["HEADSPACE_BENCH_TOKEN"])
