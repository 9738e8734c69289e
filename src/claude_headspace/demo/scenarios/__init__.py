"""The simulated agents: a team that works on a web shop. Data only.

Together they show what the board can show: dialogs of each kind, work, sub-agents, background shells, a to-do list, an
API error, compaction, finished and ended agents. At least two agents open each kind of dialog.
"""

from claude_headspace.demo.scenarios.backend import BACKEND
from claude_headspace.demo.scenarios.frontend import FRONTEND

SCENARIOS = (*BACKEND, *FRONTEND)
