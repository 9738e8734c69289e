"""A simulated session of Copilot CLI: hooks and lines of `events.jsonl`, in the format of 1.0.102. Pure."""

from typing import Any

from claude_headspace.clients.simulation import Action, Json, Profile, Told, ToldSession


class CopilotSession(ToldSession):
    """One session of Copilot CLI."""

    client = "copilot"

    def __init__(self, profile: Profile, seed: int, home: str, user_home: str) -> None:
        super().__init__(profile, seed, home, user_home)
        self.transcript = f"{user_home}/.copilot/session-state/{self.id}/events.jsonl"
        self._request_id = ""

    def _payload(self, event: str, *lines: Json, **fields: Any) -> Told:
        return Told(event, {"hook_event_name": event, "session_id": self.id, "cwd": self.cwd, **fields}, lines)

    def _line(self, kind: str, **data: Any) -> Json:
        return {"type": kind, "data": data, "id": self.new_uuid()}

    def started(self) -> list[Told]:
        """SessionStart comes with the first prompt."""
        about = {"sessionId": self.id, "selectedModel": self.profile.model, "context": {"cwd": self.cwd}}
        line = self._line("session.start", version=1, producer="copilot-agent", copilotVersion="1.0.102", **about)
        return [self._payload("SessionStart", line, source="new", initial_prompt=self.prompt)]

    def prompted(self) -> list[Told]:
        """Only the line has the id of the turn."""
        line = self._line("user.message", content=self.prompt, interactionId=self.turn_id, turnId="0")
        return [self._payload("UserPromptSubmit", line, prompt=self.prompt)]

    def called(self, action: Action) -> list[Told]:
        """Calls have no ids."""
        return [self._payload("PreToolUse", **_call(action))]

    def asked(self, action: Action) -> list[Told]:
        """The hook is in camel case and fires for every call that may ask. The line reports the dialog."""
        self._request_id = self.new_uuid()
        dialog = {"hookName": "permissionRequest", "sessionId": self.id, "cwd": self.cwd, "toolName": "bash"}
        given = {"toolInput": {"command": action.target}, "permissionSuggestions": []}
        request = {"kind": "shell", "toolCallId": self.call_id, "fullCommandText": action.target}
        line = self._line("permission.requested", requestId=self._request_id, permissionRequest=request)
        return [Told("PermissionRequest", dialog | given, (line,))]

    def allowed(self) -> list[Told]:
        """Only a line reports the answer."""
        result = {"requestId": self._request_id, "toolCallId": self.call_id, "result": {"kind": "approved"}}
        return [Told("", {}, (self._line("permission.completed", **result),))]

    def finished(self, action: Action) -> list[Told]:
        """The result is what the model gets."""
        result = {"result_type": "success", "text_result_for_llm": action.result}
        return [self._payload("PostToolUse", **_call(action), tool_result=result)]

    def stopped(self, text: str) -> list[Told]:
        """Only the lines have the text and the usage."""
        usage = {"model": self.profile.model, "inputTokens": round(self.tokens), "outputTokens": 240}
        lines = (
            self._line("session.usage_record", usage={**usage, "cacheReadTokens": 0, "cacheWriteTokens": 0}),
            self._line("assistant.message", model=self.profile.model, content=text, interactionId=self.turn_id),
            self._line("assistant.turn_end", turnId="0"),
        )
        return [self._payload("Stop", *lines, stop_reason="end_turn", stop_hook_active=False)]


def _call(action: Action) -> Json:
    if action.is_edit:
        given = {"path": action.target, "old_str": action.old, "new_str": action.new}
        return {"tool_name": "Edit", "tool_input": given}
    return {"tool_name": "Bash", "tool_input": {"command": action.target}}
