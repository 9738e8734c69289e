"""Ends the client of an agent on this host: with its own exit command, then with signals.

Rules
- Only the process that Headspace knows as the client is ended. Its start time must match, because pids are reused. A
  process that runs the sessions of several terminals is never ended.
- The act is stored before anything is done.
- The exit command is typed only into an empty input box, in the pane of the client. A turn is interrupted first. A
  client that shows a dialog or a draft, or runs outside of tmux, gets signals.
- SIGKILL follows only if the client has not ended after SIGTERM. `force` leaves the exit command out.
"""

import asyncio
import signal
import time
from contextlib import suppress

import msgspec
import psutil

from claude_headspace.clients.capabilities import require
from claude_headspace.clients.client import Capability
from claude_headspace.clients.command_lines import program_of
from claude_headspace.clients.processes import shares_process
from claude_headspace.engine.remote_actions import Action
from claude_headspace.kernel.acts import StopRequested
from claude_headspace.kernel.agent import Agent, AgentState
from claude_headspace.kernel.correlate import is_same_start
from claude_headspace.kernel.envelope import SECOND
from claude_headspace.outputs.pane_input import PaneInput, require_ready
from claude_headspace.outputs.tmux import Refused
from claude_headspace.ports import Recorder
from claude_headspace.surfaces.api.terminal_input import POLL_SECONDS, has_stopped, poll
from claude_headspace.surfaces.read.model import ReadModel

EXIT_SECONDS = 8.0
"""How long a client has to end after its exit command: it runs its last hooks."""
SIGNALS = ((signal.SIGTERM, 15.0, "terminated"), (signal.SIGKILL, 5.0, "killed"))
"""What ends a client that does not exit: the signal, how long to wait, and the result."""


class Stopped(msgspec.Struct, frozen=True):
    """The result of `stop`: `exited`, `terminated`, `killed`, or `running` if nothing helped; and the state."""

    status: str
    agent_id: str
    agent: str
    state: str


class ClientStopper:
    """Ends the clients of this host's agents."""

    def __init__(self, read: ReadModel, recorder: Recorder, pane_input: PaneInput) -> None:
        self._read = read
        self._recorder = recorder
        self._pane_input = pane_input

    async def stop(self, agent: Agent, action: Action) -> Stopped:
        """End the client of an agent, and wait until its end is known."""
        require(agent.client, Capability.STOP)
        async with self._pane_input.lock(agent):
            agent = await self._current(agent)  # it may have changed while the lock was held
            process = await asyncio.to_thread(_find_process, agent)
            await self._recorder.record(StopRequested(by=action.by, via=action.via), agent.id)
            has_exited = not action.force and await self._exits(agent, process)
            status = "exited" if has_exited else await asyncio.to_thread(_signal, process)
            after = await poll(lambda: self._read.agents.find(agent.id), lambda now: now.ended_at is not None)
        return Stopped(status, agent.id, agent.name, after.state.value)

    async def _exits(self, agent: Agent, process: psutil.Process) -> bool:
        """Interrupt the turn and type the exit command; whether the client ends then."""
        with suppress(Refused):
            if agent.state is AgentState.WORKING:
                await self._pane_input.interrupt(agent)
                await poll(lambda: self._read.agents.find(agent.id), lambda now: has_stopped(agent, now))
                agent = await self._current(agent)
            require_ready(agent)
            await self._pane_input.type_text(agent, program_of(agent.client).exit_command)
            return await asyncio.to_thread(_ends, process, EXIT_SECONDS)
        return False

    async def _current(self, agent: Agent) -> Agent:
        return await asyncio.to_thread(self._read.agents.find, agent.id)


def _find_process(agent: Agent) -> psutil.Process:
    """The process of the client; of the process that starts it while the client has not reported."""
    if agent.ended_at is not None:
        raise Refused("agent_ended", f"{agent.name} has ended already.", f"`headspace archive {agent.name}` hides it.")
    is_client = agent.pid is not None
    pid, started_at = (agent.pid, agent.pid_started_at) if is_client else (agent.wrapper_pid, agent.wrapper_started_at)
    if shares_process(pid):
        raise Refused(
            "shared_process",
            f"{agent.name} runs in a background process that its client shares between terminals.",
            "End it in the terminal that shows it. Agents that `headspace run` starts have a process of their own.",
        )
    with suppress(psutil.Error):
        process = psutil.Process(pid) if pid else None
        if process is not None and is_same_start(int(process.create_time() * SECOND), started_at):
            return process
    raise Refused(
        "no_process", f"The process of {agent.name} is not known on this machine.", "End it in its own terminal."
    )


def _signal(process: psutil.Process) -> str:
    """End a process with signals; the result."""
    for number, seconds, result in SIGNALS:
        with suppress(psutil.Error):
            process.send_signal(number)
        if _ends(process, seconds):
            return result
    return "running"


def _ends(process: psutil.Process, seconds: float) -> bool:
    """Whether a process ends in time."""
    deadline = time.monotonic() + seconds
    while _is_alive(process):
        if time.monotonic() > deadline:
            return False
        time.sleep(POLL_SECONDS)
    return True


def _is_alive(process: psutil.Process) -> bool:
    """Whether a process runs. A zombie has ended: its parent has not noticed yet."""
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False
