"""The guard of a daemon: keeps the rules up to date, analyses tool calls, and judges them.

Rules
- The analysis reads files. It runs in a thread with a time limit, before the engine processes the event (`prepare`);
  large calls are analysed in another process (`analyser`). The verdict is computed later, when the agent is known
  (`judge`), without I/O.
- A call that repeats an earlier one is not analysed again, unless the result depends on files or the rules changed.
- An invalid file never disables the guard. The last valid rules stay in force, or the built-in ones, and `/health`
  reports the problem until it is corrected.
- A rule that asks denies where the client cannot ask about a call; the reason says how to allow it.
- If a call cannot be analysed, the client asks the user, with the reason. `/health` counts these calls, and those for
  which the guard was off.
- With the preset `watch` no hook waits. Calls are judged when they are reported.
"""

import contextlib
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import structlog

from claude_headspace.clients.catalog import CLIENTS
from claude_headspace.clients.client import Capability
from claude_headspace.clients.decode import decode
from claude_headspace.clients.hooks import asking_hooks, kind_of
from claude_headspace.config import Paths
from claude_headspace.errors import BadConfiguration
from claude_headspace.inputs.policy.analyser import TIMED_OUT, Analyser, AnalysisFailed
from claude_headspace.inputs.policy.analysis_thread import AnalysisThread
from claude_headspace.inputs.policy.calls import BadInput, UnknownTool, analyse_call
from claude_headspace.inputs.policy.files import PROJECT_FILE, load_built_in_rules, load_rules, read_project_rules
from claude_headspace.kernel.agent import Agent
from claude_headspace.kernel.decide import Match, decide, get_subject, match_call
from claude_headspace.kernel.envelope import SECOND, Envelope, Micros, Origin
from claude_headspace.kernel.hooks import HookKind
from claude_headspace.kernel.policy.call import Call
from claude_headspace.kernel.policy.rules import Policy, Rule
from claude_headspace.kernel.policy.verdict import ABSTAIN, Ruling, Verdict
from claude_headspace.kernel.text import count
from claude_headspace.kernel.tolerant_json import NOT_AN_OBJECT
from claude_headspace.kernel.tools import ToolUse
from claude_headspace.ports import Received

log = structlog.get_logger(__name__)

JUDGED_HOOK = HookKind.BEFORE_TOOL
ENFORCING_PRESETS = ("guard", "strict")
ANALYSIS_TIMEOUT_SECONDS = 1.7
"""The hook waits for the analysis, at most two seconds. Usually it takes less than a millisecond."""
NOT_ANALYSED_RULE = "not-analysed"
"""The rule that the verdict on a call names if its analysis failed."""
REFRESH_SECONDS = 0.5
"""How often the files with rules are checked for changes."""
MAX_LAPSES = 20
LAPSE_MERGE_WINDOW: Micros = 60 * SECOND
"""Unguarded calls with the same reason within this time count as one lapse."""
MAX_PREPARED = 1_000
MAX_PROJECTS = 200
MAX_RECENT = 500
MAX_RECENT_CHARS = 4_000
"""Longer inputs are not remembered: they rarely repeat."""

EXPECTED_FAILURES = (TimeoutError, AnalysisFailed)

OFF_BY_PRESET = {"off": "checks no tool calls", "watch": "records what it would do, and stops nothing"}
PRESET_HINT = "Set `policy_preset` to `guard` (see `headspace config`), and restart the daemon."

NOT_ASKED = "the daemon was down, busy or starting"
HOW_TO_ALLOW = (
    "cannot ask about a single call, so it is denied. The user can run it, or allow it with a rule in policy.toml."
)
ONLY_REPORTED = "`headspace hook` only reports; `headspace install` registers hooks that ask"


class Analysis(msgspec.Struct, frozen=True):
    """A tool call, and the rules of a policy that match it."""

    policy: Policy
    call: Call
    matches: list[Match]


class PreparedCall(msgspec.Struct, frozen=True):
    """The input of a verdict."""

    analysis: Analysis | None
    """None if the analysis failed."""
    lapse: str | None = None
    """Why the verdict cannot be enforced."""
    failure: str | None = None
    """Why the call could not be analysed."""


class Lapse(msgspec.Struct):
    """A period in which tool calls ran unguarded."""

    since: Micros
    until: Micros
    reason: str
    calls: int = 1


class ProjectRules(msgspec.Struct, frozen=True):
    """The rules of a project's file."""

    file_stamp: object
    base: Policy
    policy: Policy
    """The base with the rules of the project."""
    rules: tuple[Rule, ...] = ()
    """The last valid rules."""
    problem: str | None = None


def asked_hooks(preset: str) -> tuple[str, ...]:
    """Return the hook events that wait for a reply with a preset."""
    return tuple(sorted(asking_hooks({JUDGED_HOOK}))) if preset in ENFORCING_PRESETS else ()


class PolicyGuard:
    """Judges the tool calls of one daemon."""

    def __init__(
        self,
        paths: Paths,
        preset: str,
        home: Path | None = None,
        *,
        timeout_seconds: float = ANALYSIS_TIMEOUT_SECONDS,
        refresh_seconds: float = REFRESH_SECONDS,
        redact: Callable[[str], str] = str,
    ) -> None:
        self._redact = redact
        self._timeout_seconds = timeout_seconds
        self._refresh_seconds = refresh_seconds
        self._paths = paths
        self._files = paths.policy_file, paths.contacts_file
        self._preset = preset
        self._home = str(home or Path.home())
        self._thread = AnalysisThread()
        self._analyser = Analyser()
        self._unanalysed = 0
        self._prepared: OrderedDict[str, PreparedCall] = OrderedDict()
        self._recent: OrderedDict[tuple[str, ...], Analysis] = OrderedDict()
        """Analyses of repeated calls, the last used ones at the end. Only those that no file can change."""
        self._projects: dict[str, ProjectRules] = {}
        self._refreshed_at: float | None = None
        self._file_stamps: object = None
        self.failure: str | None = None
        self.lapses: deque[Lapse] = deque(maxlen=MAX_LAPSES)
        self.book = load_built_in_rules(paths, preset)
        self._refresh()

    def close(self) -> None:
        """End the analysis thread and the analysis process."""
        self._thread.close()
        self._analyser.close()

    # --- analysis ---

    async def prepare(self, received: Received, *, expects_reply: bool) -> None:
        """Analyse a tool call. `expects_reply`: whether the client waits for the verdict."""
        envelope = received.envelope
        if self._preset == "off" or received.event.hook is not JUDGED_HOOK or envelope.origin is not Origin.HOOK:
            return
        lapse = None if expects_reply or self._preset not in ENFORCING_PRESETS else _reason_not_asked(envelope)
        try:
            analysis = await self._thread.run(lambda: self._analyse(received), self._timeout_seconds)
            prepared = PreparedCall(analysis, lapse)
        except UnknownTool as error:
            unreadable = received.event.anomaly == NOT_AN_OBJECT
            prepared = (
                PreparedCall(None, lapse, NOT_AN_OBJECT) if unreadable else PreparedCall(None, _describe_error(error))
            )
        except Exception as error:
            log.warning("call_not_analysed", event_id=envelope.id, exc_info=not isinstance(error, EXPECTED_FAILURES))
            self._unanalysed += 1
            prepared = PreparedCall(None, lapse, _describe_error(error))
        self._prepared[envelope.id] = prepared
        while len(self._prepared) > MAX_PREPARED:
            self._prepared.popitem(last=False)

    def _analyse(self, received: Received) -> Analysis:
        self._refresh()
        envelope, event = received.envelope, received.event
        root = envelope.observations.project_root or ""
        if envelope.original_payload is not None:  # rules apply to what runs, not to what is stored
            event = decode(msgspec.structs.replace(envelope, payload=envelope.original_payload), received.body)
        policy, directory = self._policy_for(root), event.meta.cwd or ""
        key = directory, root, repr((event.tool.name, event.tool.input) if event.tool is not None else None)
        found = self._recent.pop(key, None)
        if found is None or found.policy is not policy:
            found = self._analyse_tool(event.tool, policy, directory, root)
        if not found.call.depends_on_files and len(key[-1]) <= MAX_RECENT_CHARS:
            self._recent[key] = found
            if len(self._recent) > MAX_RECENT:
                self._recent.popitem(last=False)
        return found

    def _analyse_tool(self, tool: ToolUse | None, policy: Policy, directory: str, root: str) -> Analysis:
        home, analyse = self._home, self._analyser.analyse
        call = analyse_call(tool, self.book, directory=directory, home=home, project=root, analyse=analyse)
        return Analysis(policy, call, match_call(policy, call))

    def _refresh(self) -> None:
        """Read the user's files again if they changed. An invalid file changes only `failure`."""
        now = time.monotonic()
        if self._refreshed_at is not None and now < self._refreshed_at + self._refresh_seconds:
            return
        self._refreshed_at = now
        stamps = _file_stamps(*self._files)
        if stamps == self._file_stamps:
            return
        self._file_stamps = stamps
        try:
            self.book = load_rules(self._paths, self._preset)
            self.failure = None
        except BadConfiguration as error:
            self.failure = "policy.toml or contacts.toml is invalid, so the last valid rules are in force"
            log.error("policy_invalid", problem=error.message)  # noqa: TRY400  # the message is complete

    def _policy_for(self, root: str) -> Policy:
        """Return the policy with the rules of a project: the same object until one of the files changes."""
        base = self.book.policy
        if not root.startswith("/"):
            return base
        stamp = _file_stamps(Path(root) / PROJECT_FILE)
        project = self._projects.get(root)
        if project is None or project.file_stamp != stamp or project.base is not base:
            if len(self._projects) >= MAX_PROJECTS:
                self._projects.clear()
            project = self._projects[root] = _read_project(root, stamp, base, project.rules if project else ())
        return project.policy

    # --- verdicts ---

    def judge(self, envelope: Envelope, agent: Agent, *, last: bool = True) -> Verdict:
        """Return the verdict on a prepared call. Never raises. `last`: whether to forget the call afterwards."""
        prepared = self._prepared.pop(envelope.id, None) if last else self._prepared.get(envelope.id)
        if prepared is None:
            return ABSTAIN
        verdict, lapse, analysis = ABSTAIN, prepared.lapse, prepared.analysis
        if prepared.failure is not None:
            verdict = self._ask_about_failure(prepared.failure)
        try:
            if analysis is not None and analysis.matches:
                found = decide(analysis.policy, get_subject(agent), analysis.call, analysis.matches)
                verdict = self._without_secrets(found)
        except Exception as error:
            log.exception("guard_failed", event_id=envelope.id)
            self._unanalysed += 1
            verdict = self._ask_about_failure(_describe_error(error))
        verdict = _as_client_can(verdict, envelope.client)
        if lapse is None:
            return verdict
        self._record_lapse(lapse, envelope.fired_at)
        return msgspec.structs.replace(verdict, enforced=False, lapse=lapse)

    def _without_secrets(self, verdict: Verdict) -> Verdict:
        """The verdict as it is stored: its reason can quote the call."""
        return msgspec.structs.replace(verdict, reason=self._redact(verdict.reason)) if verdict.reason else verdict

    def refuse(self, client: str, hook: str, reason: str) -> Verdict:
        """Return the verdict on a call that could not be read at all. Other hooks get none."""
        if kind_of(client, hook) is not JUDGED_HOOK or self._preset not in ENFORCING_PRESETS:
            return ABSTAIN
        self._unanalysed += 1
        return _as_client_can(self._ask_about_failure(reason.rstrip(".")), client)

    def _ask_about_failure(self, failure: str) -> Verdict:
        reason = f"Headspace asks you to decide: {failure}. (rule {NOT_ANALYSED_RULE})"
        return Verdict(Ruling.ASK, NOT_ANALYSED_RULE, reason, enforced=not self.book.policy.record_only)

    def _record_lapse(self, reason: str, at: Micros) -> None:
        last = self.lapses[-1] if self.lapses else None
        if last is not None and last.reason == reason and at <= last.until + LAPSE_MERGE_WINDOW:
            last.since, last.until, last.calls = min(last.since, at), max(last.until, at), last.calls + 1
        else:
            self.lapses.append(Lapse(at, at, reason))
            log.warning("guard_off", reason=reason)

    # --- health ---

    def problems(self) -> Iterator[tuple[str, str]]:
        """Why the guard is off, or weaker than it should be, each with what to do."""
        if effect := OFF_BY_PRESET.get(self._preset):
            yield f"the policy preset `{self._preset}` {effect}", PRESET_HINT
        if self._analyser.failure is not None:
            yield f"{self._analyser.failure}, so they are all asked about", "Run `headspace down && headspace up`."

    def health(self) -> tuple[bool, str | None, str]:
        """Return whether the guard runs, the problem with its files if there is one, and details.

        Reads changed files first: an invalid one is reported at once, and not with the next tool call.
        """
        self._refresh()
        invalid = sum(project.problem is not None for project in self._projects.values())
        projects = f"{PROJECT_FILE} is invalid in {count(invalid, 'project')}" if invalid else None
        problems = "; ".join(filter(None, (self.failure, projects)))
        rules = self.book.policy.rules
        detail = f"{self._preset}, {sum(rule.enabled for rule in rules)} of {len(rules)} rules active"
        if self._unanalysed:
            detail += f"; {count(self._unanalysed, 'tool call')} could not be analysed"
        if calls := sum(lapse.calls for lapse in self.lapses):
            detail += f"; guard off for {count(calls, 'tool call')}; `headspace why AGENT` lists them"
        return True, f"{problems}: run `headspace policy check`; {detail}" if problems else None, detail


def _as_client_can(verdict: Verdict, client: str) -> Verdict:
    """The verdict that takes effect: a client that cannot ask about a call denies it."""
    found = CLIENTS.get(client)
    if verdict.ruling is not Ruling.ASK or found is None or found.can(Capability.ASK):
        return verdict
    reason = f"{verdict.reason} {found.title} {HOW_TO_ALLOW}".lstrip()
    return msgspec.structs.replace(verdict, ruling=Ruling.DENY, reason=reason)


def _reason_not_asked(envelope: Envelope) -> str:
    return ONLY_REPORTED if envelope.observations.only_reports else NOT_ASKED


def _read_project(root: str, stamp: object, base: Policy, previous: tuple[Rule, ...]) -> ProjectRules:
    try:
        rules, problem = read_project_rules(root), None
    except BadConfiguration as error:
        rules, problem = previous, error.message
        log.error("policy_invalid", problem=problem)  # noqa: TRY400  # the message is complete
    policy = msgspec.structs.replace(base, rules=(*base.rules, *rules)) if rules else base
    return ProjectRules(stamp, base, policy, rules, problem)


def _describe_error(error: Exception) -> str:
    if isinstance(error, TimeoutError):
        return TIMED_OUT
    if isinstance(error, AnalysisFailed | UnknownTool | BadInput):
        return str(error)
    return f"internal error ({type(error).__name__})"


def _file_stamps(*paths: Path) -> list[object]:
    """Return a value that changes when one of the files changes, appears or disappears."""
    stamps = list[object]()
    for path in paths:
        with contextlib.suppress(OSError, ValueError):
            status = path.stat()
            stamps.append((path, status.st_mtime_ns, status.st_size, status.st_ino))
    return stamps
