"""Agents that worked, waited and rested over some hours, for the timeline."""

import time
from typing import Any

from tests.support import RunningDaemon

HOSTILE = '<img src=x onerror="window.hacked = 1"> \u202egnp.exe'


class Past:
    """Sends hooks that fired some minutes ago."""

    def __init__(self, daemon: RunningDaemon) -> None:
        self._daemon = daemon
        self._now = time.time()

    def post(self, session: str, minutes: float, hook: str, **payload: Any) -> str:
        """Send a hook of a session, which works in a project of its name. Returns the id of the agent."""
        fired = {"X-Headspace-Fired-At": f"{self._now - minutes * 60:.6f}"}
        known = {"session_id": session, "cwd": f"/home/sam/{session}"}
        reply = self._daemon.post(hook, known | payload, fired)
        assert reply.status == 200, reply.body
        found: str = reply.json()["agent_id"]
        return found

    def turn(self, session: str, begin: float, end: float, prompt: str = "Fix it", text: str = "Done.") -> str:
        """A prompt and the end of its turn."""
        self.post(session, begin, "user-prompt-submit", prompt=prompt)
        return self.post(session, end, "stop", last_assistant_message=text)


def create(daemon: RunningDaemon) -> dict[str, str]:
    """Agents in six projects. Returns their ids by session."""
    past = Past(daemon)
    ids = {}
    for number, project in enumerate(("shop", "shop", "api", "api", "api", "infra")):
        session = f"{project}-{number}"
        past.turn(session, 340 - 9 * number, 310 - 7 * number, "Split the settings page into tabs")
        past.turn(session, 60 - 3 * number, 45 - 3 * number, "Now the tests", "Shall I commit?")
        past.turn(session, 30 - 2 * number, 22 - 2 * number, "Yes")
        ids[session] = past.turn(session, 18 - 2 * number, 14 - 2 * number, HOSTILE if number == 5 else "And the docs")
    helper = {"agent_id": "sub-1", "agent_type": "explorer"}
    past.post("shop-0", 5, "user-prompt-submit", prompt="Look around")
    past.post("shop-0", 4.5, "subagent-start", **helper)
    past.post("shop-0", 3, "subagent-stop", **helper)
    past.post("shop-1", 4, "stop", last_assistant_message="Which colour?")
    past.post("api-2", 3, "user-prompt-submit", prompt="Again")
    past.post("api-2", 2, "stop-failure", error="rate_limit", last_assistant_message="API Error: 429")
    ids["rest-9"] = past.post("rest-9", 300, "session-start", source="startup")
    return ids
