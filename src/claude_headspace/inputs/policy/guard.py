"""The guard of a daemon: keeps the rules current, finds out what a call would do, and has it judged.

Rules
- What is needed is gathered before the engine takes the event, in a thread, within a moment; the judgement itself is
  pure and happens with the agent at hand (`judge`).
- A file that cannot be used never switches the guards off: the last good rules stay, or those that come with
  Headspace, and `/health` says so until it is corrected.
- Any failure of ours leaves the client undisturbed. The call is marked, and the time is told afterwards: guards were
  off from … to ….
- Under the preset `watch` nobody is made to wait: calls are judged when they are told.
"""

import asyncio
import contextlib
import time
from collections import OrderedDict, deque
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import msgspec
import structlog

from claude_headspace.clients.claude_code.hook_kinds import KINDS, hook_names
from claude_headspace.clients.decode import decode
from claude_headspace.config import Paths
from claude_headspace.errors import BadConfiguration
from claude_headspace.inputs.policy.calls import understand
from claude_headspace.inputs.policy.files import PROJECT_FILE, built_in, load, read_project
from claude_headspace.kernel.agent import Agent
from claude_headspace.kernel.decide import decide, subject_of
from claude_headspace.kernel.envelope import SECOND, Envelope, Micros, Origin
from claude_headspace.kernel.hooks import HookKind
from claude_headspace.kernel.policy.call import Call
from claude_headspace.kernel.policy.policy import Policy
from claude_headspace.kernel.policy.rules import Rule
from claude_headspace.kernel.policy.verdict import ABSTAIN, Verdict
from claude_headspace.kernel.views import iso
from claude_headspace.ports import Received

log = structlog.get_logger(__name__)

JUDGED = HookKind.BEFORE_TOOL
ENFORCING = ("guard", "strict")
PATIENCE_SECONDS = 0.5
"""How long a call may take to be understood; the hook waits for it."""
LOOK_AGAIN_SECONDS = 0.5
"""How long the rules' files are believed to be unchanged."""
REMEMBERED_LAPSES = 20
SAME_LAPSE: Micros = 60 * SECOND
MOST_GATHERED = 1_000
MOST_PROJECTS = 200

NOT_ASKED = "Headspace was not asked: it was down, busy, or had just started"


class Gathered(msgspec.Struct, frozen=True):
    """What a judgement needs."""

    policy: Policy
    call: Call | None
    lapse: str | None = None


class Lapse(msgspec.Struct):
    """A time in which calls ran unguarded."""

    since: Micros
    until: Micros
    reason: str
    calls: int = 1


def asked_hooks(preset: str) -> tuple[str, ...]:
    """The hook events that wait for an answer under a preset."""
    return tuple(hook_names({JUDGED})) if preset in ENFORCING else ()


class PolicyGuard:
    """Judges the tool calls of one daemon."""

    def __init__(
        self,
        places: Paths,
        preset: str,
        home: Path | None = None,
        *,
        patience: float = PATIENCE_SECONDS,
        look_again: float = LOOK_AGAIN_SECONDS,
    ) -> None:
        self._patience = patience
        self._look_again = look_again
        self._places = places
        self._preset = preset
        self._home = str(home or Path.home())
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="policy")
        self._hanging: Future[Gathered] | None = None
        self._gathered: OrderedDict[str, Gathered] = OrderedDict()
        self._projects: dict[str, tuple[object, tuple[Rule, ...], str | None]] = {}
        self._looked_at: float | None = None
        self._stamp: object = None
        self.failure: str | None = None
        self.lapses: deque[Lapse] = deque(maxlen=REMEMBERED_LAPSES)
        self.book = built_in(places, preset)
        self._refresh()

    def close(self) -> None:
        """Stop looking."""
        self._thread.shutdown(wait=False, cancel_futures=True)

    # --- gathering ---

    async def prepare(self, received: Received, *, expects_reply: bool) -> None:
        """Find out what a tool call would do. `expects_reply`: whether the client waits for the verdict."""
        envelope = received.envelope
        if self._preset == "off" or KINDS.get(envelope.name) is not JUDGED or envelope.origin is not Origin.HOOK:
            return
        lapse = None if expects_reply or self._preset not in ENFORCING else NOT_ASKED
        try:
            found = await self._found(received, lapse)
        except Exception as error:
            log.exception("guard_failed", event_id=envelope.id)
            found = Gathered(self.book.policy, None, _words(error))
        self._gathered[envelope.id] = found
        while len(self._gathered) > MOST_GATHERED:
            self._gathered.popitem(last=False)

    async def _found(self, received: Received, lapse: str | None) -> Gathered:
        """Look in the thread. While a look hangs (a file system that does not answer) nobody waits behind it."""
        if self._hanging is not None and not self._hanging.done():
            raise TimeoutError
        looking = self._thread.submit(self._look, received, lapse)
        try:
            return await asyncio.wait_for(asyncio.wrap_future(looking), self._patience)
        except TimeoutError:
            self._hanging = looking
            raise

    def _look(self, received: Received, lapse: str | None) -> Gathered:
        self._refresh()
        envelope, event = received.envelope, received.event
        root = envelope.observations.project_root or ""
        if envelope.original_payload is not None:  # rules apply to what runs, not to what is stored
            event = decode(msgspec.structs.replace(envelope, payload=envelope.original_payload), received.body)
        call = understand(event, self.book, home=self._home, project=root)
        return Gathered(self._with_project(root), call, lapse)

    def _refresh(self) -> None:
        """Read the user's files again if they changed; bad ones change nothing but what is said of them."""
        now = time.monotonic()
        if self._looked_at is not None and now < self._looked_at + self._look_again:
            return
        self._looked_at = now
        stamp = tuple(map(_stamp, (self._places.policy_file, self._places.contacts_file)))
        if stamp == self._stamp:
            return
        self._stamp = stamp
        try:
            self.book = load(self._places, self._preset)
            self.failure = None
        except BadConfiguration as error:
            self.failure = "your policy.toml or contacts.toml cannot be used, so the last good rules are in force"
            log.error("policy_unusable", problem=error.message)  # noqa: TRY400  # its message says it all

    def _with_project(self, root: str) -> Policy:
        """The rules, and what the project adds to them."""
        policy = self.book.policy
        if not root.startswith("/"):
            return policy
        stamp = _stamp(Path(root) / PROJECT_FILE)
        known = self._projects.get(root)
        if known is None or known[0] != stamp:
            if len(self._projects) >= MOST_PROJECTS:
                self._projects.clear()
            known = self._projects[root] = self._read_project(root, stamp, known[1] if known else ())
        return msgspec.structs.replace(policy, rules=(*policy.rules, *known[1])) if known[1] else policy

    def _read_project(
        self, root: str, stamp: object, before: tuple[Rule, ...]
    ) -> tuple[object, tuple[Rule, ...], str | None]:
        try:
            return stamp, read_project(root), None
        except BadConfiguration as error:
            log.error("policy_unusable", problem=error.message)  # noqa: TRY400  # its message says it all
            return stamp, before, error.message

    # --- judging ---

    def judge(self, envelope: Envelope, agent: Agent, *, last: bool = True) -> Verdict:
        """The verdict on a call that was gathered, which is forgotten then unless it may be asked for again.

        Never raises.
        """
        found = self._gathered.pop(envelope.id, None) if last else self._gathered.get(envelope.id)
        if found is None:
            return ABSTAIN
        verdict, lapse = ABSTAIN, found.lapse
        try:
            if found.call is not None:
                verdict = decide(found.policy, subject_of(agent), found.call)
        except Exception as error:
            log.exception("guard_failed", event_id=envelope.id)
            lapse = _words(error)
        if lapse is None:
            return verdict
        self._note(lapse, envelope.fired_at)
        return msgspec.structs.replace(verdict, enforced=False, lapse=lapse)

    def _note(self, reason: str, at: Micros) -> None:
        last = self.lapses[-1] if self.lapses else None
        if last is not None and last.reason == reason and at <= last.until + SAME_LAPSE:
            last.since, last.until, last.calls = min(last.since, at), max(last.until, at), last.calls + 1
        else:
            self.lapses.append(Lapse(at, at, reason))
            log.warning("guards_off", reason=reason)

    # --- telling ---

    def health(self) -> tuple[bool, str | None, str]:
        """Whether the rules are as the user wrote them, and whether all calls were judged."""
        broken = sum(problem is not None for _, _, problem in self._projects.values())
        projects = f"the {PROJECT_FILE} of {broken} projects cannot be used" if broken else None
        problems = "; ".join(filter(None, (self.failure, projects)))
        rules = sum(rule.enabled for rule in self.book.policy.rules)
        detail = "; ".join((f"{self._preset}, {rules} rules", *map(lapse_words, self.lapses)))
        return True, f"{problems}: `headspace policy check` tells why; {detail}" if problems else None, detail


def lapse_words(lapse: Lapse) -> str:
    """When calls ran unguarded, and why."""
    calls = "1 call" if lapse.calls == 1 else f"{lapse.calls} calls"
    return f"guards were off from {iso(lapse.since)} to {iso(lapse.until)} ({calls}: {lapse.reason})"


def _words(error: Exception) -> str:
    if isinstance(error, TimeoutError):
        return "the call could not be looked at in time"
    return f"Headspace made a mistake ({type(error).__name__})"


def _stamp(path: Path) -> object:
    with contextlib.suppress(OSError, ValueError):
        status = path.stat()
        return status.st_mtime_ns, status.st_size, status.st_ino
    return None
