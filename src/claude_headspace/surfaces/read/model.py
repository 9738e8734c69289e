"""The read model: one object per subject, all of them over the same journal.

HTTP endpoints, socket commands and pages read the journal only through these objects. They return views (what clients
receive) or domain objects (what an action needs to know). They never write.
"""

from claude_headspace.ports import Clock, Reader
from claude_headspace.surfaces.read.activity import ActivityQueries
from claude_headspace.surfaces.read.agents import AgentQueries, WaitQueries
from claude_headspace.surfaces.read.changes import ChangeQueries
from claude_headspace.surfaces.read.efforts import EffortQueries
from claude_headspace.surfaces.read.events import EventQueries
from claude_headspace.surfaces.read.missions import MissionQueries
from claude_headspace.surfaces.read.search import SearchQueries
from claude_headspace.surfaces.read.timeline import TimelineQueries
from claude_headspace.surfaces.read.usage import UsageQueries
from claude_headspace.surfaces.read.usage_limits import UsageLimitQueries


class ReadModel:
    """All queries, by subject."""

    def __init__(self, reader: Reader, clock: Clock, host: str) -> None:
        self.clock = clock
        self.agents = AgentQueries(reader, clock)
        self.changes = ChangeQueries(reader)
        self.events = EventQueries(reader, clock, host)
        self.waits = WaitQueries(reader)
        self.efforts = EffortQueries(reader, host)
        self.missions = MissionQueries(reader, clock)
        self.search = SearchQueries(reader, clock)
        self.activity = ActivityQueries(reader, clock)
        self.timeline = TimelineQueries(reader, clock)
        self.usage = UsageQueries(reader, clock)
        self.usage_limits = UsageLimitQueries(reader, clock, host)
