"""Runs one scenario: executes its steps, waits for each expected state, and compares commands and turns at the end."""

import contextlib
import subprocess
import time
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from tests.real_client.board import History, ShownState
from tests.real_client.client import DIALOG_PAUSE, RETRY_SECONDS, TRIES, Client, Home
from tests.real_client.installation import Installation
from tests.real_client.model import ScriptedModel
from tests.real_client.scenario import Lines, PerVersion, Scenario
from tests.support import LIMIT_SECONDS, Reply, wait_until

SETTLE_SECONDS = 1.5
"""How long no other state may appear after the end. All files of the client are read within this time."""

NO_DAEMON_SECONDS = 1.0
"""The pause that replaces a check that needs a daemon."""


@dataclass(frozen=True)
class Timing:
    """How long the detection of a state took, and its source."""

    scenario: str
    version: str
    state: str
    source: str
    seconds: float


@dataclass
class Run:
    """One run of a scenario with one home."""

    scenario: Scenario
    installation: Installation
    home: Home
    model: ScriptedModel
    clients: list[Client] = field(default_factory=list)
    acted_at: float = 0.0
    timings: list[Timing] = field(default_factory=list)
    _seen: dict[str, int] = field(default_factory=dict)
    _known_requests: int = -1

    @property
    def version(self) -> str:
        """The client's version."""
        return self.home.version

    @property
    def client(self) -> Client:
        """The client that was started last."""
        return self.clients[-1]

    @property
    def has_daemon(self) -> bool:
        """Whether a daemon runs."""
        return self.installation.board.daemon is not None

    def execute(self) -> list[Timing]:
        """Execute all steps, close the terminals, and compare the recorded commands and turns."""
        try:
            for step in self.scenario.steps:
                step(self)
            self._close()
            self._compare("commands", self.scenario.expected.commands, "{outcome}: {text}")
            self._compare("turns", self.scenario.expected.turns, "{actor} {intent}: {text}")
        except AssertionError as error:
            error.add_note(self.report())
            raise
        finally:
            for client in self.clients:
                client.close()
            self.home.end_processes()
            for file in ("go", "go_on"):  # ends the tools that a killed client leaves running
                (self.home.project / file).touch()
        return self.timings

    # --- actions ---

    def act(self, action: Callable[[], object]) -> None:
        """Execute an action. The time of the next state is measured from here."""
        self.acted_at = time.time()
        action()

    def start(self, *options: str) -> None:
        """Start a client and wait for its prompt."""
        self.act(lambda: self.clients.append(self._open(*options)))
        self.client.wait_until_ready()

    def _open(self, *options: str) -> Client:
        return self.home.open_client(self.installation.terminals, self.model.url, *options)

    def start_daemon(self) -> None:
        """Start Headspace and measure from its first reply."""
        self.installation.start()
        self.act(lambda: None)

    def type(self, words: str, client: Client) -> None:
        """Type a prompt and send it."""
        client.write(words)
        self._known_requests = len(self.model.requests)
        self.act(client.send)

    def answer(self, option: str) -> None:
        """Choose an option of the dialog by its first word, or press a key; try again if the client dropped the key."""
        shown = wait_until(self.client.options, "a dialog")
        key = next((number for number, words in shown.items() if words.startswith(option)), option)
        for _ in range(TRIES):
            time.sleep(DIALOG_PAUSE)
            self.act(lambda: self.client.press(key))
            with contextlib.suppress(AssertionError):
                wait_until(lambda: self.client.options() != shown, "an effect", limit=RETRY_SECONDS)
                return

    def reply(self, answer: dict[str, object]) -> None:
        """Answer the open wait through the API, as soon as its hook is held."""
        wait_until(lambda: any(wait["held_until"] for wait in self.agent()["waits"]), "a wait that can be answered")
        [wait] = self.agent()["waits"]
        path = f"/api/waits/{wait['id']}/answer"
        self.act(lambda: self._accepted(self.installation.daemon.send("POST", path, answer, scope="act")))

    def grant(self, kinds: Collection[str]) -> None:
        """Allow the call of the open wait, and grant its suggestions of these kinds."""
        [wait] = self.agent()["waits"]
        suggestions = self.installation.daemon.get(f"/api/waits/{wait['id']}").json()["suggestions"]
        self.reply({"decision": "allow", "grant": [each["id"] for each in suggestions if each["kind"] in kinds]})

    def race(self, option: str, answer: dict[str, object]) -> None:
        """Answer in the terminal and through the API at the same time. A late API request gets 409."""
        shown = wait_until(self.client.options, "a dialog")
        key = next(number for number, words in shown.items() if words.startswith(option))
        [wait] = wait_until(
            lambda: [wait for wait in self.agent()["waits"] if wait["held_until"]], "a wait that can be answered"
        )
        time.sleep(DIALOG_PAUSE)
        path = f"/api/waits/{wait['id']}/answer"
        with ThreadPoolExecutor(1) as pool:
            pressed = pool.submit(self.client.press, key)
            self.act(lambda: None)
            reply = self.installation.daemon.send("POST", path, answer, scope="act")
            pressed.result()
        assert reply.status in (200, 409), reply.body

    def interrupt(self) -> None:
        """Stop the agent through the API."""
        path = f"/api/agents/{self.agent()['id']}/interrupt"
        self.acted_at = time.time()
        reply = self.installation.daemon.send("POST", path, {}, scope="act")
        self._accepted(reply)
        assert reply.json()["status"] == "confirmed", reply.body

    def _accepted(self, reply: Reply) -> None:
        assert reply.status == 200, reply.body

    def headless(self, *options: str) -> None:
        """Run a client without a terminal to its end."""
        env = {"PATH": "/usr/bin:/bin"}
        command = ["env", "-i", *self.home.command(self.model.url, *options)]
        self.act(lambda: None)
        done = subprocess.run(
            command,
            cwd=self.home.project,
            env=env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=LIMIT_SECONDS,
            check=False,
        )
        assert done.returncode == 0, done.stderr

    def reach(self, gate: str) -> None:
        """Wait until the model's reply is held at a gate."""
        wait_until(self.model.reached(gate).is_set, f"the model at {gate}")
        time.sleep(DIALOG_PAUSE)

    def find(self, file: str) -> None:
        """Wait for a file in the project."""
        wait_until((self.home.project / file).exists, f"the file {file}")

    # --- checks ---

    def agent(self, number: int = 0) -> dict[str, Any]:
        """An agent as the API shows it."""
        return self.installation.daemon.agent(self._history(number).agent_id)

    def _history(self, number: int) -> History:
        found = self.installation.board.histories(self.home.project)
        assert number < len(found), f"{len(found)} agents are shown"
        return found[number]

    def expect(self, state: str, number: int) -> None:
        """Wait for the next state of an agent and compare it."""
        if not self.has_daemon:
            self._expect_of_client(state)
            return
        shown = wait_until(lambda: self._next(number), f"agent {number} to be shown as {state!r}")
        assert shown is not None
        assert shown.state == state, f"agent {number} is shown as {shown.state!r}, and not as {state!r}"
        since = shown.happened_at if shown.source == "hook" else self.acted_at
        took = max(0.0, shown.seen_at - since)
        self.timings.append(Timing(self.scenario.name, self.version, state, shown.source, took))

    def allow(self, states: list[str], number: int) -> None:
        """Read all files, and skip these states of an agent if they were shown."""
        time.sleep(SETTLE_SECONDS if self.has_daemon else NO_DAEMON_SECONDS)
        if not self.has_daemon:
            return
        history = self._history(number)
        rest = [shown.state for shown in history.shown[self._seen.get(history.agent_id, 0) :]]
        assert rest in (states, []), f"states that were not expected: {rest}"
        self._seen[history.agent_id] = len(history.shown)

    def _next(self, number: int) -> ShownState | None:
        histories = self.installation.board.histories(self.home.project)
        if number >= len(histories):
            return None
        history = histories[number]
        at = self._seen.get(history.agent_id, 0)
        if at >= len(history.shown):
            return None
        self._seen[history.agent_id] = at + 1
        return history.shown[at]

    def _expect_of_client(self, state: str) -> None:
        """Without a daemon: wait until the client shows the state. A turn can be too short, but the model sees it."""
        if state == "working":
            wait_until(lambda: len(self.model.requests) > self._known_requests, "the model to get the prompt")
            self._known_requests = -1
        wait_until(lambda: self.client.shows(state.partition(":")[0], self.acted_at), f"the client to be {state!r}")

    def _wait_until_idle(self) -> None:
        """Without a daemon: pause, then wait until the client is quiet."""
        time.sleep(NO_DAEMON_SECONDS)
        wait_until(self.client.is_quiet, "an idle client")

    def expect_fields(self, number: int, fields: Mapping[str, object]) -> None:
        """Wait until the API shows these values."""
        if self.has_daemon:
            wait_until(lambda: {name: self._field(number, name) for name in fields} == fields, f"agent {fields}")
        else:
            self._wait_until_idle()

    def expect_child(self, child: int, parent: int) -> None:
        """Wait until the API shows the parent."""
        if self.has_daemon:
            self.expect_fields(child, {"parent_id": self._history(parent).agent_id})

    def expect_turn(self, words: str) -> None:
        """Wait until the agent has a turn with this text."""
        if self.has_daemon:
            wait_until(lambda: words in [turn["text"] for turn in self._rows(0, "turns")], f"the turn {words!r}")
        else:
            self._wait_until_idle()

    def expect_result(self, words: str) -> None:
        """The model received a tool result that contains this text."""
        assert any(words in result for result in self.model.results), self.model.results

    def expect_no_file(self, file: str) -> None:
        """The file does not exist in the project."""
        assert not (self.home.project / file).exists(), f"{file} exists"

    def _rows(self, number: int, what: str) -> list[dict[str, Any]]:
        path = f"/api/agents/{self._history(number).agent_id}/{what}"
        found: list[dict[str, Any]] = self.installation.daemon.get(path).json()
        return found

    def _field(self, number: int, name: str) -> object:
        found: Any = self.agent(number)
        for part in name.split("__"):
            found = [_part(item, part) for item in found] if isinstance(found, list) else _part(found, part)
        return found

    # --- the end ---

    def _close(self) -> None:
        """Close the terminals of all clients and wait until their agents have ended."""
        for client in self.clients:
            client.close()
        wait_until(lambda: not any(client.alive for client in self.clients), "the clients to end")
        if had_daemon := self.has_daemon:
            self.act(lambda: None)
        else:
            self.installation.start()
        wait_until(self._all_ended, "all agents to be shown as ended")
        time.sleep(SETTLE_SECONDS)
        for history in self.installation.board.histories(self.home.project) if had_daemon else []:
            rest = [shown.state for shown in history.shown[self._seen.get(history.agent_id, 0) :]]
            assert rest in (["ended"], []), f"states after the last step: {rest}"
        assert self._all_ended()

    def _all_ended(self) -> bool:
        histories = self.installation.board.histories(self.home.project)
        return bool(histories) and all(history.shown[-1].state == "ended" for history in histories)

    def _compare(self, what: str, expected: Lines | PerVersion, pattern: str) -> None:
        """Compare the recorded rows of all agents, line by line."""
        wanted = list(expected.lines(self.version) if isinstance(expected, PerVersion) else expected)
        found = [
            pattern.format(**row)
            for number in range(len(self.installation.board.histories(self.home.project)))
            for row in self._rows(number, what)
        ]
        assert found == wanted, f"{what}: {found}"

    def report(self) -> str:
        """The details that help to debug a failure."""
        parts = [f"--- {self.scenario.name}, {self.home.client_name} {self.version}, {self.home.root}"]
        for history in self.installation.board.histories(self.home.project):
            parts += [f"agent {history.agent_id}:", *(f"  {shown}" for shown in history.shown)]
        for client in self.clients:
            parts.append(f"--- screen of {client.pid} ({client.entry.get('status')})\n{client.screen}")
        return "\n".join(parts)


def _part(whole: Any, name: str) -> Any:
    return None if whole is None else whole[name]
