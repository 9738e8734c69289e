"""A simulated session of Gemini CLI: hooks and a chat file, in the format of 0.61.0. Pure."""

from typing import Any

from claude_headspace.clients.simulation import Action, Json, Profile, Told, ToldSession


class GeminiSession(ToldSession):
    """One session of Gemini CLI."""

    client = "gemini"

    def __init__(self, profile: Profile, seed: int, home: str, user_home: str) -> None:
        super().__init__(profile, seed, home, user_home)
        chats = f"{user_home}/.gemini/tmp/{profile.project}/chats"
        self.transcript = f"{chats}/session-2026-01-05T09-00-{self.id[:8]}.jsonl"

    def _payload(self, event: str, *lines: Json, **fields: Any) -> Told:
        payload: Json = {
            "session_id": self.id,
            "transcript_path": self.transcript,
            "cwd": self.cwd,
            "hook_event_name": event,
            **fields,
        }
        return Told(event, payload, lines)

    def _message(self, kind: str, content: Any, **fields: Any) -> Json:
        return {"id": self.new_uuid(), "type": kind, "content": content, **fields}

    def started(self) -> list[Told]:
        """The chat file begins with a header."""
        header = {"sessionId": self.id, "projectHash": self.new_id(""), "kind": "main"}
        return [self._payload("SessionStart", header, source="startup")]

    def prompted(self) -> list[Told]:
        """The chat file has the prompt, too."""
        return [self._payload("BeforeAgent", self._message("user", [{"text": self.prompt}]), prompt=self.prompt)]

    def called(self, action: Action) -> list[Told]:
        """Calls have no ids."""
        return [self._payload("BeforeTool", **_call(action))]

    def asked(self, action: Action) -> list[Told]:
        """A notification reports the dialog."""
        details = {"type": "exec", "title": "Confirm Shell Command", "command": action.target}
        details["rootCommand"] = action.target.partition(" ")[0]
        message = "Tool Confirm Shell Command requires execution"
        return [self._payload("Notification", notification_type="ToolPermission", message=message, details=details)]

    def finished(self, action: Action) -> list[Told]:
        """The result is what the model gets, and what the terminal shows."""
        response = {"llmContent": action.result, "returnDisplay": action.result}
        return [self._payload("AfterTool", **_call(action), tool_response=response)]

    def stopped(self, text: str) -> list[Told]:
        """The reply in the chat file confirms the end of the turn."""
        tokens = {"input": round(self.tokens), "output": 240, "cached": 0, "total": round(self.tokens) + 240}
        reply = self._message("gemini", text, thoughts=[], tokens=tokens, model=self.profile.model)
        return [self._payload("AfterAgent", reply, prompt=self.prompt, prompt_response=text, stop_hook_active=False)]


def _call(action: Action) -> Json:
    if action.is_edit:
        given = {"file_path": action.target, "old_string": action.old, "new_string": action.new}
        return {"tool_name": "replace", "tool_input": given}
    return {"tool_name": "run_shell_command", "tool_input": {"command": action.target}}
