"""The CLI command `keys`: the keys of `headspace top`, checked."""

from claude_headspace.config import find_paths
from claude_headspace.surfaces.cli import output
from claude_headspace.surfaces.cli.options import AsJson, examples
from claude_headspace.surfaces.text.formatting import Json
from claude_headspace.surfaces.tui.keymap import load_keys


@examples("headspace keys", "headspace keys --json")
def keys(as_json: AsJson = False) -> None:
    """List the keys of `headspace top`, and check your own.

    Your own keys are in `keys.toml` in the configuration directory: `send = "S"`, or a list of keys. A conflict is an
    error.
    """
    found = load_keys(find_paths().keys_file)
    rows = [{"action": key.id, "keys": key.label, "description": key.description} for key in found]
    output.write_result(rows, as_json, lambda rows, _: [_line(row) for row in rows])


def _line(row: Json) -> output.Line:
    return output.line(output.Span(f"{row['keys']:<9} ", "key"), f"{row['action']:<15} {row['description']}")
