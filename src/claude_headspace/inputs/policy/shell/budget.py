"""The budget of an analysis: how many steps it may take and how much text it may parse. Counted, not timed.

Rules
- Every loop, recursion and copy of a text in this package spends steps, so that no input can make it run long or grow.
- `BudgetExceeded` ends the analysis at once. What was found until then stays, and the call gets the trait
  `too-complex`.
- The time that the parser takes for a text cannot be counted, only limited by its length. Texts that are too long for
  `IN_PROCESS` are analysed in another process, which can be ended (`inputs/policy/analysis_process`).
"""

import msgspec

CHARS_PER_STEP = 100
"""Producing this many characters of text costs one step."""


class Limits(msgspec.Struct, frozen=True):
    """The size of a budget."""

    steps: int
    source_chars: int
    """Characters of shell text and program code that are parsed."""


IN_PROCESS = Limits(steps=1_200, source_chars=1_500)
"""For the process of the daemon: at most about 15 ms."""
FULL = Limits(steps=3_000, source_chars=60_000)
"""For the analysis process: at most about 20 ms, apart from the parser."""


class BudgetExceeded(Exception):
    """The analysis needs more than its budget."""


class Budget:
    """What is left for one analysis."""

    def __init__(self, limits: Limits = FULL) -> None:
        self._steps_left = limits.steps
        self._source_left = limits.source_chars

    def spend(self, steps: int = 1, chars: int = 0) -> None:
        """Spend steps, and those for producing a text of some characters. Raises `BudgetExceeded` if none are left."""
        self._steps_left -= steps + chars // CHARS_PER_STEP
        if self._steps_left < 0:
            raise BudgetExceeded

    def spend_source(self, chars: int) -> None:
        """Spend characters that are about to be parsed, each time that they are parsed."""
        self.spend(0, chars // 16)
        self._source_left -= chars
        if self._source_left < 0:
            raise BudgetExceeded
