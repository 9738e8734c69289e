"""A scenario on its way: steps are taken one after the other, each state is waited for, and the end is compared."""

import contextlib
import subprocess
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from tests.real_client.board import History, Shown
from tests.real_client.client import DIALOG_PAUSE, RETRY_SECONDS, TRIES, Client, Home
from tests.real_client.house import House
from tests.real_client.model import ScriptedModel
from tests.real_client.scenario import Each, Lines, Scenario
from tests.support import LIMIT_SECONDS, Reply, wait_until

SETTLE_SECONDS = 1.5
"""How long nothing more may be shown after the end. What a client leaves behind is read long before."""

PACE = {"idle": ("idle", "shell"), "waiting": ("waiting", "idle"), "error": ("idle",)}
"""What the client's own registry says in a state: the pace of a scenario that nobody hears."""
UNHEARD_SECONDS = 1.0
"""What is waited for something that only Headspace could show."""


@dataclass(frozen=True)
class Timing:
    """How long a state took from the moment it could be known, and who told it."""

    scenario: str
    version: str
    state: str
    source: str
    seconds: float


@dataclass
class Run:
    """One scenario with one client."""

    scenario: Scenario
    house: House
    home: Home
    model: ScriptedModel
    clients: list[Client] = field(default_factory=list)
    acted_at: float = 0.0
    timings: list[Timing] = field(default_factory=list)
    _seen: dict[str, int] = field(default_factory=dict)

    @property
    def version(self) -> str:
        """The client's version."""
        return self.home.version

    @property
    def client(self) -> Client:
        """The one that was started last."""
        return self.clients[-1]

    @property
    def heard(self) -> bool:
        """Whether a daemon runs."""
        return self.house.board.daemon is not None

    def play(self) -> list[Timing]:
        """Take all steps, close the terminals, and compare what was understood with what happened."""
        try:
            for step in self.scenario.steps:
                step(self)
            self._close()
            self._compare("commands", self.scenario.end.commands, "{outcome}: {text}")
            self._compare("turns", self.scenario.end.turns, "{actor} {intent}: {text}")
        except AssertionError as error:
            error.add_note(self.report())
            raise
        finally:
            for client in self.clients:
                client.close()
            for file in ("go", "go_on"):  # a killed client leaves its tools running: they end here
                (self.home.project / file).touch()
        return self.timings

    # --- doing ---

    def act(self, deed: Callable[[], object]) -> None:
        """Do something: what is shown next is measured from here."""
        self.acted_at = time.time()
        deed()

    def start(self, *options: str) -> None:
        """Start a client, and wait for its prompt."""
        self.act(lambda: self.clients.append(Client(self.house.terminals, self.home, self.model.url, *options)))
        self.client.wait_until_ready()

    def start_daemon(self) -> None:
        """Start Headspace; from when it answers it must know."""
        self.house.start()
        self.act(lambda: None)

    def type(self, words: str, client: Client) -> None:
        """Write a prompt and send it off."""
        client.write(words)
        self.act(client.send)

    def answer(self, option: str) -> None:
        """Choose an option of the dialog by its first word, or press a key; again, if the client did not take it."""
        shown = wait_until(self.client.options, "a dialog")
        key = next((number for number, words in shown.items() if words.startswith(option)), option)
        for _ in range(TRIES):
            time.sleep(DIALOG_PAUSE)
            self.act(lambda: self.client.press(key))
            with contextlib.suppress(AssertionError):
                wait_until(lambda: self.client.options() != shown, "an effect", limit=RETRY_SECONDS)
                return

    def reply(self, answer: dict[str, object]) -> None:
        """Answer the open wait through the API, once the client holds it open."""
        wait_until(lambda: any(wait["held_until"] for wait in self.agent()["waits"]), "a wait that can be answered")
        [wait] = self.agent()["waits"]
        path = f"/api/waits/{wait['id']}/answer"
        self.act(lambda: self._accepted(self.house.daemon.send("POST", path, answer, scope="act")))

    def race(self, option: str, answer: dict[str, object]) -> None:
        """Answer in the terminal and through the API at one moment; whoever comes too late is told so."""
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
            reply = self.house.daemon.send("POST", path, answer, scope="act")
            pressed.result()
        assert reply.status in (200, 409), reply.body

    def interrupt(self) -> None:
        """Stop the agent through the API."""
        path = f"/api/agents/{self.agent()['id']}/interrupt"
        self.acted_at = time.time()
        reply = self.house.daemon.send("POST", path, {}, scope="act")
        self._accepted(reply)
        assert reply.json()["status"] == "confirmed", reply.body

    def _accepted(self, reply: Reply) -> None:
        assert reply.status == 200, reply.body

    def headless(self, *options: str) -> None:
        """Run a client that has no terminal, to its end."""
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
        """Wait until the model is held."""
        wait_until(self.model.reached(gate).is_set, f"the model at {gate}")
        time.sleep(DIALOG_PAUSE)

    def find(self, file: str) -> None:
        """Wait for a file in the project."""
        wait_until((self.home.project / file).exists, f"the file {file}")

    # --- looking ---

    def agent(self, number: int = 0) -> dict[str, Any]:
        """An agent as the API shows it."""
        return self.house.daemon.agent(self._history(number).agent_id)

    def _history(self, number: int) -> History:
        found = self.house.board.histories(self.home.project)
        assert number < len(found), f"{len(found)} agents are shown"
        return found[number]

    def expect(self, state: str, number: int) -> None:
        """Wait for the next state of an agent, which must be this one."""
        if not self.heard:
            self._pace(state)
            return
        shown = wait_until(lambda: self._next(number), f"agent {number} to be shown as {state!r}")
        assert shown is not None
        assert shown.state == state, f"agent {number} is shown as {shown.state!r}, and not as {state!r}"
        since = shown.happened if shown.told_by == "hook" else self.acted_at
        took = max(0.0, shown.seen - since)
        self.timings.append(Timing(self.scenario.name, self.version, state, shown.told_by, took))

    def _next(self, number: int) -> Shown | None:
        histories = self.house.board.histories(self.home.project)
        if number >= len(histories):
            return None
        history = histories[number]
        at = self._seen.get(history.agent_id, 0)
        if at >= len(history.shown):
            return None
        self._seen[history.agent_id] = at + 1
        return history.shown[at]

    def _pace(self, state: str) -> None:
        """Nobody hears what happens: wait for the client itself."""
        wait_until(lambda: self._is_at(state.partition(":")[0]), f"the client to be {state!r}")

    def _let_it_come_to_rest(self) -> None:
        """Nobody shows that something has happened: give it time, and let the client be done with it."""
        time.sleep(UNHEARD_SECONDS)
        wait_until(
            lambda: time.time() - self.client.entry.get("statusUpdatedAt", 0) / 1000 > UNHEARD_SECONDS, "a quiet client"
        )

    def _is_at(self, state: str) -> bool:
        """Whether the client's entry says so, as it is since the last deed; work may be over by the time we look."""
        if state == "ended":
            return not self.client.alive
        entry = self.client.entry
        is_new = entry.get("statusUpdatedAt", 0) > self.acted_at * 1000
        return is_new and (state == "working" or entry.get("status") in PACE[state])

    def expect_fields(self, number: int, fields: Mapping[str, object]) -> None:
        """Wait until the API shows these."""
        if self.heard:
            wait_until(lambda: {name: self._field(number, name) for name in fields} == fields, f"agent {fields}")
        else:
            self._let_it_come_to_rest()

    def expect_child(self, child: int, parent: int) -> None:
        """Wait until the API shows whose child it is."""
        if self.heard:
            self.expect_fields(child, {"parent_id": self._history(parent).agent_id})

    def expect_turn(self, words: str) -> None:
        """Wait until somebody said this."""
        if self.heard:
            wait_until(lambda: words in [turn["text"] for turn in self._rows(0, "turns")], f"{words!r} to be heard")
        else:
            self._let_it_come_to_rest()

    def expect_result(self, words: str) -> None:
        """The model has read this as what came of a tool."""
        assert any(words in result for result in self.model.results), self.model.results

    def expect_no_file(self, file: str) -> None:
        """Nothing made this file in the project."""
        assert not (self.home.project / file).exists(), f"{file} was made"

    def _rows(self, number: int, what: str) -> list[dict[str, Any]]:
        path = f"/api/agents/{self._history(number).agent_id}/{what}"
        found: list[dict[str, Any]] = self.house.daemon.get(path).json()
        return found

    def _field(self, number: int, name: str) -> object:
        found: Any = self.agent(number)
        for part in name.split("__"):
            found = [_part(item, part) for item in found] if isinstance(found, list) else _part(found, part)
        return found

    # --- the end ---

    def _close(self) -> None:
        """Take the terminals of all clients that still run away: their agents end."""
        for client in self.clients:
            client.close()
        wait_until(lambda: not any(client.alive for client in self.clients), "the clients to end")
        if was_heard := self.heard:
            self.act(lambda: None)
        else:
            self.house.start()
        wait_until(self._all_ended, "all agents to be shown as ended")
        time.sleep(SETTLE_SECONDS)
        for history in self.house.board.histories(self.home.project) if was_heard else []:
            rest = [shown.state for shown in history.shown[self._seen.get(history.agent_id, 0) :]]
            assert rest in (["ended"], []), f"after the last step is shown: {rest}"
        assert self._all_ended()

    def _all_ended(self) -> bool:
        histories = self.house.board.histories(self.home.project)
        return bool(histories) and all(history.shown[-1].state == "ended" for history in histories)

    def _compare(self, what: str, expected: Lines | Each, pattern: str) -> None:
        """All that was understood of all agents, line by line."""
        wanted = list(expected.of(self.version) if isinstance(expected, Each) else expected)
        found = [
            pattern.format(**row)
            for number in range(len(self.house.board.histories(self.home.project)))
            for row in self._rows(number, what)
        ]
        assert found == wanted, f"{what}: {found}"

    def report(self) -> str:
        """What somebody who looks for a fault wants to see."""
        parts = [f"--- {self.scenario.name}, Claude Code {self.version}, {self.home.root}"]
        for history in self.house.board.histories(self.home.project):
            parts += [f"agent {history.agent_id}:", *(f"  {shown}" for shown in history.shown)]
        for client in self.clients:
            parts.append(f"--- screen of {client.pid} ({client.entry.get('status')})\n{client.screen}")
        return "\n".join(parts)


def _part(whole: Any, name: str) -> Any:
    return None if whole is None else whole[name]
