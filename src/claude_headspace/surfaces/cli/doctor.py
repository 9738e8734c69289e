"""The command `doctor`."""

import typer

from claude_headspace.surfaces.cli.install import ConfigDirs, config_dirs
from claude_headspace.surfaces.cli.options import AsJson, places


def doctor(config_dir: ConfigDirs = None, as_json: AsJson = False) -> None:
    """Check the whole way from Claude Code's hooks to the journal.

    An event is sent through the installed hook itself. Exits with 1 if anything failed; each failure says what to do.
    """
    import msgspec

    from claude_headspace.surfaces.cli import output as terminal
    from claude_headspace.surfaces.cli.presentation.installation import checkup
    from claude_headspace.surfaces.client.doctor import run_checks
    from claude_headspace.surfaces.text.labels import clean_json

    home = places()
    found = run_checks(config_dirs(config_dir, home), home)
    report = msgspec.to_builtins(found)
    if as_json:
        terminal.write_json(report)
    else:
        screen = terminal.screen()
        screen.show(checkup(clean_json(report), screen.width))
    if not found.ok:
        raise typer.Exit(1)
