"""`headspace token`: tokens of this home, and tokens with a name for everybody else."""

from typing import Annotated

import typer

from claude_headspace.surfaces.auth.tokens import Scope
from claude_headspace.surfaces.cli.options import AsJson, now, places

Name = Annotated[str, typer.Argument(metavar="NAME", help="Its name: small letters, digits, dots and dashes.")]


def local_token(
    context: typer.Context,
    scope: Annotated[Scope, typer.Option("--scope", "-s", help="What the token is good for.")] = Scope.READ,
) -> None:
    """Print a token of this home, or look after named ones.

    Without a command it prints a token for programs on this machine, and nothing else. It is good for its scope: `act`
    includes read, `admin` includes all. Deleting the secret file (see `headspace config`) and restarting the daemon
    revokes these; named tokens are revoked one by one.
    """
    from claude_headspace.surfaces.auth.tokens import make_token, read_secret

    if context.invoked_subcommand is None:
        typer.echo(make_token(read_secret(places().secret_file), scope))


def create(
    name: Name,
    scope: Annotated[list[Scope], typer.Option("--scope", "-s", help="What it is good for; may be repeated.")],
    owner: Annotated[str, typer.Option("--owner", help="Whose it is; yours if left out.")] = "",
    expires: Annotated[str | None, typer.Option("--expires", help="Until when: 30d, 2026-12-31.")] = None,
    as_json: AsJson = False,
) -> None:
    """Make a token with a name.

    Its text is shown this once: only a digest is kept. It works at once, with every daemon on the same database.
    """
    from claude_headspace.surfaces.auth.tokens import local_user
    from claude_headspace.surfaces.cli import output as terminal
    from claude_headspace.surfaces.cli.presentation.tokens import made
    from claude_headspace.surfaces.client.api_client import ApiClient
    from claude_headspace.surfaces.text.labels import clean_json

    result = ApiClient.local().create_token(name, scope, owner or local_user(), _to_come(expires) if expires else None)
    if as_json:
        terminal.write_json(result)
    else:
        screen = terminal.screen()
        screen.show(made(clean_json(result), now(), screen.is_interactive))


def _to_come(expires: str) -> str:
    """A moment to come: here 30d means in thirty days."""
    from claude_headspace.kernel.views import iso
    from claude_headspace.surfaces.text.timestamps import FUTURE_HINT, is_duration, parse_time

    at = int(now().timestamp() * 1_000_000)
    moment = parse_time("--expires", expires, at, FUTURE_HINT)
    return iso(2 * at - moment if is_duration(expires) else moment)


def list_tokens(as_json: AsJson = False) -> None:
    """List the named tokens: whose they are, what for, when last used."""
    from claude_headspace.surfaces.cli import output as terminal
    from claude_headspace.surfaces.cli.presentation.tokens import no_tokens, tokens
    from claude_headspace.surfaces.client.api_client import ApiClient
    from claude_headspace.surfaces.text.labels import clean_json

    found = ApiClient.local().tokens()
    if as_json:
        terminal.write_json(found)
        return
    screen = terminal.screen()
    screen.show(tokens(clean_json(found), now(), screen.width) if found else no_tokens())


def revoke(name: Name, as_json: AsJson = False) -> None:
    """Let a named token be good for nothing, at once and everywhere."""
    from claude_headspace.surfaces.cli import output as terminal
    from claude_headspace.surfaces.client.api_client import ApiClient

    result = ApiClient.local().revoke_token(name)
    if as_json:
        terminal.write_json(result)
    else:
        terminal.screen().show([terminal.line(f"{result['revoked']} is revoked.")])
