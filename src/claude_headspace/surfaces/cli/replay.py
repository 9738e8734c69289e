"""Commands about the past: `replay`, `export`, and the bringing in of a log."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from claude_headspace.surfaces.cli.options import Agent, AsJson, now

if TYPE_CHECKING:
    from claude_headspace.surfaces.client.api_client import ApiClient, Json

AT_ONCE = 512 * 1024
"""How much of a file is sent in one request."""
LAST_TURNS = 1_000
SHOWN_TURNS = 10


def replay(
    agent: Agent,
    at: Annotated[str | None, typer.Option("--at", help="When: 14:30, 2h (ago), 2026-03-01T14:30.")] = None,
    last: Annotated[int, typer.Option("--last", "-n", min=1, max=1000, help="How many moments to list.")] = 30,
    as_json: AsJson = False,
) -> None:
    """Show an agent as it was at a moment, or list its moments.

    The log is replayed up to then: what counts is what Headspace had heard of by that time.
    """
    from claude_headspace.surfaces.cli import output as terminal
    from claude_headspace.surfaces.cli.presentation.timeline import moments, moments_next, then
    from claude_headspace.surfaces.client.api_client import ApiClient
    from claude_headspace.surfaces.text.labels import clean_json

    client, screen = ApiClient.local(), terminal.screen()
    if at is None:
        found = client.agent(agent)
        states = client.evidence(found["id"], last)
        if as_json:
            terminal.write_json({"id": found["id"], "name": found["name"], "moments": states})
            return
        states = clean_json(states)
        screen.show(moments(clean_json(found), states, now(), screen.width), then=moments_next(found, states))
        return
    moment = _absolute(at)
    found = client.agent_at(agent, moment)
    if as_json:
        terminal.write_json(found)
        return
    turns = [turn for turn in client.turns(found["id"], LAST_TURNS) if turn["timestamp"] <= moment]
    screen.show(then(clean_json(found), clean_json(turns[-SHOWN_TURNS:]), moment, now(), screen.width))


def _absolute(at: str) -> str:
    """A moment as the API is asked for it: what "2h" means is settled once."""
    from claude_headspace.kernel.views import iso
    from claude_headspace.surfaces.text.timestamps import parse_past_time

    return iso(parse_past_time("--at", at, int(now().timestamp() * 1_000_000)))


def export(
    agent: Annotated[str, typer.Argument(metavar="AGENT", help="An agent, or one session by Claude's id.")],
    output: Annotated[Path | None, typer.Option("--output", "-o", help="A new file; else standard output.")] = None,
) -> None:
    """Write the log of an agent, as JSON lines.

    `headspace import FILE` brings it in elsewhere, with the same states, commands and turns.
    """
    from claude_headspace.surfaces.cli import output as terminal
    from claude_headspace.surfaces.cli.files import new_file
    from claude_headspace.surfaces.client.api_client import ApiClient
    from claude_headspace.surfaces.text.labels import count

    output = new_file(output) if output is not None else None
    lines = _whole(ApiClient.local().export(agent))
    if output is None:
        _print(lines)
        return
    draft = output.with_name(f"{output.name}.part")
    draft.unlink(missing_ok=True)
    draft.touch(mode=0o600)
    last = b""
    with draft.open("wb") as file:
        for last in lines:
            file.write(last)
    draft.replace(output)
    terminal.screen().show([terminal.line(f"Wrote {count(_events(last.decode()), 'event')} to {output}.")])


def _events(last_line: str) -> int:
    """How many events the last line says there are."""
    import json

    return int(json.loads(last_line)["end"])


def _print(lines: Iterator[bytes]) -> None:
    """To a terminal nothing that it would act on; to anything else byte for byte."""
    from claude_headspace.surfaces.cli import output as terminal

    for line in lines:
        if sys.stdout.isatty():
            terminal.write_json_text(line.decode("utf-8", "replace").rstrip("\n"))
        else:
            sys.stdout.buffer.write(line)
    sys.stdout.flush()


def _whole(lines: Iterator[bytes]) -> Iterator[bytes]:
    """The lines, if the last one says that these are all."""
    from claude_headspace.errors import DaemonMissing

    last = b""
    for line in lines:
        last = line
        yield line
    if not last.startswith(b'{"end":'):
        raise DaemonMissing("cut_off", "Headspace stopped in the middle of the log.", "Export it again.")


# --- bringing in ------------------------------------------------------------------------------------------------------


def import_log(path: Path, *, dry_run: bool, as_json: bool) -> None:
    """Bring in a log that `export` wrote."""
    from claude_headspace.surfaces.cli import output as terminal
    from claude_headspace.surfaces.cli.presentation.timeline import import_planned, imported
    from claude_headspace.surfaces.client.api_client import ApiClient

    header, lines = _read(path)
    events = _events(lines[-1])
    if dry_run:
        result: dict[str, Any] = {"agent_id": header["agent_id"], "events": events, "known": 0}
    else:
        result = _send(ApiClient.local(), lines, quiet=as_json)
    if as_json:
        terminal.write_json(result)
    else:
        terminal.screen().show(import_planned(header, events) if dry_run else imported(header, result))


def _read(path: Path) -> tuple[dict[str, Any], list[str]]:
    """The first line as what it says, and all lines."""
    import json

    from claude_headspace.errors import BadRequest
    from claude_headspace.surfaces.cli.files import read_file

    raw = sys.stdin.buffer.read() if str(path) == "-" else read_file(path)
    lines = [line for line in raw.decode("utf-8", "replace").split("\n") if line.strip()]
    try:
        header: dict[str, Any] = {"name": "", "host": "", "agent_id": "", **json.loads(lines[0])["header"]}
        whole = lines[-1].startswith('{"end":') and _events(lines[-1]) >= 0
    except (ValueError, LookupError, TypeError) as error:
        raise BadRequest(
            "bad_log", f"{path} is no exported log.", "`headspace export AGENT -o FILE` writes one."
        ) from error
    if not whole:
        raise BadRequest("bad_log", f"{path} is cut off: its last line is missing.", "Export it again.")
    return header, lines


def _send(client: "ApiClient", lines: list[str], *, quiet: bool) -> "Json":
    """Send the lines, some at a time, under a bar that shows how far it is."""
    from claude_headspace.surfaces.cli.progress import bar

    header, rest = lines[0], lines[1:]
    result: dict[str, Any] = {"agent_id": "", "events": 0, "known": 0}
    with bar("Bringing in", sum(map(len, rest)), quiet=quiet) as advance:
        for first, some in _parts(rest):
            done = client.import_log(header, some, first)
            result = {"agent_id": done["agent_id"]} | {name: result[name] + done[name] for name in ("events", "known")}
            advance(sum(map(len, some)))
    return result


def _parts(lines: list[str]) -> Iterator[tuple[int, list[str]]]:
    """Lines in parts that fit a request, each with the number of its first line in the file; the last never alone."""
    first, size, some = 2, 0, list[str]()
    for number, line in enumerate(lines, 2):
        if some and size + len(line) > AT_ONCE and number < len(lines) + 1:
            yield first, some
            first, size, some = number, 0, []
        some.append(line)
        size += len(line)
    if some:
        yield first, some
