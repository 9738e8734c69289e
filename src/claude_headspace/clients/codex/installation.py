"""The installation of hooks in a config dir of Codex.

    <config dir>/hooks.json                     merged; a link stays a link, the mode stays
    <config dir>/headspace/notify-headspace.*   the script and its files (`clients/hook_files.py`)
    <config dir>/config.toml                    changed only if the user accepted the hooks (`trust`)

Codex asks the user to review new hooks at its next start. That is the user's consent, so the review is written only
with an explicit yes.
"""

import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from claude_headspace.clients.codex import trust
from claude_headspace.clients.codex.events import NOT_REGISTERED, REGISTERED, timeout_of
from claude_headspace.clients.files import link_target, read_file
from claude_headspace.clients.hook_files import HookFiles
from claude_headspace.clients.hook_inspection import Problem
from claude_headspace.clients.hook_installer import GroupedHooks, HookInstaller
from claude_headspace.clients.hook_settings import Json, parse
from claude_headspace.clients.settings_change import Change, FileEdit, decode, read_if_possible
from claude_headspace.config import PathBelow
from claude_headspace.errors import BadConfiguration

FEATURES = ("hooks", "codex_hooks")
"""The feature that runs hooks, and its former name."""
REVIEW = "Start `codex` and accept the hooks when it asks, or type `/hooks` in it."


class CodexFiles(HookFiles, frozen=True):
    """One config dir of Codex."""

    settings = PathBelow("path", "hooks.json")
    config = PathBelow("path", "config.toml")
    """The settings of Codex, with the user's review of hooks."""

    @property
    def changed_files(self) -> tuple[Path, ...]:
        """All files that an installation changes."""
        return *super().changed_files, link_target(self.config)


def hook_groups(script: str) -> Mapping[str, Json]:
    """The group of each event."""
    return {event: {"hooks": [_hook(script, event)]} for event in REGISTERED}


def _hook(script: str, event: str) -> Json:
    return {"type": "command", "command": f"{shlex.quote(script)} {event} codex", "timeout": timeout_of(event)}


# --- what turns hooks off ---


def switch_files(files: HookFiles) -> list[Path]:
    """The files that can turn hooks off."""
    return [files.path / "config.toml"]


def switch_problems(files: HookFiles) -> Iterator[Problem]:
    """What the settings turn off, and hooks that the user has not accepted."""
    path = files.path / "config.toml"
    config = _read_config(path)
    features = config.get("features")
    for feature in FEATURES:
        if isinstance(features, dict) and features.get(feature) is False:
            yield Problem(f"`features.{feature}` in {path} turns all hooks off", f"Remove it from {path}.", path)
    yield from _review_problems(files, config, path)


def _review_problems(files: HookFiles, config: Json, path: Path) -> Iterator[Problem]:
    """Hooks without the user's consent do not run."""
    found = trust.states(config)
    expected = _own_hashes(files)
    reviewed = {key: state for key in expected if isinstance(state := found.get(key), dict)}
    accepted = {_place(key) for key, state in reviewed.items() if state.get("trusted_hash") == expected[key]}
    disabled = {_place(key) for key, state in reviewed.items() if state.get("enabled") is False}
    places = {_place(key) for key in expected}
    if places - accepted:
        number = "the hooks" if len(places - accepted) == len(places) else f"{len(places - accepted)} of the hooks"
        yield Problem(
            f"Codex does not run {number} in {files.settings} before you accept them", REVIEW, path, is_review=True
        )
    if disabled:
        yield Problem(f"{len(disabled)} of the hooks in {files.settings} are turned off in Codex", REVIEW, path)


def is_unreviewed(plan: Change) -> bool:
    """Whether the user has not accepted all hooks that an installation writes."""
    name = str(plan.config.settings)
    expected = trust.own_hashes(parse(decode(plan.new, name), name), plan.config.settings)
    found = trust.states(_read_config(plan.config.path / "config.toml"))
    accepted = {_place(key) for key, value in expected.items() if _hash_of(found.get(key)) == value}
    return bool({_place(key) for key in expected} - accepted)


def _hash_of(state: object) -> object:
    return state.get("trusted_hash") if isinstance(state, dict) else None


def _read_config(path: Path) -> Json:
    return trust.parse_or_none((read_if_possible(path) or b"").decode("utf-8", "replace")) or {}


def _place(key: str) -> str:
    """Event and position of a hook, without the path."""
    return ":".join(key.rsplit(":", 3)[1:])


def _own_hashes(files: HookFiles) -> dict[str, str]:
    try:
        settings = parse(decode(read_if_possible(files.settings), str(files.settings)), str(files.settings))
    except BadConfiguration:
        return {}
    return trust.own_hashes(settings, files.settings)


# --- installation ---


class CodexInstaller(HookInstaller):
    """Also writes the user's review of the hooks, if the user agrees, and removes it."""

    def plan_install(self, path: Path, *, trusted: bool = False) -> Change:
        """The change that installs the hooks. `trusted`: the user accepts them now, instead of in Codex."""
        change = super().plan_install(path)
        if not trusted:
            return change
        name, config = str(change.config.settings), path / "config.toml"
        old = read_file(config)
        entries = trust.own_hashes(parse(decode(change.new, name), name), change.config.settings)
        new = trust.add(decode(old, str(config)), entries, str(config), is_new=old is None)
        return msgspec.structs.replace(change, also=(FileEdit(config, old, new.encode()),))

    def plan_uninstall(self, path: Path) -> Change:
        """The change that removes the hooks and the review of them. A config that cannot be changed safely stays."""
        change, config = super().plan_uninstall(path), path / "config.toml"
        try:
            old = read_file(config)
            text = decode(old, str(config))
            new = trust.remove(text, _reviewed_hooks(change.config, text), str(config))
        except BadConfiguration:
            return change
        removed = not new and trust.is_created(text)
        edit = FileEdit(config, old, None if removed or old is None else new.encode())
        return msgspec.structs.replace(change, also=(edit,) if edit.changes else ())


def _reviewed_hooks(files: HookFiles, text: str) -> set[str]:
    """The keys of our hooks in the review: by their places, and by their hashes if they are not registered any more."""
    groups = {event: [group] for event, group in hook_groups(str(files.script)).items()}
    own = trust.own_hashes({"hooks": groups}, files.settings)
    found = trust.states(trust.parse(text, str(files.path / "config.toml")))
    return {*_own_hashes(files), *(key for key, state in found.items() if _hash_of(state) in own.values())}


INSTALLER = CodexInstaller(
    files=CodexFiles,
    text=GroupedHooks(hook_groups),
    registered=REGISTERED,
    not_registered=NOT_REGISTERED,
    switches=switch_problems,
    switch_files=switch_files,
)
