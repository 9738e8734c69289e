"""Commands about this home: `config`."""

from claude_headspace.surfaces.cli.options import AsJson, places


def config(as_json: AsJson = False) -> None:
    """Show every setting and what it is for, and where files live.

    Settings stand in config.toml, or in the environment as HEADSPACE_PORT for `port`, and so on.
    """
    import msgspec

    from claude_headspace.config import effective_settings
    from claude_headspace.surfaces.cli import output as terminal
    from claude_headspace.surfaces.cli.presentation.status import settings
    from claude_headspace.surfaces.text.labels import clean_json
    from claude_headspace.surfaces.text.settings import settings_view

    home = places()
    explained = msgspec.to_builtins(settings_view(*effective_settings(home), home))
    entries, files = explained["settings"], explained["places"]
    if as_json:
        by_name = {
            entry["name"]: {key: entry[key] for key in entry if key not in ("name", "environment")} for entry in entries
        }
        terminal.write_json({"settings": by_name, "places": files})
        return
    screen = terminal.screen()
    screen.show(settings(clean_json(entries), clean_json(files), screen.width))
