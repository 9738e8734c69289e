"""Who plays: the team of a web shop. A handful of repositories, a dozen agents, one working day. Data only.

Every life has its part in what one sees first: somebody wants a permission, somebody asks, somebody has a plan, some
work, one has sub-agents, one was stopped by an error, one compacts, some are done. Pairs that ask for the same thing
take turns.
"""

from claude_headspace.demo.steps import Life
from claude_headspace.demo.team.api import API
from claude_headspace.demo.team.back_office import BACK_OFFICE
from claude_headspace.demo.team.infra import INFRA
from claude_headspace.demo.team.mobile import MOBILE
from claude_headspace.demo.team.web import WEB

TEAM: tuple[Life, ...] = (*INFRA, *API, *WEB, *MOBILE, *BACK_OFFICE)
