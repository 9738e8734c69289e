"""A simulated daemon of Codex: its control socket, with threads and approvals that a test changes."""

import asyncio
import json
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from websockets.asyncio.server import Server, ServerConnection, unix_serve
from websockets.exceptions import ConnectionClosed

from claude_headspace.clients.codex.control_socket import socket_path

IDLE = {"type": "idle"}
ACTIVE: dict[str, Any] = {"type": "active", "activeFlags": []}
ASKING = {"type": "active", "activeFlags": ["waitingOnApproval"]}
AMENDMENT = {"acceptWithExecpolicyAmendment": {"execpolicy_amendment": ["make", "test"]}}


class CodexDaemon:
    """The daemon of one config dir."""

    def __init__(self, config_dir: Path) -> None:
        self._link = socket_path(config_dir)
        self._directory = tempfile.TemporaryDirectory(prefix="hs-codex-")
        self.address = f"{self._directory.name}/socket"
        self.threads: dict[str, dict[str, Any]] = {}
        self.approvals: dict[int, dict[str, Any]] = {}
        self.decisions: list[object] = []
        self.requests: list[tuple[str, dict[str, Any]]] = []
        self._subscribers: set[str] = set()
        self._connections: set[ServerConnection] = set()
        self._server: Server | None = None

    async def __aenter__(self) -> Self:
        await self.listen()
        self._link.parent.mkdir(parents=True, exist_ok=True)
        self._link.symlink_to(self.address)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        await self.hang_up()
        self._directory.cleanup()

    async def listen(self) -> None:
        """Accept connections."""
        self._server = await unix_serve(self._serve, self.address)

    async def hang_up(self) -> None:
        """End all connections, and accept none."""
        if self._server is not None:
            self._server.close()
            await self._server.wait_closed()
            self._server = None
        await asyncio.to_thread(Path(self.address).unlink, missing_ok=True)

    # --- what happens in the daemon ---

    async def open(self, thread_id: str, status: dict[str, Any] = IDLE, **fields: Any) -> None:
        """A thread starts."""
        self.threads[thread_id] = {"id": thread_id, "cwd": "/home/dev/app", "status": status, **fields}
        await self._notify("thread/started", thread=self.threads[thread_id])

    async def change(self, thread_id: str, status: dict[str, Any]) -> None:
        """The status of a thread changes."""
        self.threads[thread_id]["status"] = status
        await self._notify("thread/status/changed", threadId=thread_id, status=status)

    async def close(self, thread_id: str) -> None:
        """A thread is closed."""
        del self.threads[thread_id]
        await self._notify("thread/closed", threadId=thread_id)

    async def ask(self, thread_id: str, request_id: int = 7, call_id: str = "call-1", kind: str = "command") -> None:
        """A thread shows an approval dialog."""
        method = {"command": "item/commandExecution/requestApproval", "file": "item/fileChange/requestApproval"}[kind]
        params: dict[str, Any] = {"threadId": thread_id, "turnId": "turn-1", "itemId": call_id}
        if kind == "command":
            params |= {"command": "/bin/bash -lc 'make test'", "availableDecisions": ["accept", AMENDMENT, "cancel"]}
        self.approvals[request_id] = {"id": request_id, "method": method, "params": params}
        await self.change(thread_id, ASKING)
        if thread_id in self.subscribers:
            await self._send(self.approvals[request_id])

    async def resolve(self, request_id: int = 7) -> None:
        """A dialog is answered. The thread goes on if it was the only one."""
        thread_id = self.approvals.pop(request_id)["params"]["threadId"]
        await self._notify("serverRequest/resolved", threadId=thread_id, requestId=request_id)
        if not any(each["params"]["threadId"] == thread_id for each in self.approvals.values()):
            await self.change(thread_id, ACTIVE)

    # --- connections ---

    @property
    def subscribers(self) -> set[str]:
        """The threads that Headspace is subscribed to."""
        return self._subscribers

    async def _serve(self, connection: ServerConnection) -> None:
        self._connections.add(connection)
        try:
            async for text in connection:
                await self._receive(connection, json.loads(text))
        except ConnectionClosed:
            pass  # Headspace stopped
        finally:
            self._connections.discard(connection)
            self._subscribers.clear()

    async def _receive(self, connection: ServerConnection, message: dict[str, Any]) -> None:
        if "method" not in message:
            self.decisions.append(message["result"]["decision"])
            await self.resolve(message["id"])
            return
        method, params = message["method"], message.get("params", {})
        self.requests.append((method, params))
        if "id" in message:
            await connection.send(json.dumps({"id": message["id"], "result": self._result(method, params)}))
        if method == "thread/resume":
            for request in self.approvals.values():
                if request["params"]["threadId"] == params["threadId"]:
                    await connection.send(json.dumps(request))

    def _result(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        match method:
            case "thread/loaded/list":
                return {"data": list(self.threads), "nextCursor": None}
            case "thread/read":
                return {"thread": self.threads.get(params["threadId"])}
            case "thread/resume":
                self._subscribers.add(params["threadId"])
            case "thread/unsubscribe":
                self._subscribers.discard(params["threadId"])
        return {}

    async def _notify(self, method: str, **params: Any) -> None:
        await self._send({"method": method, "params": params})

    async def _send(self, message: dict[str, Any]) -> None:
        text = json.dumps(message)
        await asyncio.gather(*(each.send(text) for each in self._connections), return_exceptions=True)
