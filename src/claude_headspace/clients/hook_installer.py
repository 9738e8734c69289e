"""Installs the hooks of a client that runs the hook script or loads a plugin, and checks them.

A client differs by the text of its settings (`HookText`), by the files that it reads, and by what turns its hooks off.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import msgspec

from claude_headspace.clients.commented_json import Unsupported, changed_text, has_comments, without_comments
from claude_headspace.clients.files import read_file
from claude_headspace.clients.hook_checks import Check, failed, ok, warning
from claude_headspace.clients.hook_files import HookFiles
from claude_headspace.clients.hook_inspection import INSTALL, Problem, file_problems, listed, repair, unusable_files
from claude_headspace.clients.hook_settings import (
    Json,
    is_own_hook,
    merge_groups,
    parse,
    registered_hooks,
    remove,
    without_empty_hooks,
)
from claude_headspace.clients.settings_change import (
    Change,
    decode,
    planned_installation,
    planned_removal,
)
from claude_headspace.errors import BadConfiguration
from claude_headspace.kernel.text import count


class HookRegistration(msgspec.Struct, frozen=True):
    """The hooks of Headspace in one config dir."""

    path: Path
    is_active: bool
    """Whether the client runs them."""
    problem: str | None
    """Why it runs none, whether or not they are registered."""


class HookText(Protocol):
    """Knows the text in which a client registers hooks. Pure."""

    def add(self, text: str, files: HookFiles) -> str:
        """The text with Headspace's hooks."""

    def remove(self, text: str, name: str) -> str:
        """The text without Headspace's hooks. `name` is the file name in errors."""

    def content(self, text: str) -> object:
        """What a text says; equal for texts with the same meaning, false if it says nothing."""

    def is_own(self, text: str) -> bool:
        """Whether the complete text is Headspace's, so that a removal restores what was there before."""

    def has_hooks(self, text: str, files: HookFiles) -> bool:
        """Whether a text contains hooks of Headspace."""

    def problems(self, text: str, files: HookFiles) -> Iterable[str]:
        """What is wrong with the hooks of Headspace in a text."""


def no_switches(_files: HookFiles) -> Iterator[Problem]:
    """A client whose hooks cannot be turned off."""
    return iter(())


@dataclass(frozen=True, kw_only=True)
class HookInstaller:
    """Installs, removes and checks the hooks of one client."""

    files: Callable[[Path], HookFiles]
    """The files in a config dir."""
    text: HookText
    registered: Mapping[str, str]
    """The registered events, and what each reports."""
    not_registered: Mapping[str, str]
    """The events that are not registered, and why."""
    switches: Callable[[HookFiles], Iterator[Problem]] = no_switches
    """What turns the hooks of a config dir off."""
    switch_files: Callable[[HookFiles], Iterable[Path]] = lambda _files: ()
    """The files that can turn hooks off."""

    def plan_install(self, path: Path, *, trusted: bool = False) -> Change:
        """The change that installs the hooks. `trusted`: the user accepts them now, if the client asks for that."""
        files = self.files(path)
        old = read_file(files.settings)
        new = self.text.add(decode(old, str(files.settings)), files)
        return planned_installation(files, old, new, self.text)

    def plan_uninstall(self, path: Path) -> Change:
        """The change that removes the hooks from a config dir."""
        return planned_removal(self.files(path), self.text)

    def has_hooks(self, path: Path) -> bool:
        """Whether the settings of a config dir contain Headspace's hooks. Raises if they cannot be read."""
        files = self.files(path)
        return self.text.has_hooks(decode(read_file(files.settings), str(files.settings)), files)

    def registration(self, path: Path, state: Path) -> HookRegistration:
        """Whether the client runs the hooks of a config dir. Never raises."""
        files = self.files(path)
        try:
            registered = self.has_hooks(path)
        except (BadConfiguration, OSError) as error:
            return HookRegistration(path, is_active=False, problem=str(error))
        if not registered:
            return HookRegistration(path, is_active=False, problem=None)
        switched = next(self.switches(files), None)
        problem = switched.text if switched is not None else unusable_files(files, state)
        return HookRegistration(path, problem is None, problem)

    def problems(self, path: Path, state: Path) -> Iterator[Problem]:
        """Why hooks of an installation do not run."""
        files = self.files(path)
        yield from self.settings_problems(files)
        yield from file_problems(files, state)
        yield from self.switches(files)

    def checks(self, path: Path, state: Path) -> Iterator[Check]:
        """What `headspace doctor` finds in the settings of a config dir.

        A client without an installation is a warning, because not every client has to be used. So is a missing review.
        """
        files = self.files(path)
        if not files.record.exists() and not self._is_registered(path):
            unreadable = next((each for each in self.settings_problems(files) if each.hint != INSTALL), None)
            found = unreadable or Problem("none registered", INSTALL, files.settings)
            yield warning("hooks", found.text, found.hint)
            return
        problems = list(self.settings_problems(files))
        yield from (failed("hooks", problem.text, problem.hint) for problem in problems)
        if not problems:
            yield ok("hooks", f"{count(len(self.registered), 'event')} registered in {files.settings.name}")
        for problem in self.switches(files):
            report = warning if problem.is_review else failed
            yield report("review" if problem.is_review else "switch", problem.text, problem.hint)

    def files_in_use(self, path: Path, state: Path) -> HookFiles | None:
        """The files of the config dir; None if nothing is installed."""
        files = self.files(path)
        return files if files.record.exists() or files.state_link.is_symlink() else None

    def shared_files(self, _directories: Iterable[str]) -> list[Path]:
        """No settings outside of the config dir are known to turn hooks off."""
        return []

    def switches_in(self, _path: Path) -> Iterator[Problem]:
        """Nothing is known."""
        return iter(())

    def is_provided(self, _path: Path) -> bool:
        """Nothing else sends the events."""
        return False

    def repair(self, path: Path, state: Path, token: str) -> list[str]:
        """Restore our files, if the settings register our hooks. Returns what was restored."""
        return repair(self.files(path), state, token) if self._is_registered(path) else []

    def _is_registered(self, path: Path) -> bool:
        try:
            return self.has_hooks(path)
        except (BadConfiguration, OSError):
            return False

    def settings_problems(self, files: HookFiles) -> Iterator[Problem]:
        """What is wrong with the hooks in the settings."""
        try:
            text = decode(read_file(files.settings), str(files.settings))
            for problem in self.text.problems(text, files):
                yield Problem(problem, INSTALL, files.settings)
        except BadConfiguration as error:
            hint = f"{error.message} Correct or move the file; then hooks can be installed and removed."
            yield Problem(f"{files.settings} cannot be read, so it has no hooks", hint, files.settings)


@dataclass(frozen=True)
class GroupedHooks:
    """Hooks in the shape of Claude Code, in a JSON file that has other content, too."""

    groups: Callable[[str], Mapping[str, Json]]
    """For the path of the script: the group of each event, with its only hook."""

    def add(self, text: str, files: HookFiles) -> str:
        """The text with Headspace's hooks."""
        return merge_groups(text, self.groups(str(files.script)), str(files.settings))

    def remove(self, text: str, name: str) -> str:
        """The text without Headspace's hooks."""
        return remove(text, name)

    def content(self, text: str) -> object:
        """The settings, without empty lists of hooks."""
        return without_empty_hooks(text)

    def is_own(self, _text: str) -> bool:
        """The file also belongs to the user."""
        return False

    def has_hooks(self, text: str, files: HookFiles) -> bool:
        """Whether a text contains hooks of Headspace."""
        return bool(registered_hooks(parse(text, str(files.settings))))

    def problems(self, text: str, files: HookFiles) -> Iterator[str]:
        """Hooks that are missing, and hooks that were changed."""
        found = parse(text, str(files.settings)).get("hooks", {})
        expected = self.groups(str(files.script))
        missing = [event for event in expected if not any(map(_is_own_group, found.get(event, ())))]
        changed = [event for event, group in expected.items() if event not in missing and group not in found[event]]
        for events, what in ((missing, "missing"), (changed, "changed")):
            if events:
                shown = "all hooks" if len(events) == len(expected) else f"the hooks {listed(events)}"
                yield f"{shown} of Headspace are {what} in {files.settings}"


class CommentedHooks(GroupedHooks):
    """The same in a file in which the client accepts comments. They stay where they are."""

    def add(self, text: str, files: HookFiles) -> str:
        """The text with Headspace's hooks."""
        return _keep_comments(text, super().add(without_comments(text), files), str(files.settings))

    def remove(self, text: str, name: str) -> str:
        """The text without Headspace's hooks."""
        return _keep_comments(text, super().remove(without_comments(text), name), name)

    def content(self, text: str) -> object:
        """The settings, without empty lists of hooks."""
        return super().content(without_comments(text))

    def has_hooks(self, text: str, files: HookFiles) -> bool:
        """Whether a text contains hooks of Headspace."""
        return super().has_hooks(without_comments(text), files)

    def problems(self, text: str, files: HookFiles) -> Iterator[str]:
        """Hooks that are missing, and hooks that were changed."""
        return super().problems(without_comments(text), files)


def _keep_comments(text: str, changed: str, name: str) -> str:
    """A changed text, with the comments of the original one."""
    if not has_comments(text):
        return changed
    if not without_comments(text).strip():
        return f"{text.rstrip()}\n{changed}"
    try:
        return changed_text(text, parse(changed, name))
    except Unsupported as error:
        raise BadConfiguration(
            "bad_settings",
            f"{name} cannot be changed safely: its comments would be moved.",
            "Nothing was changed. Remove the comments in `hooks`, and run this again.",
        ) from error


def _is_own_group(group: object) -> bool:
    hooks = group.get("hooks") if isinstance(group, dict) else None
    return isinstance(hooks, list) and any(map(is_own_hook, hooks))


@dataclass(frozen=True)
class OwnSettingsFile:
    """A file that belongs to Headspace alone: a file of hooks, or a plugin."""

    render: Callable[[HookFiles], str]
    """The content of the file."""
    mark: str
    """A text that only a file of Headspace contains."""

    def add(self, text: str, files: HookFiles) -> str:
        """The content of the file. A file of somebody else is not replaced."""
        if text.strip() and self.mark not in text:
            raise BadConfiguration(
                "foreign_file",
                f"{files.settings} is not a file of Headspace.",
                "Nothing was changed. Rename that file, and run this again.",
            )
        return self.render(files)

    def remove(self, text: str, _name: str) -> str:
        """Nothing; a file of somebody else stays."""
        return "" if self.mark in text else text

    def content(self, text: str) -> object:
        """The text; nothing if it is a file of Headspace."""
        return self.remove(text, "").strip()

    def is_own(self, text: str) -> bool:
        """Whether it is a file of Headspace."""
        return self.mark in text

    def has_hooks(self, text: str, _files: HookFiles) -> bool:
        """Whether it is a file of Headspace."""
        return self.is_own(text)

    def problems(self, text: str, files: HookFiles) -> Iterator[str]:
        """Whether the file is missing or different."""
        if self.mark not in text:
            yield f"{files.settings} is missing, so there are no hooks of Headspace in {files.path}"
        elif text != self.render(files):
            yield f"{files.settings} was edited or is of another version"
