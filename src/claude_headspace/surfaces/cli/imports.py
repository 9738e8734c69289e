"""`headspace import`: the transcripts that are there already, or a log from elsewhere, brought in."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from claude_headspace.surfaces.cli.options import AsJson

if TYPE_CHECKING:
    from claude_headspace.surfaces.client.api_client import ApiClient, Json


def import_history(
    file: Annotated[
        Path | None,
        typer.Argument(metavar="[FILE]", help="A log that `headspace export` wrote; `-` reads it from a pipe."),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", "-n", help="Only say what there is to bring in.")] = False,
    as_json: AsJson = False,
) -> None:
    """Bring in the sessions that were there before Headspace, or a log from elsewhere.

    Without FILE it reads the transcripts of all known config dirs. Sessions that nobody has open come in as ended. It
    can be broken off and begun again: what was brought in is not read twice.
    """
    from claude_headspace.surfaces.cli import output as terminal
    from claude_headspace.surfaces.cli.presentation.status import import_report
    from claude_headspace.surfaces.client.api_client import ApiClient

    if file is not None:
        from claude_headspace.surfaces.cli.replay import import_log

        import_log(file, dry_run=dry_run, as_json=as_json)
        return
    client = ApiClient.local()
    files = [file for file in client.transcript_files() if file["done"] < file["size"]]
    result = _planned(files) if dry_run else bring_in(client, files, quiet=as_json)
    if as_json:
        terminal.write_json(result)
    else:
        terminal.screen().show(import_report(result, dry_run=dry_run))


def _planned(files: "list[Json]") -> "Json":
    return {"files": len(files), "bytes": sum(file["size"] - file["done"] for file in files), "events": 0, "agents": 0}


def bring_in(client: "ApiClient", files: "list[Json]", *, quiet: bool = False) -> "Json":
    """Bring them in, one after the other, under a bar that shows how far it is."""
    from claude_headspace.surfaces.cli.progress import bar

    events, agents = 0, set[str]()
    result = _planned(files)
    with bar("Reading transcripts", result["bytes"], quiet=quiet) as advance:
        for file in files:
            done = client.import_file(file["path"])
            events += done["events"]
            agents |= set(done["agents"])
            advance(file["size"] - file["done"])
    return result | {"events": events, "agents": len(agents)}
