"""The session registry of Codex: the threads that its shared daemons have open, read from their control sockets.

It is the only source that knows an open session before its first prompt, an approval that was given in the terminal,
and whether a session lives on after its terminal is gone. Sessions that run without the daemon are not in it.

Rules
- A thread that is open in a daemon is a running session. It ends when the daemon closes it, or when the daemon is gone.
- A report counts after it has stayed unchanged for a moment: hooks and the rollout report the same with more details.
  Only the end of a dialog counts at once, because nothing else reports it.
- A thread that is opened again after its end brings its agent back.
- Only reports that change an agent are submitted.
- A daemon whose connection ended is connected again.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import msgspec
import structlog

from claude_headspace.background import Loop
from claude_headspace.clients.codex.control_protocol import CLOSED, VANISHED, Approval, Status, Thread
from claude_headspace.clients.codex.control_socket import ControlSocket, socket_path
from claude_headspace.clients.codex.registry import RESUMED, activity_of, make_entry
from claude_headspace.clients.decode import decode
from claude_headspace.clients.registry_entry import Activity
from claude_headspace.inputs.watch.agent_cache import AgentCache
from claude_headspace.inputs.watch.client_processes import ProcessAncestry
from claude_headspace.inputs.watch.envelopes import EnvelopeBuilder
from claude_headspace.inputs.watch.processes import is_alive
from claude_headspace.kernel.agent import Agent, AgentState
from claude_headspace.kernel.envelope import SECOND, Envelope, Micros, Observations
from claude_headspace.kernel.novelty import is_new
from claude_headspace.kernel.text import count

log = structlog.get_logger(__name__)

Submit = Callable[[Envelope, str | None], Awaitable[Agent]]

RETRY_SECONDS = 1.0
"""How often a missing socket is looked for."""
FIRST_CHECK_SECONDS = 3.0
"""How long the start waits for the daemons."""
SETTLE_SECONDS = 0.5
ENDED = (CLOSED, VANISHED)
LAST_HOOK_SECONDS = 1.5
"""The same for an end, whose hook has more details, for an error, and for a session that no hook has reported."""


class Report(NamedTuple):
    """What a daemon reported about a thread."""

    thread: Thread
    at: Micros
    socket: ControlSocket


class CodexRegistry(Loop):
    """Submits what the daemons of Codex report about their threads."""

    def __init__(
        self,
        config_dirs: Callable[[], Sequence[Path]],
        agents: AgentCache,
        submit: Submit,
        envelopes: EnvelopeBuilder,
        ancestry: ProcessAncestry,
    ) -> None:
        super().__init__()
        self._config_dirs = config_dirs
        self._agents = agents
        self._submit = submit
        self._envelopes = envelopes
        self._ancestry = ancestry
        self._sockets: dict[Path, ControlSocket] = {}
        self._connections: dict[Path, asyncio.Task[None]] = {}
        self._processes: dict[Path, Observations] = {}
        self._reports: dict[str, Report] = {}
        self._due: asyncio.Queue[Report] = asyncio.Queue()
        self._searched = asyncio.Event()
        self.on_approvals: Callable[[], None] = lambda: None
        """Called when an approval can or cannot be answered any more."""

    @property
    def problem(self) -> str | None:
        """Why it cannot be read."""
        return self.failure

    @property
    def summary(self) -> str:
        """How many threads are open."""
        return count(len(self._sessions()), "thread")

    def processes(self) -> list[Observations]:
        """The daemons: the commands of their agents run in them."""
        return [process for path, process in self._processes.items() if self._sockets[path].is_connected]

    def find_client(self, session_id: str) -> Observations | None:
        """The daemon that has a session open."""
        found = (path for path, each in self._sockets.items() if session_id in each.threads)
        return next((self._processes[path] for path in found if path in self._processes), None)

    def shows_dialog(self, session_id: str) -> bool:
        """Whether a session shows a dialog."""
        found = (each.threads.get(session_id) for each in self._sockets.values())
        return any(thread is not None and activity_of(thread) is Activity.WAITING for thread in found)

    def exists(self) -> bool:
        """Sessions without the daemon are not in it: a session that is missing has not ended."""
        return False

    def was_killed(self, pid: int) -> bool:
        """Nothing is left behind."""
        del pid
        return False

    def find_approvals(self, thread_id: str) -> list[tuple[ControlSocket, Approval]]:
        """The open approvals of a session or a sub-agent, and where to answer them."""
        sockets = self._sockets.values()
        return [(each, approval) for each in sockets for approval in each.approvals_of(thread_id)]

    # --- connections ---

    async def _run(self) -> None:
        worker = asyncio.create_task(self._submit_reports(), name="codex reports")
        try:
            while True:
                self._connect(await asyncio.to_thread(self._find_sockets))
                self._searched.set()
                await asyncio.sleep(RETRY_SECONDS)
        finally:
            tasks = (worker, *self._connections.values())
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    def _find_sockets(self) -> list[Path]:
        return [path for path in map(socket_path, self._config_dirs()) if path.exists()]

    def _connect(self, paths: Sequence[Path]) -> None:
        """Connect with every daemon that is not connected."""
        for path in paths:
            task = self._connections.get(path)
            if task is None or task.done():
                if path not in self._sockets:
                    self._sockets[path] = ControlSocket(path, self._report, self._answered, self._approvals_changed)
                self._connections[path] = asyncio.create_task(self._follow(path), name="codex daemon")

    async def _follow(self, path: Path) -> None:
        """Follow one daemon until its connection ends."""
        control = self._sockets[path]
        loading = asyncio.create_task(self._after_load(path), name="codex threads")
        try:
            await control.run()
        except OSError as error:  # the file of a daemon that is gone stays
            log.debug("codex_socket_failed", path=str(path), reason=str(error))
        except Exception as error:  # the next round connects again
            self.failure = str(error)
            log.exception("codex_socket_failed", path=str(path))
        finally:
            loading.cancel()
            if control.pid is not None and not is_alive(control.pid):
                self._close_all(control)

    async def _after_load(self, path: Path) -> None:
        """Once all threads are known: which process has them, and which sessions it has no longer."""
        control = self._sockets[path]
        await control.loaded.wait()
        found = await self._ancestry(control.pid) if control.pid else Observations()
        self._processes[path] = msgspec.structs.replace(found, ancestor_pids=(), shared_process=True)
        for agent in list(self._agents.with_client()):
            if agent.client == self._envelopes.client and agent.pid == control.pid and agent.session is not None:
                session_id = agent.session.client_id
                if session_id not in control.threads:
                    self._report_from(control, Thread(id=session_id, status=Status(CLOSED)))

    def _close_all(self, control: ControlSocket) -> None:
        """The daemon is gone, and its threads with it. Said once: a repetition would end resumed sessions."""
        for report in [each for each in self._reports.values() if each.socket is control]:
            if report.thread.status.type != VANISHED:
                self._report_from(control, msgspec.structs.replace(report.thread, status=Status(VANISHED)))

    async def first_check(self) -> None:
        """Wait until the threads of every daemon have been read once, for a short time."""
        with suppress(TimeoutError):
            async with asyncio.timeout(FIRST_CHECK_SECONDS):
                await self._searched.wait()
                for path, connection in tuple(self._connections.items()):
                    loaded = asyncio.ensure_future(self._sockets[path].loaded.wait())
                    await asyncio.wait((connection, loaded), return_when=asyncio.FIRST_COMPLETED)
                    loaded.cancel()

    async def check(self) -> None:
        """Process every thread again: a hook may have made its report new."""
        for report in tuple(self._reports.values()):
            await self._process(report)

    def _sessions(self) -> list[Thread]:
        return [thread for each in self._sockets.values() for thread in each.threads.values() if thread.is_session]

    # --- reports ---

    def _approvals_changed(self) -> None:
        self.on_approvals()

    def _report(self, control: ControlSocket, thread: Thread, at_ms: int) -> None:
        """A thread changed. The end of a sub-agent can make the report of its parent new."""
        if thread.is_session:
            self._report_from(control, thread, at_ms * SECOND // 1000)
        elif (parent := self._reports.get(thread.parent_thread_id or "")) is not None:
            self._submit_later(parent, SETTLE_SECONDS)

    def _answered(self, control: ControlSocket, approval: Approval, at_ms: int) -> None:
        """A dialog was answered in the terminal. If it was the only one, the status of the thread shows it, too."""
        thread = control.threads.get(approval.thread_id)
        if thread is not None and approval.call_id and control.approvals_of(approval.thread_id):
            answered = msgspec.structs.replace(thread, answered_call=approval.call_id)
            self._due.put_nowait(Report(answered, at_ms * SECOND // 1000 or self._envelopes.clock(), control))

    def _report_from(self, control: ControlSocket, thread: Thread, at: Micros = 0) -> None:
        before = self._reports.get(thread.id)
        report = self._reports[thread.id] = Report(thread, at or self._envelopes.clock(), control)
        self._submit_later(report, self._settle_seconds(before, thread))

    def _settle_seconds(self, before: Report | None, thread: Thread) -> float:
        """How long a report must stay unchanged before it counts."""
        if before is not None and _ends_dialog(before.thread, thread):
            return 0.0
        agent = self._agents.find_by_session(thread.id)
        is_running = agent is not None and agent.ended_at is None
        return SETTLE_SECONDS if is_running and thread.status.type in ("idle", "active") else LAST_HOOK_SECONDS

    def _submit_later(self, report: Report, seconds: float) -> None:
        asyncio.get_running_loop().call_later(seconds, self._due.put_nowait, report)

    async def _submit_reports(self) -> None:
        while True:
            report = await self._due.get()
            if not report.thread.answered_call and self._reports.get(report.thread.id) is not report:
                continue  # it has changed since
            try:
                await (self._process_answer if report.thread.answered_call else self._process)(report)
                self.failure = None
            except Exception as error:  # the next report or check tries again
                self.failure = str(error)
                log.exception("codex_report_failed")

    async def _process(self, report: Report) -> None:
        """Submit a report if it is new."""
        thread, agent = report.thread, self._agents.find_by_session(report.thread.id)
        is_closed = thread.status.type in ENDED
        if is_closed:
            self._reports.pop(thread.id, None)
        if self._is_repetition(report, agent):
            return
        if agent is not None and agent.ended_at is not None:
            thread = msgspec.structs.replace(thread, status=RESUMED)
        entry, raw = make_entry(thread, report.socket.pid, report.at)
        process = self._processes.get(report.socket.path, Observations())
        envelope = await self._envelopes.registry_entry(entry, raw, Observations() if is_closed else process)
        if agent is None or is_new(agent, decode(envelope)):
            await self._submit(envelope, None)

    async def _process_answer(self, report: Report) -> None:
        """Submit that a dialog was answered, if it is shown."""
        agent = self._agents.find_by_session(report.thread.session_id)
        entry, raw = make_entry(report.thread, report.socket.pid, report.at)
        envelope = await self._envelopes.registry_entry(
            entry, raw, self._processes.get(report.socket.path, Observations())
        )
        if agent is not None and is_new(agent, decode(envelope)):
            await self._submit(envelope, None)

    def _is_repetition(self, report: Report, agent: Agent | None) -> bool:
        """Whether the agent shows what is reported, or a sub-agent proves that the session is not idle yet."""
        status = report.thread.status.type
        if agent is None:
            return status in ENDED
        if agent.ended_at is not None:
            return status in ENDED or report.at <= agent.ended_at
        if status == "systemError":
            return agent.state not in (AgentState.WORKING, AgentState.WAITING)
        return status == "idle" and bool(agent.running_subagents) and self._has_busy_child(report)

    def _has_busy_child(self, report: Report) -> bool:
        threads = report.socket.threads.values()
        children = (each for each in threads if each.parent_thread_id == report.thread.id)
        return any(activity_of(each) in (Activity.BUSY, Activity.WAITING) for each in children)


def _ends_dialog(before: Thread, after: Thread) -> bool:
    return activity_of(before) is Activity.WAITING and activity_of(after) is Activity.BUSY
