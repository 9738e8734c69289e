"""A simulated session of opencode: the reports of its plugin, in the format of 1.18.33. Pure."""

from typing import Any

from claude_headspace.clients.simulation import Action, Json, Profile, Told, ToldSession

WINDOW_TOKENS = 200_000
DOLLARS_PER_REPLY = 0.04


class OpencodeSession(ToldSession):
    """One session of opencode."""

    client = "opencode"
    holds_dialogs = True

    def __init__(self, profile: Profile, seed: int, home: str, user_home: str) -> None:
        super().__init__(profile, seed, home, user_home)
        self.id = self.new_id("ses_")
        self._request_id = ""
        self._cost = 0.0

    def _payload(self, name: str, /, **fields: Any) -> Told:
        return Told(name, {"session_id": self.id, "cwd": self.cwd, "turn_id": self.turn_id, **fields})

    def _status(self, status: str, **fields: Any) -> Told:
        return self._payload("session.status", event={"sessionID": self.id, "status": {"type": status}}, **fields)

    def started(self) -> list[Told]:
        """The session is created with its first prompt."""
        info = {"id": self.id, "directory": self.cwd, "agent": "build", "model": {"id": self.profile.model}}
        return [self._payload("session.created", source="startup", event={"sessionID": self.id, "info": info})]

    def prompted(self) -> list[Told]:
        """The prompt, then the status."""
        event = {"message": {"id": self.turn_id, "role": "user"}, "parts": [{"type": "text", "text": self.prompt}]}
        return [self._payload("chat.message", event=event), self._status("busy")]

    def called(self, action: Action) -> list[Told]:
        """A call has an id."""
        return [self._payload("tool.execute.before", **self._call(action))]

    def asked(self, action: Action) -> list[Told]:
        """A dialog has an id of its own."""
        self._request_id = self.new_id("per_")
        word = action.target.partition(" ")[0]
        event = {
            "id": self._request_id,
            "sessionID": self.id,
            "permission": "bash",
            "patterns": [action.target],
            "always": [f"{word} *"],
            "metadata": {"command": action.target},
            "tool": {"callID": self.call_id},
        }
        return [self._payload("permission.asked", **self._call(action), event=event)]

    def allowed(self) -> list[Told]:
        """Every answer is reported."""
        return [self._replied("once")]

    def denied(self, action: Action) -> list[Told]:
        """A rejection ends the turn."""
        error = "The user rejected permission to use this specific tool call."
        rejected = self._payload("tool.error", **self._call(action), error=error, after_turn=False)
        return [self._replied("reject"), rejected, self._status("idle", failed=True)]

    def is_denied(self, output: Json) -> bool:
        """Whether the answer rejects the call."""
        answer = output.get("answer")
        return isinstance(answer, dict) and answer.get("reply") == "reject"

    def _replied(self, reply: str) -> Told:
        event = {"sessionID": self.id, "requestID": self._request_id, "reply": reply}
        return self._payload("permission.replied", event=event)

    def finished(self, action: Action) -> list[Told]:
        """The result has the output of a command."""
        response = {"title": action.target, "metadata": {"exit": 0}, "output": action.result}
        return [self._payload("tool.execute.after", **self._call(action), tool_response=response, after_turn=False)]

    def stopped(self, text: str) -> list[Told]:
        """Usage and cost, then the status with the last text."""
        self._cost += DOLLARS_PER_REPLY
        tokens = {"input": round(self.tokens), "output": 240, "reasoning": 0, "cache": {"read": 0, "write": 0}}
        usage = {"modelID": self.profile.model, "tokens": tokens, "window": WINDOW_TOKENS}
        return [
            self._payload("message.updated", event=usage),
            self._payload("session.cost", cost=round(self._cost, 4)),
            self._status("idle", message=text),
        ]

    def _call(self, action: Action) -> Json:
        if not action.is_edit:
            call: Json = {"tool_name": "bash", "tool_input": {"command": action.target}}
        else:
            given = {"filePath": action.target, "oldString": action.old, "newString": action.new}
            call = {"tool_name": "edit", "tool_input": given}
        return {**call, "tool_use_id": self.call_id}
