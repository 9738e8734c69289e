"""The installation of the plugin in a config dir of opencode.

    <config dir>/plugin/headspace.js                           the plugin; the file belongs to Headspace alone
    <config dir>/plugin-headspace/notify-headspace.state       a link to the state directory of Headspace
    <config dir>/plugin-headspace/notify-headspace.conf        0600, the token for requests
    <config dir>/plugin-headspace/notify-headspace.installed   what was written

The plugin finds the link and the token in `../plugin-headspace/`, beside its own directory: opencode loads every script
in `plugin/`.
"""

from pathlib import Path

from claude_headspace.clients.hook_files import HookFiles
from claude_headspace.clients.hook_installer import HookInstaller, OwnSettingsFile
from claude_headspace.clients.opencode.events import NOT_REGISTERED, REGISTERED
from claude_headspace.config import PathBelow

PLUGIN = Path(__file__).parent / "plugin" / "headspace.js"
MARK = "notify-headspace"
"""A text that only our plugin contains: the name of the files that it reads."""


class OpencodeFiles(HookFiles, frozen=True):
    """One config dir of opencode."""

    settings = PathBelow("path", "plugin/headspace.js")
    hooks_dir = PathBelow("path", "plugin-headspace")
    has_script = False


def plugin_text(_files: HookFiles) -> str:
    """The plugin."""
    return PLUGIN.read_text(encoding="utf-8")


INSTALLER = HookInstaller(
    files=OpencodeFiles,
    text=OwnSettingsFile(plugin_text, MARK),
    registered=REGISTERED,
    not_registered=NOT_REGISTERED,
)
