"""`headspace notify`: sent and delayed notifications, the rules in use, and a test of the channels."""

import sys
from typing import Annotated

from claude_headspace.surfaces.cli import output
from claude_headspace.surfaces.cli.arguments.parameters import Argument
from claude_headspace.surfaces.cli.options import AsJson, examples, now
from claude_headspace.surfaces.cli.presentation.notifications import (
    channel_test_result,
    notification_rules,
    notification_table,
)
from claude_headspace.surfaces.client.api_client import ApiClient


@examples("headspace notify list", "headspace notify list --json | jq .held")
def list_notifications(as_json: AsJson = False) -> None:
    """List notifications that were sent or are delayed."""
    found = ApiClient.local().notifications()
    output.write_result(found, as_json, lambda found, screen: notification_table(found, now(), screen.width))


@examples("headspace notify rules")
def rules(as_json: AsJson = False) -> None:
    """Show notification channels, rules and quiet hours.

    Addresses of channels are not shown.
    """
    found = ApiClient.local().notification_rules()
    output.write_result(found, as_json, lambda found, screen: notification_rules(found, now(), screen.width))


@examples("headspace notify test", "headspace notify test phone")
def send_test(
    channel: Annotated[str | None, Argument("CHANNEL", help="The channel; default: all.")] = None,
    as_json: AsJson = False,
) -> None:
    """Send a test notification.

    Exits with 1 if it could not be sent through every channel.
    """
    found = ApiClient.local().test_notifications(channel)
    output.write_result(found, as_json, lambda found, _: channel_test_result(found))
    if not found["ok"]:
        sys.exit(1)
