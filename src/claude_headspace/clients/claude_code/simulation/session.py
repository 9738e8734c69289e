"""One simulated session of Claude Code: its state, and the events that it produces."""

from collections.abc import Callable, Generator, Iterable
from itertools import count
from typing import Any

from claude_headspace.clients.claude_code.simulation.payloads import (
    hook_payload,
    running_task,
    status_line_payload,
    transcript_line,
)
from claude_headspace.clients.claude_code.simulation.tool_calls import ToolCall
from claude_headspace.clients.claude_code.wire import STATUS_LINE
from claude_headspace.clients.simulation import (
    Events,
    Json,
    Pause,
    Profile,
    Reply,
    ScheduledEvent,
    SimulatedClock,
)

WINDOW_TOKENS = 200_000
PRICES = {"opus": 2.5, "sonnet": 1.0, "haiku": 0.3}

_TURN_HOOKS = (
    "UserPromptSubmit PreToolUse PermissionRequest PostToolUse PostToolUseFailure PostToolBatch Stop SubagentStop"
)
"""Hooks with a permission mode."""


Step = Callable[["SimulatedSession"], Events] | ToolCall | Pause


class SimulatedSession(SimulatedClock):
    """One session. Steps call its methods."""

    def __init__(self, profile: Profile, seed: int, home: str, projects_dir: str) -> None:
        super().__init__(profile, seed, home)
        self.transcript = f"{projects_dir}/{self.cwd.replace('/', '-')}/{self.id}.jsonl"
        self.permission_mode = "default"
        self.last_answer = ""
        self.shells: dict[str, str] = {}
        self.todos: list[tuple[str, str]] = []
        self.todo_ids = count(1)
        self._cost_usd = 0.0
        self._prompt_id: str | None = None
        self._call_id = ""
        self._finished_calls = 0

    def play(self, steps: Iterable[Step]) -> Events:
        """Run steps in order. After a denied dialog the rest of the turn is skipped, up to the next pause."""
        for step in steps:
            if isinstance(step, Pause):
                self.pause(step.seconds)
            elif self.turn_denied:
                continue
            elif isinstance(step, ToolCall):
                yield from self.run_call(step)
            else:
                yield from step(self)

    # --- hooks ---

    def payload(self, hook: str, **fields: Any) -> Json:
        prompt = {"prompt_id": self._prompt_id} if self._prompt_id else {}
        mode = {"permission_mode": self.permission_mode} if hook in _TURN_HOOKS.split() else {}
        location = {"session_id": self.id, "cwd": self.cwd, "transcript_path": self.transcript}
        return hook_payload(hook, **location, **prompt, **mode, **fields)

    def fire(self, hook: str, *lines: Json, **fields: Any) -> Generator[ScheduledEvent, Reply, Reply]:
        """Fire a hook and write lines to the transcript."""
        event = ScheduledEvent(at=self.now, hook=hook, payload=self.payload(hook, **fields), lines=lines)
        return (yield from self.send(event))

    def report_status(self) -> Events:
        usage = status_line_payload(self.profile.model, round(self.tokens), WINDOW_TOKENS, self._cost_usd)
        yield from self.fire(STATUS_LINE, **usage)

    def start_turn(self, prompt: str, *, is_typed: bool) -> Events:
        self._prompt_id = self.new_uuid()
        lines = [self.user_line(prompt, promptSource="typed")] if is_typed else []
        yield from self.fire("UserPromptSubmit", *lines, prompt=prompt)
        self.work(3)

    def end_turn(self, text: str, running: Iterable[Json] = ()) -> Events:
        """Fire Stop. Sub-agents and shells may continue in the background."""
        shells = [running_task(task_id, "shell", name, command=name) for task_id, name in self.shells.items()]
        fields = {"stop_hook_active": False, "last_assistant_message": text, "session_crons": []}
        yield from self.fire("Stop", self.assistant_line(text), **fields, background_tasks=[*running, *shells])
        self.work(1)

    # --- tool calls ---

    def run_call(self, call: ToolCall, **subagent: str) -> Events:
        if (yield from self.start_call(call, **subagent)):
            self.work(call.seconds)
            yield from self.finish_call(call, **subagent)
        self.work(2)

    def start_call(self, call: ToolCall, **subagent: str) -> Generator[ScheduledEvent, Reply, bool]:
        """Fire PreToolUse. False if the guard denied the call."""
        self._call_id = self.new_id("toolu_")
        if not subagent:
            self._use_tokens()
        reply = yield from self.fire("PreToolUse", **self.call_fields(call), **subagent)
        if reply.is_denied:
            output = reply.output["hookSpecificOutput"]
            yield from self.reject_call(call, str(output.get("permissionDecisionReason", "denied")), **subagent)
        return not reply.is_denied

    def reject_call(self, call: ToolCall, reason: str, **subagent: str) -> Events:
        rejected = {**self.call_fields(call), "tool_response": reason}
        yield from self.fire("PostToolBatch", tool_calls=[rejected], **subagent)

    def finish_call(self, call: ToolCall, **subagent: str) -> Events:
        fields = self.call_fields(call) | subagent
        if call.error:
            yield from self.fire("PostToolUseFailure", **fields, error=call.error, is_interrupt=False)
        else:
            milliseconds = round(call.seconds * 1000)
            yield from self.fire("PostToolUse", **fields, tool_response=call.result, duration_ms=milliseconds)
        self._finished_calls += 1
        if not subagent and self._finished_calls % 3 == 0:
            yield from self.report_status()

    def call_fields(self, call: ToolCall) -> Json:
        path = call.input.get("file_path")
        absolute = {"file_path": f"{self.cwd}/{path}"} if path else {}
        return {"tool_name": call.tool, "tool_input": call.input | absolute, "tool_use_id": self._call_id}

    # --- transcript lines ---

    def line(self, kind: str, **fields: Any) -> Json:
        session = {"sessionId": self.id, "cwd": self.cwd, "gitBranch": self.profile.branch}
        return transcript_line(kind, uuid=self.new_uuid(), **session, **fields)

    def user_line(self, content: Any, **fields: Any) -> Json:
        return self.line("user", message={"role": "user", "content": content}, promptId=self._prompt_id, **fields)

    def assistant_line(self, text: str, stop_reason: str = "end_turn") -> Json:
        content = [{"type": "text", "text": text}]
        message = {"role": "assistant", "id": self.new_id("msg_"), "model": self.profile.model, "content": content}
        return self.line("assistant", message={**message, "stop_reason": stop_reason, "usage": self._use_tokens()})

    def _use_tokens(self) -> Json:
        """The usage of one reply: the context grows, and the cost."""
        self.grow_context()
        price = next((price for name, price in PRICES.items() if name in self.profile.model), 1.0)
        self._cost_usd += price * (self.tokens * 1.3e-6 + 0.03)
        cached = {"cache_creation_input_tokens": 900, "cache_read_input_tokens": round(self.tokens)}
        return {"input_tokens": 12, **cached, "output_tokens": 240}
