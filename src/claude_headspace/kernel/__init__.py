"""The kernel: pure functions from events to agents. No I/O, no clock, no randomness.

Read in this order: `envelope` (an event as it arrived), `facts` (its decoded meaning), `correlate` (find its agent),
`agent` (the types), `state` (how the state follows; the theory of operation), `evolve` (apply a fact), `react` (what is
published), `decide` (the verdict on a tool call) and `views` (what surfaces show).
"""

KERNEL_VERSION = 8
"""Increased when `evolve` or `event_documents` gives another result for the same history. A journal of another version
is rebuilt from its log when it is opened.
"""
