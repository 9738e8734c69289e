"""The numbers of the first nine agents, which are also keys.

A number stays with its agent while the user looks at it, also if the order changes: the key must not jump to another
agent than the one that the user read. New agents get the numbers that were never given. `restart` gives new numbers.
"""

from collections.abc import Iterable

COUNT = 9


class RowNumbers:
    """The numbers of agents, by id."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def assign(self, agent_ids: Iterable[str]) -> None:
        """Give the next numbers to agents without one."""
        for agent_id in agent_ids:
            if len(self._numbers) == COUNT:
                return
            self._numbers.setdefault(agent_id, len(self._numbers) + 1)

    def restart(self) -> None:
        """Forget all numbers. The next agents are numbered in their order."""
        self._numbers = {}

    def of(self, agent_id: str) -> int:
        """The number of an agent; 0 if it has none."""
        return self._numbers.get(agent_id, 0)

    def agent(self, number: int) -> str | None:
        """The agent with a number."""
        return next((agent_id for agent_id, given in self._numbers.items() if given == number), None)
