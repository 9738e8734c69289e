"""The command `headspace`: minimal, being written."""

import sys
from typing import Annotated

import typer

from claude_headspace.config import find_places, load_settings
from claude_headspace.errors import HeadspaceError

app = typer.Typer(no_args_is_help=True)


@app.command()
def serve(
    host: Annotated[str | None, typer.Option()] = None, port: Annotated[int | None, typer.Option()] = None
) -> None:
    """Run the daemon in the foreground."""
    from claude_headspace import daemon

    places = find_places()
    overrides = {name: value for name, value in {"host": host, "port": port}.items() if value is not None}
    daemon.serve(load_settings(places, overrides=overrides), places)


@app.command()
def token(scope: Annotated[str, typer.Option()] = "read") -> None:
    """Print a token."""
    from claude_headspace.surfaces.tokens import Scope, make_token, read_secret

    typer.echo(make_token(read_secret(find_places().secret_file), Scope(scope)))


def main() -> None:
    """Run it; an error is told in two lines."""
    try:
        app()
    except HeadspaceError as error:
        typer.echo(f"{error.message}\n{error.hint}", err=True)
        sys.exit(1)
