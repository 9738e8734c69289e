"""Plays scenarios, several at once: the homes are made and the hooks installed first, then one daemon hears them all.

A scenario that ends its daemon, or is played while none runs, has a Headspace of its own.
"""

import re
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.real_client.client import Home, Terminals
from tests.real_client.house import House
from tests.real_client.model import ScriptedModel
from tests.real_client.run import Run, Timing
from tests.real_client.scenario import Scenario


@dataclass(frozen=True)
class Take:
    """A scenario with a version of the client, with Headspace running or not."""

    scenario: Scenario
    version: str
    heard: bool = True

    @property
    def name(self) -> str:
        """Its name in reports."""
        return f"{self.scenario.name}{'' if self.heard else ', unheard'} [{self.version}]"

    @property
    def alone(self) -> bool:
        """Whether it needs a Headspace of its own."""
        scenario = self.scenario
        is_special = scenario.own_daemon or scenario.transport != "command" or bool(scenario.settings)
        return is_special or not self.heard

    def home(self, root: Path) -> Home:
        """The home of its client."""
        return Home(root / re.sub(r"\W+", "-", self.name).strip("-"), self.version)


@contextmanager
def playing(takes: Sequence[Take], root: Path, workers: int) -> Iterator[dict[str, "Future[list[Timing]]"]]:
    """Begin to play; what becomes of each take, by its name. In the end what is shown must follow from the log."""
    with Terminals() as terminals:
        homes = [(take, take.home(root)) for take in takes]
        shared = [home for take, home in homes if not take.alone]
        with House(root / "headspace", terminals, shared) as house, ThreadPoolExecutor(workers) as pool:
            if shared:
                house.install()
                house.start()
            try:
                futures = {take.name: pool.submit(_play, take, home, house) for take, home in homes}
                yield futures
                wait(futures.values())
                assert not shared or house.daemon.verified()
            finally:
                pool.shutdown(cancel_futures=True)


def _play(take: Take, home: Home, shared: House) -> list[Timing]:
    with ScriptedModel(take.scenario.script) as model:
        if not take.alone:
            return Run(take.scenario, shared, home, model).play()
        with House(home.root / "headspace", shared.terminals, [home], take.scenario.settings) as house:
            if take.heard:
                house.start()
            house.install(f"--transport={take.scenario.transport}")
            return Run(take.scenario, house, home, model).play()
