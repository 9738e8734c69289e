"""What `headspace doctor` checks in the settings of Claude Code: readable, complete, not twice, and not turned off."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from claude_headspace.clients.claude_code.hooks.events import events_for
from claude_headspace.clients.claude_code.hooks.registration import Registration
from claude_headspace.clients.claude_code.hooks.version import find_version
from claude_headspace.clients.hook_checks import Check, failed, ok, warning
from claude_headspace.clients.hook_inspection import INSTALL
from claude_headspace.kernel.text import count


def check_settings(registration: Registration) -> Iterator[Check]:
    """The settings file, its hooks, and plugins."""
    config = registration.config
    if registration.settings is not None:
        yield ok("settings", f"{config.settings.name} is readable")
        yield from _hooks(registration, registration.settings)
    elif registration.problem is not None:
        yield failed("settings", registration.problem, "Fix the file; Claude Code cannot read it either.")
        return
    elif not registration.plugins:
        yield failed("settings", f"{config.settings} does not exist", INSTALL)
    yield from _plugins(registration)


def _hooks(registration: Registration, found: dict[str, Any]) -> Iterator[Check]:
    config, registered = registration.config, registration.hooks
    if found.get("disableAllHooks"):
        yield failed("hooks", "`disableAllHooks` turns all hooks off", f"Remove it from {config.settings}.")
    if registration.reporting_events:
        detail = f"`headspace hook` for {count(len(registration.reporting_events), 'event')}: it only reports"
        yield warning("hooks", f"{detail}, so guard rules do not apply", INSTALL)
    if registered:
        yield from _registered_hooks(registration)
    elif not registration.plugins and not registration.reporting_events:
        yield failed("hooks", "none registered", INSTALL)


def _registered_hooks(registration: Registration) -> Iterator[Check]:
    config, registered = registration.config, registration.hooks
    there, wanted = {event for event, _ in registered}, events_for(find_version())
    missing = [event for event in wanted if event not in there]
    unknown = [event for event in there if event not in wanted]
    other_scripts = [hook["command"] for _, hook in registered if hook.get("command") not in (None, str(config.script))]
    if missing:
        yield failed("hooks", f"{count(len(missing), 'event')} missing: {', '.join(missing)}", INSTALL)
    elif other_scripts:
        yield failed("hooks", f"registered with another script: {other_scripts[0]}", INSTALL)
    elif unknown:
        yield failed("hooks", f"your Claude Code may not support {', '.join(unknown)}, and may fail to start", INSTALL)
    else:
        yield ok("hooks", f"{count(len(wanted), 'event')} registered")
    counted = Counter(event for event, _ in registered)
    if twice := sorted(event for event, number in counted.items() if number > 1):
        yield failed("twice", f"registered twice: {', '.join(twice)}", INSTALL)
    if any(hook.get("type") == "http" for _, hook in registered):
        detail = "http: events are lost while the daemon is down, and process and terminal are unknown"
        yield warning("transport", detail, "`headspace install` switches to the script.")


def _plugins(registration: Registration) -> Iterator[Check]:
    """Plugins of Headspace. A plugin sends nothing if the settings contain the hooks, too."""
    for folder in registration.plugins:
        if registration.hooks:
            detail = f"the settings and the plugin {folder} contain the same hooks; the plugin sends nothing"
            yield warning("twice", detail, "Keep one: `headspace uninstall`, or remove the plugin.")
        else:
            yield ok("plugin", f"{folder} sends the events")
