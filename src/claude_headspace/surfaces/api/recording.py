"""Stores acts: what a person did, or Headspace on their behalf, as an event of an agent."""

import msgspec

from claude_headspace.engine.batch import Outcome
from claude_headspace.engine.writer import Engine
from claude_headspace.inputs.receive.receiver import new_id
from claude_headspace.kernel.decode import WireAct
from claude_headspace.kernel.envelope import Envelope, Micros, Observations, Origin
from claude_headspace.ports import Clock


class ActRecorder:
    """Stores acts."""

    def __init__(self, engine: Engine, host: str, clock: Clock) -> None:
        self._engine = engine
        self._host = host
        self._clock = clock

    async def record(
        self,
        name: str,
        act: WireAct,
        agent_id: str | None = None,
        *,
        delivery_id: str | None = None,
        observations: Observations | None = None,
        client: str = "headspace",
    ) -> Outcome:
        """Store an act. The same `delivery_id` is stored once; the outcome of a repetition is a `duplicate`."""
        envelope = operator_envelope(name, act, self._host, self._clock())
        sent = msgspec.structs.replace(
            envelope, delivery_id=delivery_id, client=client, observations=observations or envelope.observations
        )
        return await self._engine.submit(sent, agent_id)


def operator_envelope(name: str, act: WireAct, host: str, now: Micros) -> Envelope:
    """An act as an event."""
    return Envelope(
        id=new_id(),
        name=name,
        origin=Origin.OPERATOR,
        client="headspace",
        host=host,
        fired_at=now,
        received_at=now,
        payload=msgspec.json.encode(act),
        observations=Observations(),
    )
