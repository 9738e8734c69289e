"""A simulated session of Codex: hooks, and a rollout with the usage, in the format of 0.166.0. Pure."""

from typing import Any

from claude_headspace.clients.simulation import Action, Json, Profile, Told, ToldSession

WINDOW_TOKENS = 258_400


class CodexSession(ToldSession):
    """One session of Codex."""

    client = "codex"

    def __init__(self, profile: Profile, seed: int, home: str, user_home: str) -> None:
        super().__init__(profile, seed, home, user_home)
        self.transcript = f"{user_home}/.codex/sessions/2026/01/05/rollout-2026-01-05T09-00-00-{self.id}.jsonl"

    def _payload(self, event: str, **fields: Any) -> Told:
        payload: Json = {
            "session_id": self.id,
            "transcript_path": self.transcript,
            "cwd": self.cwd,
            "hook_event_name": event,
            "model": self.profile.model,
            "permission_mode": "default",
            **fields,
        }
        return Told(event, payload)

    def started(self) -> list[Told]:
        """SessionStart comes with the first prompt."""
        meta = {"id": self.id, "session_id": self.id, "cwd": self.cwd, "originator": "codex-tui", "source": "cli"}
        start = self._payload("SessionStart", source="startup")
        return [start._replace(lines=({"type": "session_meta", "payload": meta},))]

    def prompted(self) -> list[Told]:
        """The prompt has the id of its turn."""
        return [self._payload("UserPromptSubmit", turn_id=self.turn_id, prompt=self.prompt)]

    def called(self, action: Action) -> list[Told]:
        """A command, or a patch."""
        return [self._payload("PreToolUse", turn_id=self.turn_id, tool_use_id=self.call_id, **_call(action))]

    def asked(self, action: Action) -> list[Told]:
        """A dialog has no id of the call."""
        return [self._payload("PermissionRequest", turn_id=self.turn_id, **_call(action))]

    def finished(self, action: Action) -> list[Told]:
        """The result is a text. That of a patch begins with its exit code."""
        ids = {"turn_id": self.turn_id, "tool_use_id": self.call_id}
        result = f"Exit code: 0\nWall time: 0.1 seconds\nOutput:\n{action.result}" if action.is_edit else action.result
        return [self._payload("PostToolUse", **ids, **_call(action), tool_response=result)]

    def stopped(self, text: str) -> list[Told]:
        """The usage is only in the rollout."""
        fields = {"turn_id": self.turn_id, "stop_hook_active": False, "last_assistant_message": text}
        usage = {"input_tokens": round(self.tokens), "output_tokens": 240, "total_tokens": round(self.tokens) + 240}
        info = {"total_token_usage": usage, "last_token_usage": usage, "model_context_window": WINDOW_TOKENS}
        item = {"type": "AgentMessage", "id": self.new_id("msg_"), "content": [{"type": "Text", "text": text}]}
        lines = (
            {"type": "item_completed", "thread_id": self.id, "turn_id": self.turn_id, "item": item},
            {"type": "token_count", "info": info},
            {"type": "task_complete", "turn_id": self.turn_id, "last_agent_message": text},
        )
        wrapped = tuple({"type": "event_msg", "payload": line} for line in lines)
        return [self._payload("Stop", **fields)._replace(lines=wrapped)]


def _call(action: Action) -> Json:
    if not action.is_edit:
        return {"tool_name": "Bash", "tool_input": {"command": action.target}}
    changed = "".join(f"-{line}\n" for line in action.old.splitlines())
    changed += "".join(f"+{line}\n" for line in action.new.splitlines())
    patch = f"*** Begin Patch\n*** Update File: {action.target}\n@@\n{changed}*** End Patch\n"
    return {"tool_name": "apply_patch", "tool_input": {"command": patch}}
