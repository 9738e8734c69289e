"""The installation of hooks in a config dir of Gemini CLI.

    <config dir>/settings.json                  `hooks` merged; a link stays a link, the mode stays
    <config dir>/headspace/notify-headspace.*   the script and its files (`clients/hook_files.py`)

Gemini CLI accepts comments in its settings. They are kept.
"""

import shlex
from collections.abc import Iterator, Mapping

from claude_headspace.clients.commented_json import without_comments
from claude_headspace.clients.files import read_file
from claude_headspace.clients.gemini.events import MATCHERS, NOT_REGISTERED, REGISTERED, TIMEOUT_MILLISECONDS
from claude_headspace.clients.hook_files import HookFiles
from claude_headspace.clients.hook_inspection import Problem
from claude_headspace.clients.hook_installer import CommentedHooks, HookInstaller
from claude_headspace.clients.hook_settings import Json, parse
from claude_headspace.clients.settings_change import decode
from claude_headspace.errors import BadConfiguration

HOOK_NAME = "headspace"
"""The name of our hooks in the client's command `/hooks`, by which they can be disabled."""


def hook_groups(script: str) -> Mapping[str, Json]:
    """The group of each event."""
    return {event: _group(script, event) for event in REGISTERED}


def _group(script: str, event: str) -> Json:
    command = f"{shlex.quote(script)} {event} gemini"
    hook = {"name": HOOK_NAME, "type": "command", "command": command, "timeout": TIMEOUT_MILLISECONDS}
    matcher = {"matcher": MATCHERS[event]} if event in MATCHERS else {}
    return {**matcher, "hooks": [hook]}


def switch_problems(files: HookFiles) -> Iterator[Problem]:
    """What the settings turn off."""
    try:
        text = without_comments(decode(read_file(files.settings), str(files.settings)))
        found = parse(text, str(files.settings))
    except BadConfiguration:
        return
    switches = found.get("hooksConfig")
    if not isinstance(switches, dict):
        return
    if switches.get("enabled") is False:
        text = f"`hooksConfig.enabled` in {files.settings} turns all hooks off"
        yield Problem(text, f"Remove it from {files.settings}.", files.settings)
    disabled = switches.get("disabled")
    if isinstance(disabled, list) and HOOK_NAME in disabled:
        text = f"`hooksConfig.disabled` in {files.settings} turns the hooks of Headspace off"
        yield Problem(text, f"Run `/hooks enable {HOOK_NAME}` in Gemini CLI.", files.settings)


INSTALLER = HookInstaller(
    files=HookFiles,
    text=CommentedHooks(hook_groups),
    registered=REGISTERED,
    not_registered=NOT_REGISTERED,
    switches=switch_problems,
)
