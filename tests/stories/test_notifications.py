"""Being called: at the right moment, once, with the reason. A web hook on loopback takes what Apprise sends."""

import contextlib
import json
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.postgres import Postgres
from tests.receivers import SECRET, Receiver, desktop_session, receiver
from tests.support import LIMIT_SECONDS, RunningDaemon, environment, running_daemon, running_daemon_in, wait_until
from tests.terminals import needs_tmux, terminal

BASH: dict[str, Any] = {"tool_name": "Bash", "tool_input": {"command": "make deploy"}}
CHANNEL = '[channels.{name}]\nurl = "{url}"\nspacing = 0\n'


def channel(name: str, phone: Receiver, more: str = "") -> str:
    """A channel that leads to a receiver."""
    return CHANNEL.format(name=name, url=phone.url) + more


def write_rules(home: Path, *parts: str) -> None:
    """How the user wants to be called."""
    home.mkdir(parents=True, exist_ok=True)
    (home / "notify.toml").write_text("\n".join(parts))


@contextlib.contextmanager
def daemon_with(home: Path, *parts: str, env: dict[str, str] | None = None) -> Iterator[RunningDaemon]:
    """A daemon with these rules."""
    write_rules(home, *parts)
    with running_daemon_in(home, environment(home) | (env or {})) as daemon:
        yield daemon


@pytest.fixture
def phone() -> Iterator[Receiver]:
    """Where the calls arrive."""
    with receiver() as made:
        yield made


@pytest.fixture
def desk() -> Iterator[Receiver]:
    """Where other calls arrive."""
    with receiver() as made:
        yield made


def hook(daemon: RunningDaemon, event: str, session: str = "s1", **payload: Any) -> dict[str, Any]:
    """A hook of a client."""
    body = {"session_id": session, "cwd": f"/projects/{session}", **payload}
    answer: dict[str, Any] = daemon.post(event, body).json()
    return answer


def ask(daemon: RunningDaemon, session: str = "s1") -> str:
    """A client asks for a permission; its agent's id."""
    hook(daemon, "session-start", session, source="startup")
    hook(daemon, "user-prompt-submit", session, prompt="Deploy it")
    hook(daemon, "pre-tool-use", session, tool_use_id="t1", **BASH)
    agent_id: str = hook(daemon, "permission-request", session, **BASH)["agent_id"]
    return agent_id


def go_on(daemon: RunningDaemon, session: str = "s1") -> None:
    """Somebody answered in the terminal."""
    hook(daemon, "post-tool-use", session, tool_use_id="t1", **BASH)


def notices(daemon: RunningDaemon) -> list[dict[str, Any]]:
    """What was sent, the newest first."""
    return [each["notice"] for each in daemon.get("/api/notifications").json()["notices"]]


def held(daemon: RunningDaemon) -> dict[str, str]:
    """What is held back: why, by its title."""
    return {each["title"]: each["why"] for each in daemon.get("/api/notifications").json()["held"]}


def status(daemon: RunningDaemon, wanted: str) -> dict[str, Any]:
    """The newest notice, once it is so far."""

    def found() -> list[dict[str, Any]]:
        return [each for each in notices(daemon)[:1] if each["status"] == wanted]

    return wait_until(found, f"a notice that is {wanted}")[0]


def headspace(daemon: RunningDaemon, *arguments: str) -> "subprocess.CompletedProcess[str]":
    """A command of the daemon's home."""
    return subprocess.run(
        [sys.executable, "-m", "claude_headspace", *arguments],
        env=environment(daemon.home),
        capture_output=True,
        text=True,
        timeout=LIMIT_SECONDS,
        check=False,
    )


def look(daemon: RunningDaemon, agent_id: str | None, *, visible: bool = True) -> None:
    """A page says what it shows."""
    told = {"page": "p1", "agent_id": agent_id, "visible": visible}
    assert daemon.send("POST", "/api/presence", told, scope="act").status == 200


# --- once, with the reason --------------------------------------------------------------------------------------------


def test_a_call_says_who_where_what_and_how_to_answer(tmp_path: Path, phone: Receiver) -> None:
    """One message: the agent, what it wants, the project, and the link to its page."""
    reached = {"HEADSPACE_PUBLIC_URL": "https://headspace.example"}
    with daemon_with(tmp_path, channel("phone", phone), env=reached) as daemon:
        agent = daemon.agent(ask(daemon))
        (call,) = phone.wait(1)
        assert call["title"] == f"{agent['name']} wants to run"
        assert call["message"].splitlines() == [
            "make deploy",
            f"in s1 on {agent['host']}",
            f"https://headspace.example/agents/{agent['id']}",
        ]
        sent = status(daemon, "delivered")
        assert (sent["channel"], sent["kind"], sent["attempts"], sent["failure"]) == ("phone", "waiting", 1, "")
        assert daemon.agent(agent["id"])["notices"] == [sent]


def test_a_need_is_told_once_however_often_it_is_heard(tmp_path: Path, phone: Receiver) -> None:
    """The same dialog told again, more of the same agent, a rebuild of everything and a restart: one call."""
    with daemon_with(tmp_path, channel("phone", phone)) as daemon:
        ask(daemon)
        phone.wait(1)
        status(daemon, "delivered")
        hook(daemon, "permission-request", **BASH)
        hook(daemon, "notification", notification_type="permission_prompt", message="Claude needs your permission")
        assert daemon.send("POST", "/api/admin/db/rebuild", scope="admin").status == 200
        assert daemon.verified()
    with daemon_with(tmp_path, channel("phone", phone)) as again:
        ask(again, "s2")
        phone.wait(2)
        assert [title.split()[1:] for title in phone.titles] == [["wants", "to", "run"]] * 2
        assert len({each["need"] for each in notices(again)}) == 2


def test_an_answer_elsewhere_settles_it(tmp_path: Path, phone: Receiver, desk: Receiver) -> None:
    """The notice says how it ended; a channel that wants to know is told, the other hears nothing more."""
    rules = '[waiting]\nto = [["phone", "desk"]]\n'
    parts = (rules, channel("phone", phone, "tell_over = true\n"), channel("desk", desk))
    with daemon_with(tmp_path, *parts) as daemon:
        ask(daemon)
        phone.wait(1)
        desk.wait(1)
        wait_until(lambda: all(each["status"] == "delivered" for each in notices(daemon)), "both delivered")
        go_on(daemon)
        assert phone.wait(2)[1]["title"].startswith("Resolved: ")
        assert status(daemon, "over")["outcome"] == "the tool ran"
        assert len(desk.messages) == 1


def test_what_is_answered_in_time_is_never_told(tmp_path: Path, phone: Receiver) -> None:
    """A rule that waits a minute: the answer comes first, and why nobody was called can be seen."""
    with daemon_with(tmp_path, channel("phone", phone), '[waiting]\nafter = "1m"\n') as daemon:
        ask(daemon)
        wait_until(lambda: "not due yet" in held(daemon).values(), "a call that is held back")
        go_on(daemon)
        unsent = wait_until(lambda: daemon.get("/api/notifications").json()["unsent"], "a need that came and went")
        assert [each["why"] for each in unsent] == ["not due yet"]
        assert (phone.messages, notices(daemon)) == ([], [])


# --- where people look ------------------------------------------------------------------------------------------------


def test_nobody_is_called_about_what_the_page_shows_him(tmp_path: Path, phone: Receiver) -> None:
    """While the agent is open on a visible page; when the reader turns away he is called."""
    with daemon_with(tmp_path, channel("phone", phone), "[waiting]\npresent_after = 0\n") as daemon:
        agent_id = str(hook(daemon, "session-start", source="startup")["agent_id"])
        look(daemon, agent_id)
        ask(daemon)
        wait_until(lambda: "you are looking at it" in held(daemon).values(), "a call that is held back")
        assert phone.messages == []
        wait_until(lambda: not daemon.agent(agent_id)["unseen"], "that somebody has seen it")
        look(daemon, agent_id, visible=False)
        phone.wait(1)


def test_who_is_there_is_called_later_than_who_is_away(tmp_path: Path, phone: Receiver) -> None:
    """The board is open, at another agent: the call waits for the time that the rule gives."""
    with daemon_with(tmp_path, channel("phone", phone), '[waiting]\npresent_after = "1h"\n') as daemon:
        look(daemon, None)
        ask(daemon)
        wait_until(lambda: "not due yet" in held(daemon).values(), "a call that is held back")
        look(daemon, None, visible=False)
        phone.wait(1)


@needs_tmux
def test_nobody_is_called_about_the_pane_before_him(tmp_path: Path, phone: Receiver) -> None:
    """In tmux: attached and just used, nothing is sent; detached, the call goes out."""
    home = tmp_path / "home"
    rules = "[waiting]\npresent_after = 0\n"
    with daemon_with(home, channel("phone", phone), rules) as daemon, terminal(tmp_path, daemon) as tmux:
        pane = tmux.start("claude", "work")
        agent = tmux.agent_in(pane)
        with tmux.attached("work"):
            wait_until(lambda: tmux.tmux("list-clients", "-F", "#{session_name}") == "work", "somebody")
            tmux.keys(pane, "ask", "Enter")
            wait_until(lambda: "you are looking at it" in held(daemon).values(), "a call that is held back")
            assert phone.messages == []
        (call,) = phone.wait(1)
        assert call["title"] == f"{agent['name']} asks"
        assert "Which?" in call["message"]


# --- who reacts -------------------------------------------------------------------------------------------------------


def test_when_nobody_reacts_the_next_channel_is_used(tmp_path: Path, phone: Receiver, desk: Receiver) -> None:
    """First the desk, then the phone; each once."""
    rules = '[waiting]\nto = ["desk", "phone"]\nescalate_after = "1s"\n'
    with daemon_with(tmp_path, rules, channel("desk", desk), channel("phone", phone)) as daemon:
        ask(daemon)
        phone.wait(1)
        assert len(desk.messages) == 1
        assert sorted(each["channel"] for each in notices(daemon)) == ["desk", "phone"]


def test_a_look_at_the_agent_is_a_reaction(tmp_path: Path, phone: Receiver, desk: Receiver) -> None:
    """Then the phone stays silent: a later need of another agent rings before it."""
    rules = '[waiting]\nto = ["desk", "phone"]\nescalate_after = "3s"\n'
    with daemon_with(tmp_path, rules, channel("desk", desk), channel("phone", phone)) as daemon:
        first = ask(daemon)
        desk.wait(1)
        status(daemon, "delivered")
        assert daemon.send("POST", f"/api/agents/{first}/seen", {}, scope="act").status == 200
        second = daemon.agent(ask(daemon, "s2"))
        assert phone.wait(1)[0]["title"].startswith(second["name"])


def test_a_channel_that_fails_is_seen_and_passed_over(tmp_path: Path, phone: Receiver, desk: Receiver) -> None:
    """The next one is used at once; the failure stands in the list and in the doctor's findings, without the secret."""
    desk.status = 500
    rules = '[waiting]\nto = ["desk", "phone"]\nescalate_after = "1h"\n'
    with daemon_with(tmp_path, rules, channel("desk", desk), channel("phone", phone)) as daemon:
        ask(daemon)
        phone.wait(1)
        failed = next(each for each in notices(daemon) if each["channel"] == "desk")
        assert failed["status"] == "failed"
        assert "500" in failed["failure"]
        assert "the last notification through desk failed" in headspace(daemon, "doctor").stdout
        for command in (("notify", "list"), ("notify", "rules"), ("doctor",), ("config",)):
            assert SECRET not in headspace(daemon, *command).stdout
        assert SECRET not in daemon.log


# --- how much ---------------------------------------------------------------------------------------------------------


def test_quiet_hours_hold_all_but_what_is_let_through(tmp_path: Path, phone: Receiver) -> None:
    """An hour before and after now: the question waits for the morning, the error does not."""
    now = datetime.now(UTC)
    times = [f"{now + timedelta(hours=hours):%H:%M}" for hours in (-1, 1)]
    quiet = f'[quiet]\nfrom = "{times[0]}"\nto = "{times[1]}"\nlet_through = ["error"]\n'
    with daemon_with(tmp_path, quiet, channel("phone", phone), env={"TZ": "UTC"}) as daemon:
        ask(daemon)
        wait_until(lambda: "quiet hours" in held(daemon).values(), "a call that is held back")
        hook(daemon, "session-start", "s2", source="startup")
        hook(daemon, "user-prompt-submit", "s2", prompt="Go")
        hook(daemon, "stop-failure", "s2", error="rate_limit")
        (call,) = phone.wait(1)
        assert call["title"].endswith("stopped: rate limit")
        assert (
            f"Quiet from {times[0]} to {times[1]}, except error (now, until"
            in headspace(daemon, "notify", "rules").stdout
        )


def test_many_that_wait_are_one_message(tmp_path: Path, phone: Receiver) -> None:
    """Four came to wait while notifications were off: switched on, they are told together, each with a receipt."""
    with daemon_with(tmp_path, "on = false", channel("phone", phone)) as daemon:
        names = [daemon.agent(ask(daemon, f"more{n}"))["name"] for n in range(4)]
        write_rules(tmp_path, channel("phone", phone))
        hook(daemon, "session-start", "another", source="startup")
        (digest,) = phone.wait(1)
        assert digest["title"] == "4 agents need you: 4 notifications"
        assert all(f"• {name} wants to run" in digest["message"] for name in names)
        assert digest["message"].endswith("/waits")
        wait_until(lambda: [each["status"] for each in notices(daemon)] == ["delivered"] * 4, "four receipts")


def test_a_channel_is_used_no_more_than_it_may_be(tmp_path: Path, phone: Receiver) -> None:
    """One an hour: the second call is held back, and says why."""
    with daemon_with(tmp_path, channel("phone", phone, "per_hour = 1\n")) as daemon:
        ask(daemon)
        phone.wait(1)
        status(daemon, "delivered")
        ask(daemon, "s2")
        wait_until(lambda: "hourly limit of 1 reached" in held(daemon).values(), "a call that is held back")
        assert len(phone.messages) == 1


# --- what -------------------------------------------------------------------------------------------------------------


def test_finished_is_told_when_nothing_runs_any_more(tmp_path: Path, phone: Receiver) -> None:
    """Not with a shell in the background; when that came back and the turn after it is over, it is."""
    rules = "[finished]\nlonger_than = 0\nafter = 0\n"
    shell = {"id": "b1", "type": "shell", "status": "running", "description": "make test"}
    back = "<task-notification>\n<task-id>b1</task-id>\n<status>completed</status>\n</task-notification>"
    with daemon_with(tmp_path, rules, channel("phone", phone)) as daemon:
        hook(daemon, "session-start", source="startup")
        hook(daemon, "user-prompt-submit", prompt="Test it", prompt_id="p1")
        hook(daemon, "stop", last_assistant_message="It runs.", prompt_id="p1", background_tasks=[shell])
        ask(daemon, "s2")
        assert phone.wait(1)[0]["title"].endswith("wants to run"), "the other one, after it"
        hook(daemon, "user-prompt-submit", prompt=back, prompt_id="p2")
        hook(daemon, "stop", last_assistant_message="All green.", prompt_id="p2", background_tasks=[])
        assert "is done after" in phone.wait(2)[1]["title"]


def test_a_full_context_and_a_spent_budget_are_told(tmp_path: Path, phone: Receiver) -> None:
    """By the numbers of the status line, each once."""
    rules = "[context]\nlevels = [80]\n[cost]\nbudget = 2.5\n"
    with daemon_with(tmp_path, rules, channel("phone", phone)) as daemon:
        hook(daemon, "session-start", source="startup")
        used = {"context_window_size": 200_000, "current_usage": {"input_tokens": 162_000}}
        hook(daemon, "StatusLine", cost={"total_cost_usd": 3.0}, context_window=used)
        phone.wait(2)
        hook(daemon, "StatusLine", cost={"total_cost_usd": 3.1}, context_window=used)
        ask(daemon, "s2")
        assert phone.wait(3).pop()["title"].endswith("wants to run")
        assert sorted(title.partition(" ")[2] for title in phone.titles) == [
            "has cost $3.00 (budget $2.5)",
            "has used 81 % of its context",
        ]


def test_a_project_has_rules_of_its_own(tmp_path: Path, phone: Receiver, desk: Receiver) -> None:
    """One project rings the phone, another nobody, the rest the desk."""
    rules = '[waiting]\nto = ["desk"]\n[project.loud.waiting]\nto = ["phone"]\n[project.mute]\nwaiting = false\n'
    with daemon_with(tmp_path, rules, channel("phone", phone), channel("desk", desk)) as daemon:
        for session in ("mute", "loud", "else"):
            ask(daemon, session)
        assert "in loud on" in phone.wait(1)[0]["message"]
        assert "in else on" in desk.wait(1)[0]["message"]
        assert (len(phone.messages), len(desk.messages)) == (1, 1)


# --- whatever happens -------------------------------------------------------------------------------------------------


def test_a_deadline_survives_a_restart(tmp_path: Path, phone: Receiver) -> None:
    """Killed before the call was due: it is made by the next daemon, once."""
    rules = '[waiting]\nafter = "2s"\n'
    with daemon_with(tmp_path, rules, channel("phone", phone)) as daemon:
        ask(daemon)
        daemon.kill()
    assert phone.messages == []
    with daemon_with(tmp_path, rules, channel("phone", phone)) as again:
        phone.wait(1)
        status(again, "delivered")
        assert len(phone.messages) == 1


def test_killed_while_it_calls_nothing_is_sent_twice_at_once(tmp_path: Path, phone: Receiver) -> None:
    """The next daemon sees that somebody was calling, and leaves that call its time."""
    phone.open.clear()
    with daemon_with(tmp_path, channel("phone", phone)) as daemon:
        ask(daemon)
        phone.wait(1)
        daemon.kill()
    phone.open.set()
    with daemon_with(tmp_path, channel("phone", phone)) as again:
        ask(again, "s2")
        assert "in s2 on" in phone.wait(2)[1]["message"]
        assert [each["attempts"] for each in notices(again)] == [1, 1]


def test_two_daemons_call_once(tmp_path: Path, phone: Receiver, postgres: Postgres) -> None:
    """Agents of two machines on one database: each is called about once, by its own daemon."""
    database = postgres.database()
    for home in ("one", "two"):
        write_rules(tmp_path / home, channel("phone", phone))
    with (
        running_daemon(tmp_path / "one", database=database, machine="one") as one,
        running_daemon(tmp_path / "two", database=database, machine="two") as two,
    ):
        for number in range(5):
            ask((one, two)[number % 2], f"s{number}")
        wait_until(lambda: len(notices(two)) == 5 and all(n["status"] == "delivered" for n in notices(two)), "receipts")
        told = [
            line for call in phone.messages for line in call["message"].splitlines() if " on " in line or "•" in line
        ]
        assert len(told) == len(set(told)) == 5


def test_only_the_agents_own_machine_calls(tmp_path: Path, phone: Receiver, postgres: Postgres) -> None:
    """A daemon elsewhere on the same database knows of the need, and leaves it."""
    database = postgres.database()
    write_rules(tmp_path / "two", channel("phone", phone))
    with (
        running_daemon(tmp_path / "one", database=database, machine="one") as one,
        running_daemon(tmp_path / "two", database=database, machine="two") as two,
    ):
        ask(one, "s1")
        ask(two, "s2")
        assert "on two" in phone.wait(1)[0]["message"]
        wait_until(lambda: len(two.agents()) == 2, "both agents at the second daemon")
        assert len(notices(two)) == 1


def test_rules_that_cannot_be_used_leave_those_before(tmp_path: Path, phone: Receiver) -> None:
    """A mistake in the file is told by health and by the command, and the last good rules stay in force."""
    with daemon_with(tmp_path, channel("phone", phone)) as daemon:
        assert daemon.get("/health").json()["parts"]["notifications"]["status"] == "ok"
        write_rules(tmp_path, channel("phone", phone), "[waiting]\nafter = 'soon'\n")
        ask(daemon)
        phone.wait(1)
        assert "'soon' is not a duration" in wait_until(lambda: _problem(daemon), "a health that says so")
        assert "'soon' is not a duration" in headspace(daemon, "notify", "rules").stdout


def _problem(daemon: RunningDaemon) -> str:
    part: dict[str, str] = daemon.get("/health").json()["parts"]["notifications"]
    return part["detail"] if part["status"] == "failing" else ""


def test_the_command_tries_every_channel(tmp_path: Path, phone: Receiver, desk: Receiver) -> None:
    """What arrived and what did not is said for each; one that fails makes the command fail."""
    with daemon_with(tmp_path, channel("phone", phone), channel("desk", desk)) as daemon:
        done = headspace(daemon, "notify", "test", "--json")
        found = {each["channel"]: each["status"] for each in json.loads(done.stdout)["channels"]}
        assert found == {"desktop": "unavailable", "page": "unavailable", "phone": "sent", "desk": "sent"}
        assert (done.returncode, phone.titles, desk.titles) == (
            0,
            ["Headspace test notification"],
            ["Headspace test notification"],
        )
        desk.status = 403
        done = headspace(daemon, "notify", "test", "desk")
        assert (done.returncode, "failed" in done.stdout, SECRET in done.stdout) == (1, True, False)
        missing = headspace(daemon, "notify", "test", "fax")
        assert "There is no channel fax" in missing.stderr


# --- the desktop ------------------------------------------------------------------------------------------------------


def test_a_linux_desktop_shows_it_and_takes_it_back(tmp_path: Path) -> None:
    """Nothing configured: shown over D-Bus, with the words escaped, and closed when it is answered in the terminal."""
    with (
        desktop_session(tmp_path) as desktop,
        daemon_with(tmp_path / "home", env=desktop.env) as daemon,
    ):
        hook(daemon, "session-start", source="startup")
        told: dict[str, Any] = {"tool_name": "Bash", "tool_input": {"command": "echo <b>&"}}
        hook(daemon, "user-prompt-submit", prompt="Go")
        hook(daemon, "pre-tool-use", tool_use_id="t1", **told)
        hook(daemon, "permission-request", **told)
        (shown,) = wait_until(lambda: desktop.recorded("show"), "a notification")
        assert (shown["app"], shown["urgency"]) == ("Headspace", 2)
        assert "echo &lt;b&gt;&amp;" in shown["body"]
        assert f"{daemon.url}/agents/" in shown["body"]
        assert status(daemon, "delivered")["channel"] == "desktop"
        hook(daemon, "post-tool-use", tool_use_id="t1", **told)
        (closed,) = wait_until(lambda: desktop.recorded("close"), "that it is closed")
        assert closed["close"] == shown["show"]
        assert status(daemon, "over")["outcome"] == "the tool ran"


def test_a_bus_on_which_nobody_shows_anything_is_no_desktop(tmp_path: Path) -> None:
    """It is said once in the log, and by the commands; a need is not announced and nothing fails."""
    with (
        desktop_session(tmp_path, shows=False) as desktop,
        daemon_with(tmp_path / "home", env=desktop.env) as daemon,
    ):
        for number in range(3):
            ask(daemon, f"s{number}")
        wait_until(lambda: "desktop_unavailable" in daemon.log, "a line in the log")
        assert daemon.log.count("desktop_unavailable") == 1
        assert "no notification service in the D-Bus session" in headspace(daemon, "notify", "rules").stdout
        assert "no channel: no notification service in the D-Bus session" in headspace(daemon, "doctor").stdout
        assert (notices(daemon), daemon.get("/health").json()["status"]) == ([], "ok")
