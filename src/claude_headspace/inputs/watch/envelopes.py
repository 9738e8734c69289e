"""Wraps observations in envelopes: lines of transcripts, registry entries, processes that vanished."""

import msgspec

from claude_headspace.clients import catalog
from claude_headspace.clients.decode import DIALOG_ASSUMED, TURN_END_ASSUMED
from claude_headspace.clients.registry_entry import RegistryEntry
from claude_headspace.clients.transcript_line import LINE, Line
from claude_headspace.clients.transcripts import TRANSCRIPT_FILES
from claude_headspace.inputs.receive.receiver import LocateProject, Sanitizer, new_id
from claude_headspace.kernel.envelope import NO_OBSERVATIONS, Envelope, Micros, Observations, Origin
from claude_headspace.ports import Clock


class EnvelopeBuilder:
    """Builds the envelopes of one client on one host."""

    def __init__(
        self,
        host: str,
        clock: Clock,
        locate_project: LocateProject,
        sanitizer: Sanitizer | None = None,
        client: str = catalog.DEFAULT,
    ) -> None:
        self.client = client
        self.host = host
        self.clock = clock
        self._locate_project = locate_project
        self._sanitizer = sanitizer or Sanitizer()

    def of_client(self, client: str) -> "EnvelopeBuilder":
        """The builder for another client."""
        return EnvelopeBuilder(self.host, self.clock, self._locate_project, self._sanitizer, client)

    def reader(self, kind: str) -> str:
        """The name under which a reader of the client's files stores its positions."""
        return f"{kind}:{self.host}" if self.client == catalog.DEFAULT else f"{kind}:{self.host}:{self.client}"

    async def line(self, at: Micros, raw: bytes, line: Line, process: Observations | None) -> Envelope:
        """A line of a transcript, with the process that has its session open.

        The delivery id is the line's own, so a copy of the line is the same event. The branch that the line names
        counts if the directory does not exist on this host.
        """
        project = await self._locate_project(line.cwd)
        observations = msgspec.structs.replace(
            process or NO_OBSERVATIONS,
            project_root=project.project_root,
            repository_root=project.repository_root,
            branch=project.branch or line.branch,
        )
        payload = self._sanitizer.sanitize_line(raw, TRANSCRIPT_FILES[self.client].is_message)
        return self._build(LINE, Origin.TRANSCRIPT, at, payload, observations, f"transcript:{line.key}")

    async def registry_entry(self, entry: RegistryEntry, raw: bytes, process: Observations) -> Envelope:
        """An entry of the session registry."""
        project = await self._locate_project(entry.cwd)
        observations = msgspec.structs.replace(
            process,
            project_root=project.project_root,
            repository_root=project.repository_root,
            branch=project.branch,
        )
        now = self.clock()
        at = min(entry.at, now) or now
        return self._build("RegistryEntry", Origin.REGISTRY, at, raw, observations, entry.delivery_id)

    def client_vanished(self, at: Micros, pid: int | None = None) -> Envelope:
        """The process of a client ended, and no hook reported it."""
        return self._build("ClientVanished", Origin.PROCESS, at, b"{}", Observations(client_pid=pid))

    def turn_end_assumed(self) -> Envelope:
        """The reported end of a turn was not confirmed in time."""
        return self._build(TURN_END_ASSUMED, Origin.TIMER, self.clock(), b"{}", NO_OBSERVATIONS)

    def dialog_assumed(self) -> Envelope:
        """A call that needs permission unless it is granted has not ended in time."""
        return self._build(DIALOG_ASSUMED, Origin.TIMER, self.clock(), b"{}", NO_OBSERVATIONS)

    def wrapper_vanished(self, pid: int | None) -> Envelope:
        """The process of a wrapper ended without a report."""
        return self._build("WrapperVanished", Origin.PROCESS, self.clock(), b"{}", Observations(client_pid=pid))

    def _build(
        self,
        name: str,
        origin: Origin,
        at: Micros,
        payload: bytes,
        observations: Observations,
        delivery_id: str | None = None,
    ) -> Envelope:
        return Envelope(
            id=new_id(),
            name=name,
            origin=origin,
            client=self.client,
            host=self.host,
            fired_at=at,
            received_at=self.clock(),
            payload=payload,
            observations=observations,
            delivery_id=delivery_id,
        )
