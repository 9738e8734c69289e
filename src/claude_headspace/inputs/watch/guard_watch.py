"""Watches whether the guards are on: the hooks of every installation, the settings that turn hooks off, and our files.

Rules
- Every two seconds the watched files are compared by their status alone. They are read only after a change.
- A problem is reported from the time when its file changed until it is gone. Then it is added to the outages, so that
  `headspace status` shows it afterwards.
- Files that belong to Headspace alone are repaired. What was repaired is added to the outages at once.
- Settings of projects and of config dirs without an installation are watched while an agent uses them.
- A client that works for a minute without a single hook, in a config dir with our hooks, runs without guards.
"""

import asyncio
import stat
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from pathlib import Path

import structlog

from claude_headspace.background import Loop
from claude_headspace.clients.catalog import CLIENTS
from claude_headspace.clients.command_lines import config_dir_of
from claude_headspace.clients.config_dirs import installed_config_dirs
from claude_headspace.clients.hook_inspection import Problem, installed_files
from claude_headspace.clients.installation import INSTALLERS
from claude_headspace.config import Paths
from claude_headspace.inputs.watch.agent_cache import AgentCache
from claude_headspace.kernel.agent import Agent
from claude_headspace.kernel.envelope import SECOND, Micros
from claude_headspace.kernel.text import count
from claude_headspace.ports import Clock, GuardProblem

log = structlog.get_logger(__name__)

INTERVAL_SECONDS = 2.0
HOOKLESS_AFTER: Micros = 60 * SECOND
"""How long a client may work before its first hook is missed."""
HOOKLESS_HINT = "It was started with options or variables that turn hooks off. Start it again without them."
NO_HOOKS = "no hooks are installed: run `headspace install`"
MAX_DIRECTORIES = 500
"""How many directories of agents are watched."""


class GuardWatch(Loop):
    """Knows why guards are off, and since when."""

    def __init__(
        self,
        paths: Paths,
        token: str,
        clock: Clock,
        agents: AgentCache,
        others: Callable[[], Iterable[tuple[str, str]]],
        record_past: Callable[[str, Micros], None],
        on_change: Callable[[list[GuardProblem]], None] = lambda _problems: None,
    ) -> None:
        super().__init__()
        self._paths = paths
        self._token = token
        self._clock = clock
        self._agents = agents
        self._others = others
        """Problems that other components know, with hints."""
        self._record_past = record_past
        """Records a problem that is over: its text, and when it began."""
        self._on_change = on_change
        """Called with all problems when some begin or end."""
        self._stamp: object = None
        self._from_files: list[tuple[str, Problem]] = []
        """The problems that files show, with their clients."""
        self._known: dict[str, GuardProblem] = {}
        self._repaired: list[str] = []
        self._installed_at: dict[tuple[str, Path], Micros] = {}
        """When hooks were installed, by client and config dir."""
        self._unreviewed: set[tuple[str, Path]] = set()
        """Config dirs whose hooks the user has not accepted, and that no agent uses yet."""

    @property
    def problems(self) -> list[GuardProblem]:
        """The current problems, the oldest first."""
        return sorted(self._known.values(), key=lambda problem: problem.since)

    def health(self) -> tuple[bool, str | None, str]:
        """Whether it runs, why guards are off, and how many installations are watched."""
        failure = "; ".join(f"{each.text}. {each.hint}" for each in self.problems)
        return self.running, failure or None, self._summary() if self._installed_at else NO_HOOKS

    def _summary(self) -> str:
        """Where hooks run, and the clients that run theirs only after the user has accepted them."""
        number, waiting = (
            len(self._installed_at.keys() - self._unreviewed),
            sorted({each for each, _ in self._unreviewed}),
        )
        running = f"on; hooks in {count(number, 'config dir')}" if number else "on"
        return "; ".join((running, *(f"{CLIENTS[each].title} runs no hooks until you accept them" for each in waiting)))

    async def _run(self) -> None:
        while True:
            await self.check()
            await asyncio.sleep(INTERVAL_SECONDS)

    async def check(self) -> None:
        """Look at everything once."""
        directories = list(dict.fromkeys(self._agents.directories()))[:MAX_DIRECTORIES]
        used = {
            (agent.client, folder) for agent in self._agents.running() if (folder := _config_dir(agent)) is not None
        }
        failed = ""
        try:
            await asyncio.to_thread(self._look, directories, sorted(used))
        except Exception as error:  # whatever is in these files, the watch continues
            log.exception("guard_watch_failed")
            failed = f"the hooks cannot be checked ({type(error).__name__})"
        for what in self._repaired:
            self.record_repair(what)
        self._repaired = []
        self._update({each.text: each for each in self._current(failed)})

    def _current(self, failed: str) -> Iterator[GuardProblem]:
        """Everything that is wrong now. Without a file, a problem begins when it is seen."""
        now = self._clock()
        for client, each in self._from_files:
            yield GuardProblem(min(_since(each.file) or now, now), each.text, each.hint, client)
        for text, hint in self._others():
            yield GuardProblem(now, text, hint)
        for agent in self._agents_without_hooks():
            yield GuardProblem(now, f"{agent.name} runs without hooks", HOOKLESS_HINT, agent.client)
        if failed:
            yield GuardProblem(now, failed, "See `headspace logs`.")

    def record_repair(self, what: str) -> None:
        """Record something that was wrong and is repaired."""
        self._record_past(f"guards were off for a moment: {what}; repaired", self._clock())

    def _update(self, found: dict[str, GuardProblem]) -> None:
        if found.keys() == self._known.keys():
            return
        for text in self._known.keys() - found.keys():
            ended = self._known.pop(text)
            log.info("guards_on", problem=text)
            self._record_past(f"guards were off{_where(ended)}: {text}", ended.since)
        for text in found.keys() - self._known.keys():
            log.warning("guards_off", problem=text)
            self._known[text] = found[text]
        self._on_change(self.problems)

    def _agents_without_hooks(self) -> Iterator[Agent]:
        now = self._clock()
        for agent in self._agents.with_client():
            transcript = agent.session.transcript_path if agent.session is not None else None
            if agent.last_hook_at or not agent.busy_at or not transcript or agent.created_at > now - HOOKLESS_AFTER:
                continue
            folder = _config_dir(agent)
            installed_at = self._installed_at.get((agent.client, folder)) if folder is not None else None
            if installed_at is not None and installed_at < agent.created_at:
                yield agent

    # --- files, in a thread ---

    def _look(self, directories: list[str], used: list[tuple[str, Path]]) -> None:
        found = [(client, path) for client in INSTALLERS for path in installed_config_dirs(self._paths, client)]
        shared = [(client, path) for client in INSTALLERS for path in INSTALLERS[client].shared_files(directories)]
        shared += [
            (client, INSTALLERS[client].files(path).settings) for client, path in used if (client, path) not in found
        ]
        watched = chain((path for _, path in shared), *(_watched_files(client, path) for client, path in found))
        stamp = [found, used, [_status(path) for path in watched]]
        if stamp == self._stamp:
            return
        self._installed_at = {
            (client, path): _since(INSTALLERS[client].files(path).record) or 0 for client, path in found
        }
        for client, path in found:
            for what in INSTALLERS[client].repair(path, self._paths.state, self._token):
                log.warning("installation_repaired", what=what)
                self._repaired.append(what)
        of_dirs = {each: list(INSTALLERS[each[0]].problems(each[1], self._paths.state)) for each in found}
        of_hooks = [
            (place[0], problem)
            for place, problems in of_dirs.items()
            for problem in problems
            if not problem.is_review or place in used  # hooks that nobody runs yet protect nothing
        ]
        self._unreviewed = {
            place
            for place, problems in of_dirs.items()
            if place not in used and any(problem.is_review for problem in problems)
        }
        of_switches = [(client, problem) for client, path in shared for problem in INSTALLERS[client].switches_in(path)]
        self._from_files = of_hooks + of_switches
        self._stamp = stamp


def _where(problem: GuardProblem) -> str:
    client = CLIENTS.get(problem.client)
    return f" in {client.title}" if client is not None else ""


def _config_dir(agent: Agent) -> Path | None:
    """The config dir that an agent uses, by its transcript."""
    transcript = agent.session.transcript_path if agent.session is not None else None
    found = config_dir_of(agent.client, transcript) if transcript and agent.client in INSTALLERS else None
    return Path(found) if found is not None else None


def _watched_files(client: str, path: Path) -> list[Path]:
    """The files whose change can turn the hooks of an installation off."""
    files = INSTALLERS[client].files(path)
    return [*installed_files(files), *INSTALLERS[client].switch_files(files)]


def _status(path: Path) -> object:
    """A value that changes with the file; None if there is none."""
    try:
        found = path.lstat()
        if stat.S_ISLNK(found.st_mode) and stat.S_ISREG((target := path.stat()).st_mode):
            found = target
    except OSError:
        return None
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_mode


def _since(path: Path) -> Micros | None:
    """When a file changed; if there is none, when something was removed from its directory."""
    for each in (path, path.parent):
        try:
            return each.stat().st_mtime_ns // 1_000
        except OSError:
            continue
    return None
