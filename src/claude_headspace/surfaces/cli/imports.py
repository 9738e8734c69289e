"""The CLI command `import`: imports existing transcripts, or a log that `headspace export` wrote."""

from pathlib import Path
from typing import Annotated

from claude_headspace.surfaces.cli import output
from claude_headspace.surfaces.cli.arguments.parameters import Argument, Option
from claude_headspace.surfaces.cli.options import AsJson, examples
from claude_headspace.surfaces.cli.presentation.status import import_result
from claude_headspace.surfaces.cli.progress import progress_bar
from claude_headspace.surfaces.cli.replay import import_log
from claude_headspace.surfaces.client.api_client import ApiClient, Json


@examples("headspace import --dry-run", "headspace import", "headspace import calm-otter.jsonl")
def import_history(
    file: Annotated[
        Path | None,
        Argument("FILE", help="A log that `headspace export` wrote; `-` reads standard input."),
    ] = None,
    dry_run: Annotated[bool, Option("--dry-run", "-n", help="Only show what would be imported.")] = False,
    as_json: AsJson = False,
) -> None:
    """Import earlier sessions, or an exported log.

    Without FILE it reads the transcripts of all known config dirs. Sessions that are not open are imported as ended.
    You can interrupt it and run it again: nothing is imported twice.
    """
    if file is not None:
        import_log(file, dry_run=dry_run, as_json=as_json)
        return
    client = ApiClient.local()
    files = pending_transcripts(client)
    result = _totals(files) if dry_run else import_transcripts(client, files, quiet=as_json)
    output.write_result(result, as_json, lambda result, _: import_result(result, dry_run=dry_run))


def pending_transcripts(client: ApiClient) -> list[Json]:
    """The transcripts that are not imported completely."""
    return [file for file in client.transcript_files() if file["done"] < file["size"]]


def _totals(files: list[Json]) -> Json:
    return {"files": len(files), "bytes": sum(file["size"] - file["done"] for file in files), "events": 0, "agents": 0}


def import_transcripts(client: ApiClient, files: list[Json], *, quiet: bool = False) -> Json:
    """Import transcripts one after the other, with a progress bar."""
    events, agents = 0, set[str]()
    result = _totals(files)
    with progress_bar("Reading transcripts", result["bytes"], quiet=quiet) as advance:
        for file in files:
            done = client.import_file(file["path"])
            events += done["events"]
            agents |= set(done["agents"])
            advance(file["size"] - file["done"])
    return result | {"events": events, "agents": len(agents)}
