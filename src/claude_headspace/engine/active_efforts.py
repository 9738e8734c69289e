"""The active efforts of this host: whether hooks may belong to one, and which hooks must wait for its advice."""

import contextlib

from claude_headspace.errors import HeadspaceError
from claude_headspace.kernel.effort.acts import FilesLoaded
from claude_headspace.kernel.effort.advise import ADVISED_HOOKS
from claude_headspace.kernel.effort.model import Effort, EffortOutcome
from claude_headspace.ports import ExpectHooks, Reader, Recorder


class ActiveEfforts:
    """Updated with every committed effort."""

    def __init__(
        self, reader: Reader, recorder: Recorder, host: str, expect: ExpectHooks = lambda _hooks: None
    ) -> None:
        self._reader = reader
        self._recorder = recorder
        self._host = host
        self._expect = expect
        self._ids: set[str] = set()

    def __bool__(self) -> bool:
        """Whether there is an effort that hooks may belong to."""
        return bool(self._ids)

    def load(self) -> None:
        """Read them from the journal, at the start."""
        for effort in self._reader.efforts():
            self.update(effort)

    def update(self, effort: Effort) -> None:
        """An effort changed. No-op for efforts of other hosts."""
        if effort.host == self._host:
            (self._ids.add if effort.is_active else self._ids.discard)(effort.id)
            self._expect(ADVISED_HOOKS if self._ids else frozenset())

    async def record_loaded(self, outcome: EffortOutcome, files: tuple[str, ...]) -> None:
        """Record the files that were added to a window. A failure does not affect the reply."""
        if outcome.window is not None and files:
            act = FilesLoaded(effort_id=outcome.effort.id, session_id=outcome.window.id, files=files)
            with contextlib.suppress(HeadspaceError):
                await self._recorder.record(act)
