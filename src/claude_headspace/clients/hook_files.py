"""The files of Headspace in the config dir of a client: the hook script, and what it needs to reach Headspace.

    <config dir>/<settings>                              the file in which the client registers hooks
    <config dir>/<folder>/notify-headspace.sh            0700, the script
    <config dir>/<folder>/notify-headspace.state         a link to the state directory of Headspace
    <config dir>/<folder>/notify-headspace.conf          0600, the token for requests
    <config dir>/<folder>/notify-headspace.before.json   the settings as they were before the first installation
    <config dir>/<folder>/notify-headspace.before.sh     another script of that name, where there was one
    <config dir>/<folder>/notify-headspace.installed     what was written, to detect later changes

Each client has a subclass with the names of its settings and of the folder.
"""

import shutil
from pathlib import Path

import msgspec

from claude_headspace.clients.files import link_target, write_file, write_link
from claude_headspace.config import PathBelow
from claude_headspace.errors import BadConfiguration

SCRIPT_NAME = "notify-headspace.sh"
HOOK_SCRIPT = Path(__file__).with_name(SCRIPT_NAME)
"""The script of all clients. Its second argument names the client."""
DEFAULT_BASH = "/bin/bash"


class HookFiles(msgspec.Struct, frozen=True):
    """The files of one config dir."""

    path: Path
    """The config dir."""

    settings = PathBelow("path", "settings.json")
    """The file in which the client registers hooks."""
    hooks_dir = PathBelow("path", "headspace")
    """The directory of Headspace's files."""
    script = PathBelow("hooks_dir", SCRIPT_NAME)
    """The hook script."""
    conf = PathBelow("hooks_dir", "notify-headspace.conf")
    """The token that the script needs for requests."""
    state_link = PathBelow("hooks_dir", "notify-headspace.state")
    """The link by which the script finds Headspace."""
    settings_backup = PathBelow("hooks_dir", "notify-headspace.before.json")
    """The settings before the first installation."""
    script_backup = PathBelow("hooks_dir", "notify-headspace.before.sh")
    """A script that had the same name before."""
    record = PathBelow("hooks_dir", "notify-headspace.installed")
    """The record of the installation."""
    has_script = True
    """Whether the client runs the script. A plugin needs none."""

    @property
    def own_files(self) -> tuple[Path, ...]:
        """All files that belong to Headspace alone."""
        return self.script, self.conf, self.state_link, self.settings_backup, self.record

    @property
    def changed_files(self) -> tuple[Path, ...]:
        """All files that an installation changes."""
        return *self.own_files, self.script_backup, link_target(self.settings)

    @property
    def folders(self) -> tuple[Path, ...]:
        """The directories that an installation may create, the innermost first."""
        found = {*(self.hooks_dir, *self.hooks_dir.parents), *self.settings.parents}
        return tuple(sorted(found, key=lambda folder: (-len(folder.parts), folder)))


def write_script(files: HookFiles, state: Path, token: str) -> None:
    """Write the script, and what it needs to reach Headspace."""
    if files.has_script:
        write_file(files.script, script_text().encode(), 0o700)
    write_link(files.state_link, state)
    write_file(files.conf, f"token={token}\n".encode(), 0o600)


def script_text() -> str:
    """The script, with the path of an installed bash."""
    return with_bash_path(HOOK_SCRIPT)


def with_bash_path(script: Path) -> str:
    """A script, with the path of an installed bash."""
    text = script.read_text(encoding="utf-8")
    if Path(DEFAULT_BASH).exists():
        return text
    found = shutil.which("bash")
    if found is None:
        raise BadConfiguration("no_bash", "bash is not installed.", "Install it, or use `--transport http`.")
    return text.replace(DEFAULT_BASH, found, 1)


def read_conf(path: Path) -> dict[str, str]:
    """The values in a conf file."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return {key: value for key, found, value in (line.partition("=") for line in lines) if found}
