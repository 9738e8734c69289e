"""Runs scenarios in parallel. First come the homes and the hooks, then one daemon that all cases share.

A scenario that stops its daemon or runs without one has its own Headspace.
"""

import re
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.real_client.client import Home, Terminals
from tests.real_client.installation import Installation
from tests.real_client.run import Run, Timing
from tests.real_client.scenario import Scenario


@dataclass(frozen=True)
class Case:
    """A scenario, a client version, and whether the daemon runs."""

    scenario: Scenario
    version: str
    with_daemon: bool = True
    make_home: type[Home] = Home

    @property
    def name(self) -> str:
        """The name in reports."""
        return f"{self.scenario.name}{'' if self.with_daemon else ', no daemon'} [{self.version}]"

    @property
    def needs_own_headspace(self) -> bool:
        """Whether the case needs its own Headspace."""
        scenario = self.scenario
        is_special = scenario.own_daemon or scenario.transport != "command" or bool(scenario.settings)
        return is_special or not self.with_daemon

    def home(self, root: Path) -> Home:
        """The home of the client."""
        return self.make_home(root / re.sub(r"\W+", "-", self.name).strip("-"), self.version)


@contextmanager
def run_cases(cases: Sequence[Case], root: Path, workers: int) -> Iterator[dict[str, "Future[list[Timing]]"]]:
    """Start all cases; yield their results by name. At the end the projections must match the log."""
    with Terminals() as terminals:
        homes = [(case, case.home(root)) for case in cases]
        shared = [home for case, home in homes if not case.needs_own_headspace]
        with Installation(root / "headspace", terminals, shared) as installation, ThreadPoolExecutor(workers) as pool:
            if shared:
                installation.install()
                installation.start()
            try:
                futures = {case.name: pool.submit(_run_case, case, home, installation) for case, home in homes}
                yield futures
                wait(futures.values())
                assert not shared or installation.daemon.verified()
            finally:
                pool.shutdown(cancel_futures=True)


def _run_case(case: Case, home: Home, shared: Installation) -> list[Timing]:
    with home.model(case.scenario.script) as model:
        if not case.needs_own_headspace:
            return Run(case.scenario, shared, home, model).execute()
        with Installation(home.root / "headspace", shared.terminals, [home], case.scenario.settings) as installation:
            if case.with_daemon:
                installation.start()
            installation.install(f"--transport={case.scenario.transport}")
            return Run(case.scenario, installation, home, model).execute()
