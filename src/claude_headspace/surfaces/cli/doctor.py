"""The CLI command `doctor`."""

import msgspec
import typer

from claude_headspace.config import find_paths
from claude_headspace.surfaces.cli import output
from claude_headspace.surfaces.cli.install import ConfigDirs, config_dirs
from claude_headspace.surfaces.cli.options import AsJson, examples
from claude_headspace.surfaces.cli.presentation.installation import doctor_report
from claude_headspace.surfaces.client.doctor import run_checks


@examples("headspace doctor", "headspace doctor --json | jq '.places[].checks[] | select(.status != \"ok\")'")
def doctor(config_dir: ConfigDirs = None, as_json: AsJson = False) -> None:
    """Check everything from the hooks to the database.

    Sends a test event through the installed hook. Exits with 1 if a check fails; each failure says what to do.
    """
    paths = find_paths()
    report = run_checks(config_dirs(config_dir, paths), paths)
    found = msgspec.to_builtins(report)
    output.write_result(found, as_json, lambda found, screen: doctor_report(found, screen.width))
    if not report.ok:
        raise typer.Exit(1)
