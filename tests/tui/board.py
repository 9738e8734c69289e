"""Sample agents at a fixed time, a feed that returns them, and actions that only record their calls.

The agents are built from the kernel's types and views, so they have all fields of real ones.
"""

import itertools
import json
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec

from claude_headspace.errors import BadRequest
from claude_headspace.kernel.agent import (
    Agent,
    AgentState,
    BackgroundTask,
    Command,
    Confidence,
    Evidence,
    Outcome,
    Project,
    Session,
    Subagent,
    ToolCall,
    Trigger,
    Wait,
)
from claude_headspace.kernel.envelope import SECOND, Micros
from claude_headspace.kernel.state_machine import CommandState
from claude_headspace.kernel.views.agent import agent_view
from claude_headspace.kernel.wait.request import Option, Question
from claude_headspace.surfaces.client.preview import Preview
from claude_headspace.surfaces.launch.detached import NewAgent
from claude_headspace.surfaces.text.board_order import BoardView
from claude_headspace.surfaces.text.formatting import Json
from claude_headspace.surfaces.tui.actions import ActionResult
from claude_headspace.surfaces.tui.app import Top
from claude_headspace.surfaces.tui.feed import FeedEvent

NOON: Micros = 1_772_460_000 * SECOND
"""2026-03-02 14:00 UTC."""

HOSTILE = "\x1b[31mred\x1b[0m \x1b]0;owned\x07 \x9b2J [red]markup[/red] \u202edetsrever 日本語"


def clock() -> datetime:
    """The current time in these tests."""
    return datetime.fromtimestamp(NOON / SECOND, UTC)


def ago(seconds: float) -> Micros:
    """A time before that."""
    return NOON - round(seconds * SECOND)


def iso_ago(seconds: float) -> str:
    """The same as text of the API."""
    return (clock() - timedelta(seconds=seconds)).isoformat()


def make_agent(name: str, state: str, since: float, project: str = "shop", branch: str = "main", **parts: Any) -> Json:
    """An agent as the API returns it."""
    agent = Agent(
        id=f"id-{name}",
        name=name,
        host="desk",
        client=parts.pop("client", "claude-code"),
        project=Project(f"p-{project}", project, f"/code/{project}"),
        created_at=ago(9000),
        cwd=f"/code/{project}",
        branch=branch,
        pid=4242,
        tmux_session="main",
        tmux_pane="%7",
        state=AgentState(state),
        state_since=ago(since),
        last_active_at=ago(min(since, 30)),
        evidence=Evidence("hook", Confidence.HIGH, ago(since), "AskUserQuestion waits"),
        model="claude-opus-5-5",
        session=Session(
            id=f"s-{name}",
            agent_id=f"id-{name}",
            ordinal=2,
            client_id=f"session-{name}",
            source="startup",
            started_at=ago(8000),
        ),
        **parts,
    )
    shown: Json = msgspec.json.decode(msgspec.json.encode(agent_view(agent)))
    return shown


def make_command(
    name: str, text: str, began: float, ended: float | None = None, outcome: Outcome | None = None
) -> Command:
    """A command of an agent."""
    return Command(
        id=f"c-{name}",
        agent_id=f"id-{name}",
        session_id=f"s-{name}",
        state=CommandState.COMPLETE if ended else CommandState.PROCESSING,
        trigger=Trigger.PROMPT,
        started_at=ago(began),
        text=text,
        ended_at=ago(ended) if ended else None,
        outcome=outcome or (Outcome.COMPLETED if ended else None),
    )


def tool_call(tool: str, summary: str, began: float) -> ToolCall:
    """A running tool call."""
    return ToolCall(id=f"t-{tool}", tool=tool, digest="", summary=summary, started_at=ago(began))


QUESTION = Question(
    "Which database should the tests use?",
    "Database",
    (Option("SQLite", "fast, in memory"), Option("PostgreSQL", "like production, needs Docker")),
)


def sample_agents() -> list[Json]:
    """One agent of each kind."""
    return [
        make_agent(
            "able-ant",
            "waiting",
            42,
            "infra",
            waiting_for="permission",
            context_percent=31.0,
            cost_usd=0.42,
            command=make_command("able-ant", "Free some disk space.", 300),
            waits=(
                Wait(
                    id="w1",
                    agent_id="id-able-ant",
                    kind="permission",
                    text="Bash: docker image prune --all",
                    tool="Bash",
                    summary="docker image prune --all",
                    opened_at=ago(42),
                ),
            ),
        ),
        make_agent(
            "nimble-kestrel",
            "waiting",
            190,
            waiting_for="question",
            context_percent=62.0,
            cost_usd=3.17,
            last_tool="AskUserQuestion",
            todos=("1", "2", "3"),
            todos_done=("1",),
            command=make_command("nimble-kestrel", "Add a test for expired cards.", 600),
            waits=(
                Wait(
                    id="w2",
                    agent_id="id-nimble-kestrel",
                    kind="question",
                    text=QUESTION.text,
                    questions=(QUESTION,),
                    tool="AskUserQuestion",
                    opened_at=ago(190),
                ),
            ),
        ),
        make_agent("olive-bee", "error", 480, error="rate_limit", context_percent=81.0, cost_usd=1.2, seen_at=ago(400)),
        make_agent(
            "snug-plover",
            "working",
            600,
            "api",
            "feat/auth",
            context_percent=48.0,
            cost_usd=2.05,
            last_tool="Bash",
            todos=("1", "2", "3", "4", "5"),
            todos_done=("1", "2"),
            calls=(tool_call("Bash", "npm test -- --watch=false", 12),),
            command=make_command("snug-plover", "Run the tests until they pass.", 600),
        ),
        make_agent(
            "sage-wombat",
            "working",
            95,
            "api",
            "feat/auth",
            context_percent=96.0,
            cost_usd=7.8,
            last_tool="Edit",
            calls=(tool_call("Edit", "/code/api/src/auth/session.py", 3),),
            subagents=(Subagent(id="sub", type="Explore", started_at=ago(60), description="find every caller"),),
            command=make_command("sage-wombat", "Move the session handling into its own module.", 95),
        ),
        make_agent(
            "golden-trout",
            "idle",
            300,
            "api",
            "feat/auth",
            context_percent=12.0,
            cost_usd=0.1,
            seen_at=ago(200),
            command=make_command("golden-trout", "Start the dev servers.", 400, 300),
            background=(
                BackgroundTask(id="b1", kind="shell", description="npm run dev", started_at=ago(350)),
                BackgroundTask(id="b2", kind="shell", description="redis-server", started_at=ago(340)),
            ),
        ),
        make_agent(
            "quick-elk",
            "idle",
            960,
            "docs",
            context_percent=22.0,
            cost_usd=0.35,
            command=make_command("quick-elk", "Check all links.", 1500, 960),
        ),
        make_agent("fresh-mole", "starting", 4, "docs"),
        make_agent("late-wren", "ended", 7200, "docs", ended_at=ago(7200), end_reason="prompt_input_exit"),
    ]


def make_turn(number: int, actor: str, text: str, seconds: float, agent: str = "id-nimble-kestrel") -> Json:
    """A turn."""
    return {
        "turn_id": f"t{number}",
        "agent_id": agent,
        "project_id": "p-shop",
        "command_id": "c",
        "actor": actor,
        "intent": "COMMAND" if actor == "USER" else "PROGRESS",
        "text": text,
        "timestamp": iso_ago(seconds),
        "timestamp_source": "server",
        "reason": "",
    }


def conversation(agent: str) -> list[Json]:
    """The turns of an agent."""
    return [
        make_turn(1, "USER", "Add a test for expired cards, then let the checkout refuse them.", 600, agent),
        make_turn(2, "AGENT", "I read the checkout first. Cards are only checked when they are saved.", 420, agent),
        make_turn(3, "AGENT", "The tests need a database that is not there yet, so I have to ask.", 195, agent),
    ]


def states(_agent: str) -> list[Json]:
    """The states of an agent, with their evidence."""
    common = {"source": "hook", "confidence": "high", "waiting_for": None}
    return [
        {**common, "seq": 1, "at": iso_ago(600), "state": "working", "why": "a prompt was submitted", "event": "x"},
        {**common, "seq": 2, "at": iso_ago(190), "state": "waiting", "why": "AskUserQuestion waits", "event": "y"},
    ]


class FixedFeed:
    """A feed with fixed agents. Tests can emit more events."""

    def __init__(self, agents: Sequence[Json] | None = None) -> None:
        self._agents = list(sample_agents() if agents is None else agents)
        self._events: list[FeedEvent] = []
        self._on_update: Callable[[], object] = lambda: None
        self.details_requests: list[str] = []
        self.reloads = 0

    def start(self, on_update: Callable[[], object]) -> None:
        self._on_update = on_update
        self.emit(FeedEvent("loaded", {}, tuple(dict(agent) for agent in self._agents)))

    def drain(self) -> list[FeedEvent]:
        events, self._events = self._events, []
        return events

    def reload(self) -> None:
        self.reloads += 1

    def details(self, agent_id: str) -> tuple[list[Json], list[Json]]:
        self.details_requests.append(agent_id)
        return conversation(agent_id), states(agent_id)

    def emit(self, *events: FeedEvent) -> None:
        """Emit events."""
        self._events += events
        self._on_update()

    def change(self, agent_id: str, kind: str = "agent_updated", **changes: Any) -> None:
        """Emit a change of an agent."""
        data = {"agent_id": agent_id, "changes": changes}
        if kind == "state_changed":
            data |= {"state": changes["state"], "name": agent_id.removeprefix("id-")}
        self.emit(FeedEvent(kind, data))


SAMPLE_CHANGES: Json = {
    "commits": [{"id": "0123456789abcdef", "subject": "Rename the button", "at": iso_ago(60)}],
    "files": [
        {
            "path": "src/button.py",
            "old_path": None,
            "status": "modified",
            "added": 1,
            "removed": 1,
            "source": "tool",
            "complete": True,
            "left_out": 0,
            "diff": "--- a/src/button.py\n+++ b/src/button.py\n@@ -1,2 +1,2 @@\n-old\n+new \u202e\x1b[31m\n kept\n",
        }
    ],
    "added": 1,
    "removed": 1,
    "complete": True,
    "left_out": 0,
    "git_problem": None,
}
"""What an agent changed, with hidden characters."""


def make_hit(agent: str, text: str) -> Json:
    """A search result with a matching text."""
    snippet = [{"text": "we need ", "match": False}, {"text": text, "match": True}]
    return {
        "agent_id": f"id-{agent}",
        "agent": agent,
        "project": "shop",
        "kind": "prompt",
        "tool": None,
        "at": iso_ago(600),
        "snippet": snippet,
    }


class RecordingActions:
    """Actions that only record their calls."""

    def __init__(self) -> None:
        self.recorded: list[tuple[str, ...]] = []
        self.is_failing = False
        self.requests: dict[str, Json] = {}
        """By wait: parts of its details that differ from the plain ones."""
        self.hits: list[Json] = []
        """What a search can find."""
        self.view = BoardView()
        """The stored view."""
        self.previews: list[str] = []
        """The agents whose preview was read."""
        self.screens: dict[str, Preview] = {}
        """By agent: its preview."""

    def _record(self, *call: str) -> ActionResult:
        self.recorded.append(call)
        if self.is_failing:
            raise BadRequest("failed", "It does not run in tmux.", "Start it with `headspace run`.")
        return ActionResult(f"{call[0]}: done")

    def jump(self, agent: Json) -> ActionResult:
        return self._record("jump", agent["name"])

    def send(self, agent: Json, text: str, *, when_idle: bool = False) -> ActionResult:
        return self._record("send", agent["name"], text, *(["when idle"] if when_idle else []))

    def send_all(self, agents: Sequence[Json], text: str, *, when_idle: bool = False) -> list[str]:
        self._record("send_all", *(agent["name"] for agent in agents), text, *(["when idle"] if when_idle else []))
        return [f"{agent['name']} received the prompt." for agent in agents]

    def cancel_prompt(self, agent: Json, prompt: Json) -> ActionResult:
        return self._record("cancel_prompt", agent["name"], prompt["id"])

    def saved_prompts(self) -> list[str]:
        return ["Review it.", "Test it."]

    def answer(self, agent: Json, wait: Json, answer: dict[str, Any]) -> ActionResult:
        return self._record("answer", agent["name"], wait["id"], json.dumps(answer))

    def request(self, wait: Json, *, everything: bool = False) -> Json:
        self.recorded.append(("request", wait["id"], str(everything)))
        request = {
            "text": wait["summary"] or wait["text"],
            "diff": "",
            "arguments": {},
            "complete": True,
            "left_out": 0,
        }
        plain = {"request": request, "hidden_characters": [], "suggestions": []}
        return {**wait, **plain, **self.requests.get(wait["id"], {})}

    def worktree(self, agent: Json, what: str) -> ActionResult:
        return self._record("worktree", agent["name"], what)

    def interrupt(self, agent: Json) -> ActionResult:
        return self._record("interrupt", agent["name"])

    def resume(self, agent: Json) -> ActionResult:
        return self._record("resume", agent["name"])

    def new(self, wanted: NewAgent) -> ActionResult:
        return self._record("new", wanted.directory, wanted.client, wanted.permission_mode, wanted.prompt)

    def fork(self, agent: Json, prompt: str) -> ActionResult:
        return self._record("fork", agent["name"], prompt)

    def stop(self, agent: Json) -> ActionResult:
        return self._record("stop", agent["name"])

    def rename(self, agent: Json, name: str) -> ActionResult:
        return self._record("rename", agent["name"], name)

    def note(self, agent: Json, text: str) -> ActionResult:
        return self._record("note", agent["name"], text)

    def archive(self, agent: Json) -> ActionResult:
        return self._record("archive", agent["name"])

    def changes(self, agent: Json) -> Json:
        self._record("changes", agent["name"])
        return SAMPLE_CHANGES

    def preview(self, agent: Json) -> Preview:
        self.previews.append(agent["name"])
        return self.screens.get(agent["name"]) or Preview(None, problem="It has no terminal.", turns=conversation("x"))

    def search(self, text: str) -> Json:
        self.recorded.append(("search", text))
        return {
            "hits": [hit for hit in self.hits if text in hit["snippet"][1]["text"]],
            "next": None,
            "hint": "Try less.",
        }

    def find(self, agent_id: str) -> Json:
        return make_agent(agent_id.removeprefix("id-"), "ended", 90_000)

    def load_view(self) -> BoardView:
        return self.view

    def save_view(self, view: BoardView) -> None:
        self.view = view

    def mark_seen(self, agent: Json) -> None:
        self.recorded.append(("mark_seen", agent["name"]))

    def should_ring(self, agent: Json) -> bool:
        self.recorded.append(("should_ring", agent["name"]))
        return False


class Ticks:
    """A clock that stands still until a test moves it."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def make_app(
    feed: FixedFeed | None = None,
    actions: RecordingActions | None = None,
    palette: str = "dark",
    monotonic: Callable[[], float] | None = None,
) -> Top:
    """The app with a fixed board. By default a second passes between any two things that happen."""
    passing = itertools.count().__next__
    return Top(feed or FixedFeed(), actions or RecordingActions(), clock, palette, monotonic=monotonic or passing)


def screen_text(app: Top) -> str:
    """The screen as plain text."""
    size = app.size
    strips = app.screen._compositor.render_strips()
    return "\n".join(strip.text.rstrip() for strip in strips[: size.height])
