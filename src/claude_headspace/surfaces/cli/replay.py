"""CLI commands about the past of an agent: `replay`, `export`, and the import of an exported log."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

from claude_headspace.errors import BadRequest, DaemonMissing
from claude_headspace.kernel.text import count, iso
from claude_headspace.surfaces.cli import output
from claude_headspace.surfaces.cli.arguments.parameters import Argument, Option
from claude_headspace.surfaces.cli.choose import choose_agent
from claude_headspace.surfaces.cli.options import AgentArgument, AsJson, examples, now, read_file, require_new_file
from claude_headspace.surfaces.cli.presentation.timeline import (
    agent_at_time,
    log_import_plan,
    log_import_result,
    state_timeline,
    timeline_footer,
)
from claude_headspace.surfaces.cli.progress import progress_bar
from claude_headspace.surfaces.client.api_client import ApiClient, Json
from claude_headspace.surfaces.text.formatting import clean_json
from claude_headspace.surfaces.text.timestamps import parse_past_time

MAX_REQUEST_BYTES = 512 * 1024
"""How much of a log is sent in one request."""
LAST_TURNS = 1_000
SHOWN_TURNS = 10


@examples(
    "headspace replay calm-otter", "headspace replay calm-otter --at 14:30", "headspace replay calm-otter --at 2h"
)
def replay(
    agent: AgentArgument = None,
    at: Annotated[
        str | None, Option("--at", metavar="TIME", help="14:30, 2h (two hours ago) or 2026-03-01T14:30.")
    ] = None,
    last: Annotated[int, Option("--last", "-n", min=1, max=1000, help="How many past states to list.")] = 30,
    as_json: AsJson = False,
) -> None:
    """Show an agent at an earlier time, or list its past states.

    Replays the log up to that time: only events that Headspace had received by then count.
    """
    client = ApiClient.local()
    found = choose_agent(client, agent)
    if at is None:
        _show_timeline(client, found, last, as_json)
    else:
        time = parse_past_time("--at", at, int(now().timestamp() * 1_000_000))  # "2h" means one time in all requests
        _show_at(client, found["id"], iso(time), as_json)


def _show_timeline(client: ApiClient, found: Json, last: int, as_json: bool) -> None:
    states = client.evidence(found["id"], last)
    if as_json:
        output.write_json({"id": found["id"], "name": found["name"], "moments": states})
        return
    screen = output.screen()
    states = clean_json(states)
    screen.show(state_timeline(clean_json(found), states, now(), screen.width), then=timeline_footer(found, states))


def _show_at(client: ApiClient, agent_id: str, time: str, as_json: bool) -> None:
    found = client.agent_at(agent_id, time)
    if as_json:
        output.write_json(found)
        return
    screen = output.screen()
    turns = [turn for turn in client.turns(found["id"], LAST_TURNS) if turn["timestamp"] <= time]
    screen.show(agent_at_time(clean_json(found), clean_json(turns[-SHOWN_TURNS:]), time, now(), screen.width))


# --- export ---


@examples("headspace export calm-otter -o calm-otter.jsonl", "headspace export calm-otter | jq")
def export(
    agent: Annotated[str, Argument("AGENT", help="An agent, or a session by its id in the client.")],
    file: Annotated[Path | None, Option("--output", "-o", help="A new file; default: standard output.")] = None,
) -> None:
    """Export the log of an agent as JSON lines.

    `headspace import FILE` imports it on another machine, with the same states, commands and turns.
    """
    file = require_new_file(file) if file is not None else None
    lines = _complete(ApiClient.local().export(agent))
    if file is None:
        _print(lines)
        return
    draft = file.with_name(f"{file.name}.part")
    draft.unlink(missing_ok=True)
    draft.touch(mode=0o600)
    last = b""
    with draft.open("wb") as stream:
        for last in lines:
            stream.write(last)
    draft.replace(file)
    output.screen().show([output.line(f"Wrote {count(_event_count(last.decode()), 'event')} to {file}.")])


def _event_count(last_line: str) -> int:
    """The number of events, which the last line of a log contains."""
    return int(json.loads(last_line)["end"])


def _print(lines: Iterator[bytes]) -> None:
    """Print a log: with escaped control characters to a terminal, byte for byte to a file or pipe."""
    for line in lines:
        if sys.stdout.isatty():
            output.write_json_text(line.decode("utf-8", "replace").rstrip("\n"))
        else:
            sys.stdout.buffer.write(line)
    sys.stdout.flush()


def _complete(lines: Iterator[bytes]) -> Iterator[bytes]:
    """The lines of a log. Raises an error if the last line is missing."""
    last = b""
    for line in lines:
        last = line
        yield line
    if not last.startswith(b'{"end":'):
        raise DaemonMissing("cut_off", "The connection ended before the log was complete.", "Export it again.")


# --- import ---


def import_log(path: Path, *, dry_run: bool, as_json: bool) -> None:
    """Import a log that `export` wrote."""
    header, lines = _read(path)
    events = _event_count(lines[-1])
    if dry_run:
        result: Json = {"agent_id": header["agent_id"], "events": events, "known": 0}
    else:
        result = _send(ApiClient.local(), lines, quiet=as_json)
    output.write_result(
        result,
        as_json,
        lambda result, _: log_import_plan(header, events) if dry_run else log_import_result(header, result),
    )


def _read(path: Path) -> tuple[Json, list[str]]:
    """The header of a log, and all its lines."""
    raw = sys.stdin.buffer.read() if str(path) == "-" else read_file(path)
    lines = [line for line in raw.decode("utf-8", "replace").split("\n") if line.strip()]
    try:
        header: Json = {"name": "", "host": "", "agent_id": "", **json.loads(lines[0])["header"]}
        is_complete = lines[-1].startswith('{"end":') and _event_count(lines[-1]) >= 0
    except (ValueError, LookupError, TypeError) as error:
        raise BadRequest(
            "bad_log", f"{path} is not an exported log.", "`headspace export AGENT -o FILE` writes one."
        ) from error
    if not is_complete:
        raise BadRequest("bad_log", f"{path} is incomplete: its last line is missing.", "Export it again.")
    return header, lines


def _send(client: ApiClient, lines: list[str], *, quiet: bool) -> Json:
    """Send the lines in several requests, with a progress bar."""
    header, rest = lines[0], lines[1:]
    result: Json = {"agent_id": "", "events": 0, "known": 0}
    with progress_bar("Importing", sum(map(len, rest)), quiet=quiet) as advance:
        for first, some in _parts(rest):
            done = client.import_log(header, some, first)
            result = {"agent_id": done["agent_id"]} | {name: result[name] + done[name] for name in ("events", "known")}
            advance(sum(map(len, some)))
    return result


def _parts(lines: list[str]) -> Iterator[tuple[int, list[str]]]:
    """The lines in parts that fit into a request, each with the line number of its first line in the file. A part never
    consists of the last line alone.
    """
    first, size, some = 2, 0, list[str]()
    for number, line in enumerate(lines, 2):
        if some and size + len(line) > MAX_REQUEST_BYTES and number < len(lines) + 1:
            yield first, some
            first, size, some = number, 0, []
        some.append(line)
        size += len(line)
    if some:
        yield first, some
