"""A life becomes cues: the hooks that Claude Code fires, with the lines that it writes. Pure, and the same for a seed.

Rules
- An actor keeps its own time, in seconds; 0 is the moment when the curtain rises, what lies before is history.
- Whoever plays a cue sends back how it went on: at what time, and what the hook printed. So a question that is answered
  through Headspace is answered, and what a guard denies does not happen.
"""

from collections.abc import Callable, Generator, Iterable
from contextlib import suppress
from itertools import chain, repeat
from typing import Any

import msgspec

from claude_headspace.demo import steps
from claude_headspace.demo.client import Client, Json
from claude_headspace.demo.steps import Call, Life, Step

PAST_PACE, PAST_REST = 6.0, 1.7
"""How much longer work and pauses took in the past: whoever watches now does not want to wait that long."""


class Cue(msgspec.Struct, frozen=True, kw_only=True):
    """One moment of an agent: a hook with its payload, lines of the transcript, or both."""

    at: float
    event: str = ""
    payload: Json = {}
    lines: tuple[Json, ...] = ()
    errand: str = ""
    """The sub-agent whose transcript the lines belong to."""
    notes: Json | None = None
    """What the client notes of that sub-agent."""
    held: str = ""
    """What it waits for, where a person may answer while the hook is open."""
    until: float = 0.0
    """When somebody answers in the terminal."""


class Reply(msgspec.Struct, frozen=True):
    """How it went on after a cue."""

    at: float
    output: Json = {}

    @property
    def decision(self) -> Json:
        """What a person decided, if anybody did through Headspace."""
        found = self.output.get("hookSpecificOutput", {}).get("decision", {})
        return found if isinstance(found, dict) else {}

    @property
    def is_denied(self) -> bool:
        """Whether a person or a guard said no."""
        told = self.output.get("hookSpecificOutput", {})
        return "deny" in (told.get("permissionDecision"), self.decision.get("behavior"))


Cues = Generator[Cue, Reply, None]


class Actor(Client):
    """Plays one life."""

    def __init__(self, life: Life, seed: int, number: int, projects: str) -> None:
        super().__init__(life, seed, number, projects)
        self._now = 0.0
        self._pace = 1.0
        self._answer = ""
        self._shells: dict[str, str] = {}
        self._todo: list[tuple[str, str]] = []
        self._calls = 0
        self._gave_up = False

    # --- playing ---

    def cues(self) -> Cues:
        """Its whole life: the past, which is over when its loop begins, then the loop without end."""
        past = self._rehearsed()
        earlier = -self.life.since - self._now
        for cue in past:
            yield msgspec.structs.replace(cue, at=cue.at + earlier, until=cue.until + earlier if cue.held else 0.0)
        self._now = -self.life.since
        if self.life.loop:
            yield from self._play(chain.from_iterable(repeat(self.life.loop)))

    def _rehearsed(self) -> list[Cue]:
        """The past, in which nobody interferes: every answer was given in the terminal."""
        playing, cues, self._pace = self._past(), list[Cue](), PAST_PACE
        with suppress(StopIteration):
            cue = next(playing)
            while True:
                cues.append(cue)
                cue = playing.send(Reply(max(cue.at, cue.until)))
        self._pace = 1.0
        return cues

    def _past(self) -> Cues:
        yield from self._hook("SessionStart", source="startup", model=self.life.model)
        self._pass(5)
        yield from self._play(self.life.past)

    def _play(self, steps_: Iterable[Step]) -> Cues:
        for step in steps_:
            if isinstance(step, steps.Rests | steps.Leaves):
                self._gave_up = False
            if not self._gave_up:
                yield from _VERBS[type(step)](self, step)

    def _pass(self, seconds: float) -> None:
        self._now += seconds * self._pace * self._chance.uniform(0.85, 1.15)

    def _hook(self, event: str, *, lines: tuple[Json, ...] = (), **fields: Any) -> Generator[Cue, Reply, Reply]:
        """Fire a hook; how it went on."""
        reply = yield Cue(at=self._now, event=event, payload=self._payload(event, fields), lines=lines)
        self._now = max(self._now, reply.at)
        return reply

    def _write(self, *lines: Json) -> Cues:
        yield Cue(at=self._now, lines=lines)

    def _status(self) -> Cues:
        yield from self._hook("StatusLine", **self._measures())

    # --- verbs ---

    def prompt(self, step: steps.Prompt) -> Cues:
        """A turn begins."""
        self._prompt_id = self._id()
        yield from self._hook("UserPromptSubmit", prompt=step.text, lines=(self._typed(step.text),))
        self._pass(3)

    def says(self, step: steps.Says) -> Cues:
        """Words, which only the transcript has."""
        text = step.text.replace("{answer}", self._answer)
        yield from self._write(self._spoken({"type": "text", "text": text}, "tool_use"))
        self._pass(step.takes)

    def calls(self, call: Call, **inside: Any) -> Cues:
        """A call, from its start to its end."""
        call_id = self._short_id("toolu_")
        if (yield from self._begin(call, call_id, **inside)):
            self._pass(call.takes)
            yield from self._end(call, call_id, **inside)
        self._pass(2)

    def _begin(self, call: Call, call_id: str, **inside: Any) -> Generator[Cue, Reply, bool]:
        """Whether it may go on."""
        told = {"tool_name": call.tool, "tool_input": call.input, "tool_use_id": call_id}
        block = {"type": "tool_use", "id": call_id, "name": call.tool, "input": call.input}
        spoken = () if inside else (self._spoken(block, "tool_use"),)
        reply = yield from self._hook("PreToolUse", lines=spoken, **told, **inside)
        if reply.is_denied:
            why = str(reply.output["hookSpecificOutput"].get("permissionDecisionReason", "denied"))
            yield from self._hook("PostToolBatch", tool_calls=[{**told, "tool_response": why}], **inside)
        return not reply.is_denied

    def _end(self, call: Call, call_id: str, **inside: Any) -> Cues:
        told = {"tool_name": call.tool, "tool_input": call.input, "tool_use_id": call_id}
        took = {"duration_ms": round(call.takes * 1000)}
        if call.error:
            lines = () if inside else (self._result(call_id, call.error, is_error=True),)
            yield from self._hook(
                "PostToolUseFailure", lines=lines, **told, error=call.error, is_interrupt=False, **inside
            )
        else:
            text = str(call.result.get("stdout") or call.result.get("content") or "done")
            lines = () if inside else (self._result(call_id, text),)
            yield from self._hook("PostToolUse", lines=lines, **told, tool_response=call.result, **took, **inside)
        self._calls += 1
        if not inside and self._calls % 3 == 0:
            yield from self._status()

    # --- verbs that wait for somebody ---

    def _asks(self, kind: str, waits: float, told: Json) -> Generator[Cue, Reply, Reply]:
        until = self._now + waits * self._chance.uniform(0.85, 1.15)
        payload = self._payload("PermissionRequest", told)
        reply = yield Cue(at=self._now, event="PermissionRequest", payload=payload, held=kind, until=until)
        self._now = max(self._now, reply.at)
        return reply

    def permission(self, step: steps.Permission) -> Cues:
        """A call that asks first."""
        call, call_id = step.call, self._short_id("toolu_")
        if not (yield from self._begin(call, call_id)):
            return
        self._now += 0.05
        rule = {"toolName": call.tool, "ruleContent": str(call.input.get("command", "")).split(" ", maxsplit=1)[0]}
        suggestions = [{"type": "addRules", "rules": [rule], "behavior": "allow", "destination": "localSettings"}]
        told = {"tool_name": call.tool, "tool_input": call.input, "permission_suggestions": suggestions}
        reply = yield from self._asks("permission", step.waits, told)
        if reply.is_denied:
            yield from self._gives_up(call_id, reply)
        else:
            self._pass(call.takes)
            yield from self._end(call, call_id)
            self._pass(2)

    def question(self, step: steps.Question) -> Cues:
        """A question with options."""
        options = [{"label": label, "description": about} for label, about in step.options]
        question = {"question": step.text, "header": step.header, "options": options, "multiSelect": False}
        call, call_id = Call("AskUserQuestion", {"questions": [question]}), self._short_id("toolu_")
        yield from self._begin(call, call_id)
        self._now += 0.05
        reply = yield from self._asks("question", step.waits, {"tool_name": call.tool, "tool_input": call.input})
        if reply.is_denied:
            yield from self._gives_up(call_id, reply)
            return
        given = reply.decision.get("updatedInput", {}).get("answers") or {step.text: step.options[0][0]}
        self._answer = next(iter(given.values()))
        answered = {**call.input, "answers": given, "annotations": {}}
        yield from self._end(Call(call.tool, answered, answered, 0.1), call_id)
        self._pass(2)

    def plan(self, step: steps.Plan) -> Cues:
        """A plan that wants approval."""
        self._mode = "plan"
        call, call_id = Call("ExitPlanMode", {"plan": step.text}), self._short_id("toolu_")
        yield from self._begin(call, call_id)
        self._now += 0.05
        reply = yield from self._asks("plan", step.waits, {"tool_name": call.tool, "tool_input": call.input})
        if reply.is_denied:
            yield from self._gives_up(call_id, reply)
            return
        self._mode = "acceptEdits"
        yield from self._end(Call(call.tool, {}, {"plan": step.text, "isAgent": False}, 0.1), call_id)
        self._pass(3)

    def _gives_up(self, call_id: str, reply: Reply) -> Cues:
        """Somebody said no: the turn ends, and what would have come of it does not happen."""
        advice = str(reply.decision.get("message") or "The user said no.")
        self._now += 0.2
        yield from self._write(self._result(call_id, advice, is_error=True))
        yield from self._hook("PostToolBatch", tool_calls=[{"tool_use_id": call_id, "tool_response": advice}])
        self._pass(3)
        yield from self.done(steps.Done("Understood, I leave that as it is. Tell me how you would like to go on."))
        self._gave_up = True

    # --- verbs of work in the background ---

    def delegates(self, step: steps.Delegates) -> Cues:
        """Sub-agents work side by side; the turn is over meanwhile, and begins again with what each brings back."""
        running = {self._short_id("a"): errand for errand in step.errands}
        for agent_id, errand in running.items():
            yield from self._sends(agent_id, errand)
        yield from self._stop("They are on their way.", self._tasks(running))
        rounds = max(len(errand.calls) for errand in step.errands)
        for number in range(rounds):
            for agent_id, errand in running.items():
                if number < len(errand.calls):
                    inside = {"agent_id": agent_id, "agent_type": errand.kind}
                    yield from self.calls(errand.calls[number], **inside)
        for agent_id, errand in list(running.items()):
            yield from self._returns(agent_id, errand, self._tasks(running))
            del running[agent_id]
            if running:
                yield from self._stop(errand.report, self._tasks(running))
            self._pass(6)

    def _sends(self, agent_id: str, errand: steps.Errand) -> Cues:
        call_id = self._short_id("toolu_")
        told = {"description": errand.description, "prompt": errand.description, "subagent_type": errand.kind}
        yield from self._begin(Call("Agent", told), call_id)
        self._now += 0.1
        notes = {"agentType": errand.kind, "description": errand.description, "toolUseId": call_id, "spawnDepth": 1}
        first = {**self._typed(errand.description), "isSidechain": True, "agentId": agent_id}
        yield Cue(at=self._now, lines=(first,), errand=agent_id, notes=notes)
        yield from self._hook("SubagentStart", agent_id=agent_id, agent_type=errand.kind)
        result = {"isAsync": True, "status": "async_launched", "agentId": agent_id, "description": errand.description}
        yield from self._end(Call("Agent", told, result, 0.1), call_id)
        self._pass(1)

    def _returns(self, agent_id: str, errand: steps.Errand, tasks: list[Json]) -> Cues:
        yield from self._hook(
            "SubagentStop",
            agent_id=agent_id,
            agent_type=errand.kind,
            stop_hook_active=False,
            agent_transcript_path=self.transcript_of(agent_id),
            last_assistant_message=errand.report,
            background_tasks=tasks,
        )
        self._now += 0.2
        yield from self._notified(agent_id, f'Agent "{errand.description}" completed')

    def _notified(self, task_id: str, summary: str) -> Cues:
        self._prompt_id = self._id()
        told = f"<task-id>{task_id}</task-id>\n<status>completed</status>\n<summary>{summary}</summary>"
        text = f"<task-notification>\n{told}\n</task-notification>"
        yield from self._hook("UserPromptSubmit", prompt=text)
        self._pass(3)

    def _tasks(self, running: dict[str, steps.Errand]) -> list[Json]:
        subagents = [
            {"id": each, "type": "subagent", "status": "running", "description": e.description, "agent_type": e.kind}
            for each, e in running.items()
        ]
        shells = [
            {"id": each, "type": "shell", "status": "running", "description": about, "command": about}
            for each, about in self._shells.items()
        ]
        return [*subagents, *shells]

    def background(self, step: steps.Background) -> Cues:
        """A shell that runs on."""
        told = {"command": step.command, "description": step.description, "run_in_background": True}
        task = self._short_id("b")
        self._shells[task] = step.description
        yield from self.calls(Call("Bash", told, {"stdout": "", "stderr": "", "backgroundTaskId": task}, 0.3))

    def collects(self, step: steps.Collects) -> Cues:
        """The news of a shell that ended begins a turn."""
        task = next((task for task, about in self._shells.items() if about == step.description), "")
        self._shells.pop(task, None)
        yield from self._notified(task, f'Background command "{step.description}" completed (exit code 0)')

    # --- verbs of lists, ends and pauses ---

    def todos(self, step: steps.Todos) -> Cues:
        """The list grows."""
        for subject in step.subjects:
            task_id = str(len(self._todo) + 1 + self._calls * 100)
            self._todo.append((task_id, subject))
            yield from self._hook("TaskCreated", task_id=task_id, task_subject=subject, task_description=subject)
            self._now += 0.2

    def ticks(self, _step: steps.Ticks) -> Cues:
        """The next thing is done."""
        if self._todo:
            task_id, subject = self._todo.pop(0)
            yield from self._hook("TaskCompleted", task_id=task_id, task_subject=subject, task_description=subject)

    def done(self, step: steps.Done) -> Cues:
        """The turn is over."""
        yield from self._stop(step.text.replace("{answer}", self._answer), self._tasks({}))
        yield from self._status()

    def _stop(self, text: str, tasks: list[Json]) -> Cues:
        spoken = self._spoken({"type": "text", "text": text}, "end_turn")
        closed = self._line("system", subtype="turn_duration", pendingBackgroundAgentCount=_subagents(tasks))
        told = {"stop_hook_active": False, "last_assistant_message": text, "background_tasks": tasks}
        yield from self._hook("Stop", lines=(spoken, closed), **told, session_crons=[])
        self._pass(1)

    def breaks(self, step: steps.Breaks) -> Cues:
        """The turn ends in an error."""
        message = {"role": "assistant", "model": "<synthetic>", "content": [{"type": "text", "text": step.text}]}
        line = self._line("assistant", message=message, isApiErrorMessage=True, error=step.error)
        told = {"error": step.error, "last_assistant_message": step.text}
        yield from self._hook("StopFailure", lines=(line,), **told)

    def escapes(self, _step: steps.Escapes) -> Cues:
        """Nobody tells but the transcript."""
        content = [{"type": "text", "text": "[Request interrupted by user for tool use]"}]
        message = {"role": "user", "content": content}
        yield from self._write(self._line("user", message=message, promptId=self._prompt_id))

    def compacts(self, step: steps.Compacts) -> Cues:
        """The context becomes small again."""
        yield from self._hook("PreCompact", trigger="manual", custom_instructions=None)
        before = round(self._tokens)
        self._pass(step.takes)
        self._tokens = 22_000.0
        summary = "What was decided so far, and what is left to do."
        told: Json = {"stop_hook_active": False, "last_assistant_message": summary, "background_tasks": []}
        yield from self._hook("SubagentStop", agent_id=self._short_id("a"), agent_type="", **told)
        metadata = {"trigger": "manual", "preTokens": before, "postTokens": round(self._tokens)}
        line = self._line("system", subtype="compact_boundary", compactMetadata=metadata)
        yield from self._hook("SessionStart", source="compact", model=self.life.model, lines=(line,))
        yield from self._hook("PostCompact", trigger="manual", compact_summary=summary)
        yield from self._status()

    def rests(self, step: steps.Rests) -> Cues:
        """Time passes."""
        self._now += step.seconds * self._chance.uniform(0.85, 1.15) * (PAST_REST if self._pace > 1 else 1.0)
        yield from ()  # a generator, like all verbs

    def leaves(self, step: steps.Leaves) -> Cues:
        """The client is closed; perhaps it is taken up again."""
        self._shells.clear()
        yield from self._hook("SessionEnd", reason="prompt_input_exit")
        if step.seconds is not None:
            self._pass(step.seconds)
            self._prompt_id = None
            yield from self._hook("SessionStart", source="resume")


def _subagents(tasks: list[Json]) -> int:
    return sum(task["type"] == "subagent" for task in tasks)


_VERBS: dict[type[Step], Callable[[Actor, Any], Cues]] = {
    steps.Prompt: Actor.prompt,
    steps.Says: Actor.says,
    steps.Call: Actor.calls,
    steps.Permission: Actor.permission,
    steps.Question: Actor.question,
    steps.Plan: Actor.plan,
    steps.Delegates: Actor.delegates,
    steps.Background: Actor.background,
    steps.Collects: Actor.collects,
    steps.Todos: Actor.todos,
    steps.Ticks: Actor.ticks,
    steps.Done: Actor.done,
    steps.Breaks: Actor.breaks,
    steps.Escapes: Actor.escapes,
    steps.Compacts: Actor.compacts,
    steps.Rests: Actor.rests,
    steps.Leaves: Actor.leaves,
}
