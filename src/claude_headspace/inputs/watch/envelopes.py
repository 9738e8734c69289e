"""Lines of transcripts are put into envelopes, each under its own id: a line is one event, wherever it stands."""

from collections.abc import Callable

import msgspec

from claude_headspace.clients.claude_code.locations import CLAUDE_CODE
from claude_headspace.clients.claude_code.transcript import LINE
from claude_headspace.clients.client import Client
from claude_headspace.clients.readings import Line
from claude_headspace.inputs.receive.receiver import LocateProject, new_id
from claude_headspace.inputs.receive.sanitize import Sanitizer
from claude_headspace.kernel.envelope import Envelope, Micros, Observations, Origin
from claude_headspace.ports import Clock


class EnvelopeBuilder:
    """Puts lines into envelopes."""

    def __init__(
        self,
        host: str,
        clock: Clock,
        surroundings: LocateProject,
        client_of: Callable[[str], Observations | None] = lambda _session: None,
        keep: Sanitizer | None = None,
        client: Client = CLAUDE_CODE,
    ) -> None:
        self.client = client
        self._host = host
        self._clock = clock
        self._surroundings = surroundings
        self._client_of = client_of
        self._keep = keep or Sanitizer()

    async def line(self, at: Micros, raw: bytes, line: Line) -> Envelope:
        """An envelope around a line, with the client that has the session open.

        The client's word for the branch counts where its directory is not here, or not any more.
        """
        around = await self._surroundings(line.cwd)
        process = self._client_of(line.session_id) or Observations()
        return self._envelope(
            LINE,
            Origin.TRANSCRIPT,
            at,
            self._keep.line(raw),
            msgspec.structs.replace(process, project_root=around.project_root, branch=around.branch or line.branch),
            f"transcript:{line.key}",
        )

    def gone(self, at: Micros) -> Envelope:
        """An envelope that says: there is no client any more."""
        return self._envelope("ClientVanished", Origin.PROCESS, at, b"{}", Observations(), None)

    def _envelope(
        self, name: str, origin: Origin, at: Micros, payload: bytes, context: Observations, delivery: str | None
    ) -> Envelope:
        return Envelope(
            id=new_id(),
            name=name,
            origin=origin,
            client=self.client.name,
            host=self._host,
            fired_at=at,
            received_at=self._clock(),
            payload=payload,
            observations=context,
            delivery_id=delivery,
        )
