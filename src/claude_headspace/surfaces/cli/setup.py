"""Commands about this home: `config`."""

from typing import Any

from claude_headspace.config import Places
from claude_headspace.surfaces.cli.options import AsJson, places


def config(as_json: AsJson = False) -> None:
    """Show every setting and what it is for, and where files live.

    Settings stand in config.toml, or in the environment as HEADSPACE_PORT for `port`, and so on.
    """
    from claude_headspace.surfaces.cli import terminal
    from claude_headspace.surfaces.cli.presentation.reports import settings
    from claude_headspace.surfaces.wording import cleaned

    home = places()
    entries, files = _settings(home), _files(home)
    if as_json:
        by_name = {entry["name"]: {key: entry[key] for key in entry if key != "name"} for entry in entries}
        terminal.write_json({"settings": by_name, "places": files})
        return
    screen = terminal.screen()
    screen.show(settings(cleaned(entries), cleaned(files), screen.width))


def _settings(home: Places) -> list[dict[str, Any]]:
    from claude_headspace.config import describe_settings, effective_settings
    from claude_headspace.surfaces.wording import without_password

    values, origins = effective_settings(home)
    entries: list[dict[str, Any]] = []
    for name, default, description in describe_settings():
        value = getattr(values, name)
        shown = without_password(value) if name == "database" else value
        origin = origins[name]
        entries.append({"name": name, "value": shown, "default": default, "origin": origin, "description": description})
    return entries


def _files(home: Places) -> dict[str, str]:
    names = ("config_file", "database", "log_file", "spool", "secret_file", "daemon_file")
    return {name.removesuffix("_file"): str(getattr(home, name)) for name in names}
