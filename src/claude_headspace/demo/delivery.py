"""Delivers the reports of simulated clients, each the way its client does.

Hooks of Claude Code are sent by the installed script. The other clients' reports are files in the spool, which is what
their scripts and opencode's plugin write. A dialog that a client keeps open for an answer is an HTTP request.
"""

import asyncio
import os
import time
from urllib.parse import urlsplit

import msgspec

from claude_headspace.clients import claude_code
from claude_headspace.clients.claude_code.environment import PID_VARIABLE
from claude_headspace.clients.claude_code.wire import STATUS_LINE
from claude_headspace.clients.simulation import Json, ScheduledEvent
from claude_headspace.demo.sandbox import Sandbox
from claude_headspace.demo.schedule import SimulatedAgent
from claude_headspace.surfaces.auth.tokens import Scope
from claude_headspace.surfaces.client.api_client import local_tokens

NO_PROCESS = "0"
"""0: simulated clients have no process to check."""


class Delivery:
    """Delivers reports in a sandbox."""

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox
        self._number = 0

    def write(self, agent: SimulatedAgent, event: ScheduledEvent, fired_at: float) -> None:
        """Write a report to the spool."""
        notes = {"event": event.hook, **self._notes(agent, fired_at)}
        file = self._sandbox.paths.spool / f"{fired_at:.6f}-{self._number:06d}.json"
        file.write_bytes(msgspec.json.encode(notes) + b"\n" + msgspec.json.encode(event.payload) + b"\n")

    def _notes(self, agent: SimulatedAgent, fired_at: float) -> dict[str, str]:
        self._number += 1
        return {
            "delivery-id": f"demo-{self._number}",
            "fired-at": f"{fired_at:.6f}",
            "client": agent.scenario.client,
            "client-pid": NO_PROCESS,
            "tmux-pane": agent.pane,
            "tmux-session": agent.scenario.profile.project,
        }

    async def run(self, agent: SimulatedAgent, event: ScheduledEvent) -> Json:
        """Deliver a report now. Returns the reply of Headspace."""
        if agent.scenario.client == claude_code.NAME:
            return await self._run_script(agent, event)
        if event.is_held:
            return await self._request(agent, event)
        self.write(agent, event, time.time())
        return {}

    async def _run_script(self, agent: SimulatedAgent, event: ScheduledEvent) -> Json:
        """Run the installed script as the client does. Returns what it prints."""
        is_status_line, config = event.hook == STATUS_LINE, self._sandbox.config
        process = await asyncio.create_subprocess_exec(
            *([config.status_line] if is_status_line else [config.script, event.hook]),
            env={
                "PATH": os.environ.get("PATH", ""),
                PID_VARIABLE: NO_PROCESS,
                "TMUX_PANE": agent.pane,
                "CLAUDE_HEADSPACE_TMUX_SESSION": agent.scenario.profile.project,
            },
            cwd=self._sandbox.root,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
        )
        try:
            printed, _ = await process.communicate(msgspec.json.encode(event.payload))
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
        return {} if is_status_line or not printed else msgspec.json.decode(printed)

    async def _request(self, agent: SimulatedAgent, event: ScheduledEvent) -> Json:
        """Send a report over HTTP and wait for its reply, which is empty if the dialog was answered elsewhere."""
        daemon = urlsplit(self._sandbox.client.url)
        body = msgspec.json.encode(event.payload)
        notes = {f"X-Headspace-{name}": value for name, value in self._notes(agent, time.time()).items()}
        headers = {
            "Host": daemon.netloc,
            "Authorization": f"Bearer {local_tokens(self._sandbox.paths)[Scope.INGEST]}",
            "Content-Type": "application/json",
            "Content-Length": str(len(body)),
            "Connection": "close",
            "X-Headspace-Reply": "hook",
            **notes,
        }
        lines = [f"POST /hook/{event.hook} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items())]
        reader, writer = await asyncio.open_connection(daemon.hostname, daemon.port)
        try:
            writer.write("\r\n".join([*lines, "", ""]).encode() + body)
            _head, _, content = (await reader.read()).partition(b"\r\n\r\n")
        finally:
            writer.close()
        return msgspec.json.decode(content) if content else {}
