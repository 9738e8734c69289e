"""`headspace notify`: what was sent and what is held back, the rules in force, a test of the channels."""

from typing import Annotated

import typer

from claude_headspace.surfaces.cli.options import AsJson, now


def list_notices(as_json: AsJson = False) -> None:
    """List who was called about what, what is held back and why."""
    from claude_headspace.surfaces.cli import output as terminal
    from claude_headspace.surfaces.cli.presentation.notifications import notices
    from claude_headspace.surfaces.client.api_client import ApiClient
    from claude_headspace.surfaces.text.labels import clean_json

    found = ApiClient.local().notifications()
    if as_json:
        terminal.write_json(found)
        return
    screen = terminal.screen()
    screen.show(notices(clean_json(found), now(), screen.width))


def rules(as_json: AsJson = False) -> None:
    """Show how you are called: channels, kinds, quiet hours. Addresses are not shown."""
    from claude_headspace.surfaces.cli import output as terminal
    from claude_headspace.surfaces.cli.presentation.notifications import rules as lines
    from claude_headspace.surfaces.client.api_client import ApiClient
    from claude_headspace.surfaces.text.labels import clean_json

    found = ApiClient.local().notification_rules()
    if as_json:
        terminal.write_json(found)
        return
    screen = terminal.screen()
    screen.show(lines(clean_json(found), now(), screen.width))


def try_out(
    channel: Annotated[str | None, typer.Argument(metavar="CHANNEL", help="Which one; all if left out.")] = None,
    as_json: AsJson = False,
) -> None:
    """Send a test through every channel, or one, and say what came of it."""
    from claude_headspace.surfaces.cli import output as terminal
    from claude_headspace.surfaces.cli.presentation.notifications import trial
    from claude_headspace.surfaces.client.api_client import ApiClient
    from claude_headspace.surfaces.text.labels import clean_json

    found = ApiClient.local().test_notifications(channel)
    if as_json:
        terminal.write_json(found)
    else:
        terminal.screen().show(trial(clean_json(found)))
    if not found["ok"]:
        raise typer.Exit(1)
