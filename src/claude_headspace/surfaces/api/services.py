"""What the endpoints of every subject work with. The daemon makes it once; `Api` carries it."""

from typing import NamedTuple, Protocol

from claude_headspace.config import Settings
from claude_headspace.engine.remote_actions import RemoteActions
from claude_headspace.engine.writer import Engine
from claude_headspace.inputs.receive.receiver import Surroundings
from claude_headspace.inputs.watch.processes import Kinship
from claude_headspace.outputs.keyboard import Keyboard
from claude_headspace.outputs.notify.notifier import Notifier
from claude_headspace.ports import Clock, Journal, Recorder
from claude_headspace.surfaces.api.effort_model import EffortModel
from claude_headspace.surfaces.api.endpoints.installation import Household
from claude_headspace.surfaces.api.read_model import ReadModel
from claude_headspace.surfaces.auth.requester import Caller


class Services(NamedTuple):
    """What is known and who writes it; how the daemon was started; and for acts who asks, where, and the typing."""

    journal: Journal
    model: ReadModel
    engine: Engine
    clock: Clock
    settings: Settings
    household: Household
    caller: Caller
    surroundings: Surroundings
    keyboard: Keyboard
    notifier: Notifier
    kinship: Kinship
    efforts: EffortModel
    remote_actions: RemoteActions


class Terminal(NamedTuple):
    """What the handlers of remote actions need: typing on this machine does not go through the API."""

    keyboard: Keyboard
    model: ReadModel
    recorder: Recorder


class Serving(Protocol):
    """Whoever carries the services: a handler is called with it."""

    services: Services
