"""What the endpoints of every subject work with. The daemon makes it once; `Api` carries it."""

from typing import NamedTuple, Protocol

from claude_headspace.config import Settings
from claude_headspace.engine import Engine
from claude_headspace.ports import Clock, Journal
from claude_headspace.surfaces.household import Household
from claude_headspace.surfaces.read_model import ReadModel


class Services(NamedTuple):
    """The journal, the views of it, the writer, the clock, the settings, and what the daemon was started with."""

    journal: Journal
    model: ReadModel
    engine: Engine
    clock: Clock
    settings: Settings
    household: Household


class Serving(Protocol):
    """Whoever carries the services: a handler is called with it."""

    services: Services
