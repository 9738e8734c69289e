"""A simulated session of Copilot CLI: its hooks, in the format of 1.0.102. Pure."""

from typing import Any

from claude_headspace.clients.simulation import Action, Json, Told, ToldSession


class CopilotSession(ToldSession):
    """One session of Copilot CLI."""

    client = "copilot"

    def _payload(self, event: str, **fields: Any) -> Told:
        return Told(event, {"hook_event_name": event, "session_id": self.id, "cwd": self.cwd, **fields})

    def started(self) -> list[Told]:
        """SessionStart comes with the first prompt."""
        return [self._payload("SessionStart", source="new", initial_prompt=self.prompt)]

    def prompted(self) -> list[Told]:
        """A prompt has no id."""
        return [self._payload("UserPromptSubmit", prompt=self.prompt)]

    def called(self, action: Action) -> list[Told]:
        """Calls have no ids."""
        return [self._payload("PreToolUse", **_call(action))]

    def asked(self, action: Action) -> list[Told]:
        """This payload is in camel case."""
        dialog = {"hookName": "permissionRequest", "sessionId": self.id, "cwd": self.cwd, "toolName": "bash"}
        given = {"toolInput": {"command": action.target}, "permissionSuggestions": []}
        return [Told("PermissionRequest", dialog | given)]

    def finished(self, action: Action) -> list[Told]:
        """The result is what the model gets."""
        result = {"result_type": "success", "text_result_for_llm": action.result}
        return [self._payload("PostToolUse", **_call(action), tool_result=result)]

    def stopped(self, _text: str) -> list[Told]:
        """The hook does not have the text."""
        return [self._payload("Stop", stop_reason="end_turn", stop_hook_active=False)]


def _call(action: Action) -> Json:
    if action.is_edit:
        given = {"path": action.target, "old_str": action.old, "new_str": action.new}
        return {"tool_name": "Edit", "tool_input": given}
    return {"tool_name": "Bash", "tool_input": {"command": action.target}}
