"""What it means: pure functions from envelopes to agents. No I/O, no clock, no random.

Read in this order: `envelope` (what arrives), `wire` and `decode` (foreign shapes become our facts), `correlate` (whose
fact it is), `agent` (what we know of a worker), `evolve` (how a fact changes it), `react` (what others must be told),
`decide` (what Claude Code is answered) and `views` (the one truth in every dialect).
"""

KERNEL_VERSION = 3
"""Raised when `evolve` or `documents` gives another result for the same history. A journal that was made by another
version is made anew from its log when it is opened.
"""
