"""`headspace token`: local tokens, and named tokens for other programs and machines."""

from typing import Annotated

from claude_headspace.config import find_paths
from claude_headspace.kernel.text import iso
from claude_headspace.surfaces.auth.tokens import Scope, local_user, make_token, read_secret
from claude_headspace.surfaces.cli import output
from claude_headspace.surfaces.cli.arguments.echo import echo
from claude_headspace.surfaces.cli.arguments.parameters import Argument, Option
from claude_headspace.surfaces.cli.options import AsJson, examples, now
from claude_headspace.surfaces.cli.presentation.tokens import token_created, token_table
from claude_headspace.surfaces.client.api_client import ApiClient
from claude_headspace.surfaces.text.timestamps import FUTURE_HINT, is_duration, parse_time

NameArgument = Annotated[str, Argument("NAME", help="Name of the token: lowercase letters, digits, dots and dashes.")]


@examples('curl -H "Authorization: Bearer $(headspace token)" http://127.0.0.1:5055/api/agents')
def local_token(
    scope: Annotated[Scope, Option("--scope", "-s", help="What the token permits.")] = Scope.READ,
) -> None:
    """Print a token, or manage named tokens.

    Without a command it prints a token for programs on this machine. The scope `act` includes `read`, and `admin`
    includes all scopes. To revoke these tokens, delete the secret file (see `headspace config`) and restart the daemon.
    Named tokens are revoked one by one.
    """
    echo(make_token(read_secret(find_paths().secret_file), scope))


@examples("headspace token create grafana --scope read", "headspace token create ci --scope ingest --expires 90d")
def create(
    name: NameArgument,
    scope: Annotated[list[Scope], Option("--scope", "-s", help="What the token permits; repeatable.")],
    owner: Annotated[str, Option("--owner", help="Owner of the token; default: you.")] = "",
    expires: Annotated[str | None, Option("--expires", metavar="TIME", help="Expiry: 30d, 2026-12-31.")] = None,
    as_json: AsJson = False,
) -> None:
    """Create a named token.

    The token is shown only once, because only a digest of it is stored. It works immediately, with every daemon on the
    same database.
    """
    expires_at = _expiry(expires) if expires else None
    result = ApiClient.local().create_token(name, scope, owner or local_user(), expires_at)
    output.write_result(result, as_json, lambda result, screen: token_created(result, now(), screen.is_interactive))


def _expiry(text: str) -> str:
    """A future time: 30d means in thirty days."""
    at = int(now().timestamp() * 1_000_000)
    time = parse_time("--expires", text, at, FUTURE_HINT)
    return iso(2 * at - time if is_duration(text) else time)


@examples("headspace token list")
def list_tokens(as_json: AsJson = False) -> None:
    """List named tokens."""
    found = ApiClient.local().tokens()
    output.write_result(found, as_json, lambda found, screen: token_table(found, now(), screen.width))


@examples("headspace token revoke grafana")
def revoke(name: NameArgument, as_json: AsJson = False) -> None:
    """Revoke a named token.

    It stops working immediately, with every daemon on the same database.
    """
    result = ApiClient.local().revoke_token(name)
    output.write_result(result, as_json, lambda result, _: [output.line(f"Revoked {result['revoked']}.")])
