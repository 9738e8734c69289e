"""Notifications: at the right time, once, with the reason. A web hook on loopback receives what Apprise sends."""

import contextlib
import json
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from claude_headspace.kernel.notify.messages import EXCERPT
from tests.postgres import Postgres
from tests.receivers import SECRET, Receiver, desktop_session, receiver
from tests.support import LIMIT_SECONDS, RunningDaemon, environment, running_daemon, running_daemon_in, wait_until
from tests.terminals import needs_tmux, terminal

BASH: dict[str, Any] = {"tool_name": "Bash", "tool_input": {"command": "make deploy"}}
CHANNEL = '[channels.{name}]\nurl = "{url}"\nspacing = 0\n'


def channel(name: str, phone: Receiver, more: str = "") -> str:
    """The configuration of a channel to a receiver."""
    return CHANNEL.format(name=name, url=phone.url) + more


def write_rules(home: Path, *parts: str) -> None:
    """Write the notification rules of the user."""
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
    """The receiver of the channel `phone`."""
    with receiver() as opened:
        yield opened


@pytest.fixture
def desk() -> Iterator[Receiver]:
    """The receiver of the channel `desk`."""
    with receiver() as opened:
        yield opened


def hook(daemon: RunningDaemon, event: str, session: str = "s1", **payload: Any) -> dict[str, Any]:
    """Send a hook of a client."""
    body = {"session_id": session, "cwd": f"/projects/{session}", **payload}
    answer: dict[str, Any] = daemon.post(event, body).json()
    return answer


def ask(daemon: RunningDaemon, session: str = "s1") -> str:
    """A client asks for a permission; return its agent's id."""
    hook(daemon, "session-start", session, source="startup")
    hook(daemon, "user-prompt-submit", session, prompt="Deploy it")
    hook(daemon, "pre-tool-use", session, tool_use_id="t1", **BASH)
    agent_id: str = hook(daemon, "permission-request", session, **BASH)["agent_id"]
    return agent_id


def answer_in_terminal(daemon: RunningDaemon, session: str = "s1") -> None:
    """The user answers in the terminal."""
    hook(daemon, "post-tool-use", session, tool_use_id="t1", **BASH)


def notices(daemon: RunningDaemon) -> list[dict[str, Any]]:
    """The sent notifications, the newest first."""
    return [each["notice"] for each in daemon.get("/api/notifications").json()["notices"]]


def unsent_reasons(daemon: RunningDaemon) -> dict[str, str]:
    """The reasons of unsent notifications, by title."""
    return {each["title"]: each["why"] for each in daemon.get("/api/notifications").json()["held"]}


def status(daemon: RunningDaemon, wanted: str) -> dict[str, Any]:
    """Wait until the newest notification has this status."""

    def found() -> list[dict[str, Any]]:
        return [each for each in notices(daemon)[:1] if each["status"] == wanted]

    return wait_until(found, f"a notification that is {wanted}")[0]


def headspace(daemon: RunningDaemon, *arguments: str) -> "subprocess.CompletedProcess[str]":
    """Run a `headspace` command in the daemon's home."""
    return subprocess.run(
        [sys.executable, "-m", "claude_headspace", *arguments],
        env=environment(daemon.home),
        capture_output=True,
        text=True,
        timeout=LIMIT_SECONDS,
        check=False,
    )


def look(daemon: RunningDaemon, agent_id: str | None, *, visible: bool = True) -> None:
    """A page reports which agent it shows."""
    payload = {"page": "p1", "agent_id": agent_id, "visible": visible}
    assert daemon.send("POST", "/api/presence", payload, scope="act").status == 200


# --- once, with the reason --------------------------------------------------------------------------------------------


def test_a_notification_has_agent_place_request_and_link(tmp_path: Path, phone: Receiver) -> None:
    """One message has the agent, its request, the project, and the link to its page."""
    reached = {"HEADSPACE_PUBLIC_URL": "https://headspace.example"}
    with daemon_with(tmp_path, channel("phone", phone), env=reached) as daemon:
        agent = daemon.agent(ask(daemon))
        (message,) = phone.wait(1)
        assert message["title"] == f"{agent['name']} wants to run"
        assert message["message"].splitlines() == [
            "make deploy",
            f"in s1 on {agent['host']}",
            f"https://headspace.example/agents/{agent['id']}",
        ]
        sent = status(daemon, "delivered")
        assert (sent["channel"], sent["kind"], sent["attempts"], sent["failure"]) == ("phone", "waiting", 1, "")
        assert daemon.agent(agent["id"])["notices"] == [sent]


def test_a_notification_shows_the_arguments_and_the_diff(tmp_path: Path, phone: Receiver) -> None:
    """Of a tool of an MCP server the arguments, of an edit the texts; a long request is an excerpt."""
    calls: list[dict[str, Any]] = [
        {"tool_name": "mcp__tracker__create", "tool_input": {"title": "Broken login", "label": "bug"}},
        {"tool_name": "Edit", "tool_input": {"file_path": "/p/a.py", "old_string": "old", "new_string": "new"}},
        {"tool_name": "Bash", "tool_input": {"command": "make it\n" * 30}},
    ]
    with daemon_with(tmp_path, channel("phone", phone)) as daemon:
        for number, call in enumerate(calls):
            hook(daemon, "session-start", f"s{number}", source="startup")
            hook(daemon, "permission-request", f"s{number}", **call)
            phone.wait(number + 1)
        created, edited, made = (message["message"] for message in phone.wait(len(calls)))
        assert created.startswith("title: Broken login\nlabel: bug\nin s0 on ")
        assert "\n-old\n" in edited
        assert "\n+new\n" in edited
        assert made.startswith("make it\nmake it\n")
        assert EXCERPT in made


def test_a_repeated_need_is_notified_once(tmp_path: Path, phone: Receiver) -> None:
    """The same dialog again, more hooks of the agent, a rebuild and a restart cause no second notification."""
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


def test_an_answer_elsewhere_closes_the_notification(tmp_path: Path, phone: Receiver, desk: Receiver) -> None:
    """The notification has its outcome. A channel with `tell_over` is notified of it, the other one is not."""
    rules = '[waiting]\nto = [["phone", "desk"]]\n'
    parts = (rules, channel("phone", phone, "tell_over = true\n"), channel("desk", desk))
    with daemon_with(tmp_path, *parts) as daemon:
        ask(daemon)
        phone.wait(1)
        desk.wait(1)
        wait_until(lambda: all(each["status"] == "delivered" for each in notices(daemon)), "both delivered")
        answer_in_terminal(daemon)
        assert phone.wait(2)[1]["title"].startswith("Resolved: ")
        assert status(daemon, "over")["outcome"] == "the tool ran"
        assert len(desk.messages) == 1


def test_a_need_that_is_answered_in_time_is_not_notified(tmp_path: Path, phone: Receiver) -> None:
    """A rule waits a minute and the answer comes first. The API shows why nothing was sent."""
    with daemon_with(tmp_path, channel("phone", phone), '[waiting]\nafter = "1m"\n') as daemon:
        ask(daemon)
        wait_until(lambda: "not due yet" in unsent_reasons(daemon).values(), "an unsent notification")
        answer_in_terminal(daemon)
        unsent = wait_until(
            lambda: daemon.get("/api/notifications").json()["unsent"], "a closed need without a notification"
        )
        assert [each["why"] for each in unsent] == ["not due yet"]
        assert (phone.messages, notices(daemon)) == ([], [])


def test_a_delayed_notification_that_was_sent_is_not_listed_as_unsent(tmp_path: Path, phone: Receiver) -> None:
    """Neither while it is delivered nor afterwards."""
    with daemon_with(tmp_path, channel("phone", phone), '[waiting]\nafter = "1s"\n') as daemon:
        ask(daemon)
        wait_until(lambda: "not due yet" in unsent_reasons(daemon).values(), "a delayed notification")
        phone.wait(1)
        status(daemon, "delivered")
        answer_in_terminal(daemon)
        status(daemon, "over")
        assert daemon.get("/api/notifications").json()["unsent"] == []


# --- where the user looks ---------------------------------------------------------------------------------------------


def test_no_notification_while_the_page_shows_the_agent(tmp_path: Path, phone: Receiver) -> None:
    """Nothing is sent while the agent is open on a visible page. When the page is hidden, the notification is sent."""
    with daemon_with(tmp_path, channel("phone", phone), "[waiting]\npresent_after = 0\n") as daemon:
        agent_id = str(hook(daemon, "session-start", source="startup")["agent_id"])
        look(daemon, agent_id)
        ask(daemon)
        wait_until(lambda: "you are looking at it" in unsent_reasons(daemon).values(), "an unsent notification")
        assert phone.messages == []
        wait_until(lambda: not daemon.agent(agent_id)["unseen"], "the agent to be marked as seen")
        look(daemon, agent_id, visible=False)
        phone.wait(1)


def test_a_present_user_is_notified_later_than_an_absent_one(tmp_path: Path, phone: Receiver) -> None:
    """The board shows another agent, so the notification waits for the time of the rule."""
    with daemon_with(tmp_path, channel("phone", phone), '[waiting]\npresent_after = "1h"\n') as daemon:
        look(daemon, None)
        ask(daemon)
        wait_until(lambda: "not due yet" in unsent_reasons(daemon).values(), "an unsent notification")
        look(daemon, None, visible=False)
        phone.wait(1)


@needs_tmux
def test_no_notification_about_the_pane_in_front_of_the_user(tmp_path: Path, phone: Receiver) -> None:
    """Nothing is sent while the pane is attached and in use. When it is detached, the notification is sent."""
    home = tmp_path / "home"
    rules = "[waiting]\npresent_after = 0\n"
    with daemon_with(home, channel("phone", phone), rules) as daemon, terminal(tmp_path, daemon) as tmux:
        pane = tmux.start("claude", "work")
        agent = tmux.agent_in(pane)
        with tmux.attached("work"):
            wait_until(lambda: tmux.tmux("list-clients", "-F", "#{session_name}") == "work", "an attached user")
            tmux.keys(pane, "ask", "Enter")
            wait_until(lambda: "you are looking at it" in unsent_reasons(daemon).values(), "an unsent notification")
            assert phone.messages == []
        (message,) = phone.wait(1)
        assert message["title"] == f"{agent['name']} asks"
        assert "Which?" in message["message"]


# --- reactions --------------------------------------------------------------------------------------------------------


def test_without_a_reaction_the_next_channel_is_used(tmp_path: Path, phone: Receiver, desk: Receiver) -> None:
    """First the desk, then the phone, each once."""
    rules = '[waiting]\nto = ["desk", "phone"]\nescalate_after = "1s"\n'
    with daemon_with(tmp_path, rules, channel("desk", desk), channel("phone", phone)) as daemon:
        ask(daemon)
        phone.wait(1)
        assert len(desk.messages) == 1
        assert sorted(each["channel"] for each in notices(daemon)) == ["desk", "phone"]


def test_looking_at_the_agent_is_a_reaction(tmp_path: Path, phone: Receiver, desk: Receiver) -> None:
    """Then the phone gets nothing: a later need of another agent arrives there first."""
    rules = '[waiting]\nto = ["desk", "phone"]\nescalate_after = "3s"\n'
    with daemon_with(tmp_path, rules, channel("desk", desk), channel("phone", phone)) as daemon:
        first = ask(daemon)
        desk.wait(1)
        status(daemon, "delivered")
        assert daemon.send("POST", f"/api/agents/{first}/seen", {}, scope="act").status == 200
        second = daemon.agent(ask(daemon, "s2"))
        assert phone.wait(1)[0]["title"].startswith(second["name"])


def test_a_failed_channel_is_reported_and_skipped(tmp_path: Path, phone: Receiver, desk: Receiver) -> None:
    """The next channel is used at once. The list and the doctor show the failure without the secret."""
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


# --- limits -----------------------------------------------------------------------------------------------------------


def test_quiet_hours_delay_everything_except_the_exceptions(tmp_path: Path, phone: Receiver) -> None:
    """During quiet hours a question waits until they end, an error does not."""
    now = datetime.now(UTC)
    times = [f"{now + timedelta(hours=hours):%H:%M}" for hours in (-1, 1)]
    quiet = f'[quiet]\nfrom = "{times[0]}"\nto = "{times[1]}"\nlet_through = ["error"]\n'
    with daemon_with(tmp_path, quiet, channel("phone", phone), env={"TZ": "UTC"}) as daemon:
        ask(daemon)
        wait_until(lambda: "quiet hours" in unsent_reasons(daemon).values(), "an unsent notification")
        hook(daemon, "session-start", "s2", source="startup")
        hook(daemon, "user-prompt-submit", "s2", prompt="Go")
        hook(daemon, "stop-failure", "s2", error="rate_limit")
        (message,) = phone.wait(1)
        assert message["title"].endswith("stopped: rate limit")
        assert (
            f"Quiet from {times[0]} to {times[1]}, except error (now, until"
            in headspace(daemon, "notify", "rules").stdout
        )


def test_many_waiting_agents_are_one_message(tmp_path: Path, phone: Receiver) -> None:
    """Four agents wait while notifications are off. When on, one message names all four, each with a receipt."""
    with daemon_with(tmp_path, "on = false", channel("phone", phone)) as daemon:
        names = [daemon.agent(ask(daemon, f"more{n}"))["name"] for n in range(4)]
        write_rules(tmp_path, channel("phone", phone))
        hook(daemon, "session-start", "another", source="startup")
        (digest,) = phone.wait(1)
        assert digest["title"] == "4 agents need you: 4 notifications"
        assert all(f"• {name} wants to run" in digest["message"] for name in names)
        assert digest["message"].endswith("/waits")
        wait_until(lambda: [each["status"] for each in notices(daemon)] == ["delivered"] * 4, "four receipts")


def test_a_channel_respects_its_hourly_limit(tmp_path: Path, phone: Receiver) -> None:
    """With a limit of one per hour the second notification waits, with the reason."""
    with daemon_with(tmp_path, channel("phone", phone, "per_hour = 1\n")) as daemon:
        ask(daemon)
        phone.wait(1)
        status(daemon, "delivered")
        ask(daemon, "s2")
        wait_until(lambda: "hourly limit of 1 reached" in unsent_reasons(daemon).values(), "an unsent notification")
        assert len(phone.messages) == 1


# --- kinds of needs ---------------------------------------------------------------------------------------------------


def test_finished_is_notified_when_nothing_runs(tmp_path: Path, phone: Receiver) -> None:
    """Not while a background shell runs, but after it has ended and the following turn has finished."""
    rules = "[finished]\nlonger_than = 0\nafter = 0\n"
    shell = {"id": "b1", "type": "shell", "status": "running", "description": "make test"}
    back = "<task-notification>\n<task-id>b1</task-id>\n<status>completed</status>\n</task-notification>"
    with daemon_with(tmp_path, rules, channel("phone", phone)) as daemon:
        hook(daemon, "session-start", source="startup")
        hook(daemon, "user-prompt-submit", prompt="Test it", prompt_id="p1")
        hook(daemon, "stop", last_assistant_message="It runs.", prompt_id="p1", background_tasks=[shell])
        ask(daemon, "s2")
        assert phone.wait(1)[0]["title"].endswith("wants to run"), "the notification of the other agent"
        hook(daemon, "user-prompt-submit", prompt=back, prompt_id="p2")
        hook(daemon, "stop", last_assistant_message="All green.", prompt_id="p2", background_tasks=[])
        assert "is done after" in phone.wait(2)[1]["title"]


def test_a_full_context_and_an_exceeded_budget_are_notified(tmp_path: Path, phone: Receiver) -> None:
    """Each is notified once, based on the numbers of the status line."""
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


def test_budgets_of_a_day_are_notified_once(tmp_path: Path, phone: Receiver) -> None:
    """All agents count together, those of a project for its own budget, and all sessions of an agent for its own."""
    rules = "[cost]\nday_budget = 5\nagent_budget = 3\n[project.s2.cost]\nmonth_budget = 2\n"
    with daemon_with(tmp_path, rules, channel("phone", phone)) as daemon:
        for session, cost in (("s1", 3.5), ("s2", 2.5)):
            hook(daemon, "session-start", session, source="startup")
            hook(daemon, "StatusLine", session, cost={"total_cost_usd": cost})
        phone.wait(3)
        hook(daemon, "StatusLine", "s1", cost={"total_cost_usd": 3.9})
        ask(daemon, "s3")
        assert phone.wait(4).pop()["title"].endswith("wants to run")
        first, *titles = sorted(phone.titles)
        assert first == "All agents have cost $6.00 today (budget $5)"
        assert titles[0] == "The agents in s2 have cost $2.50 this month (budget $2)"
        assert titles[1].endswith("has cost $3.50 in all its sessions (budget $3)")


def test_a_project_has_its_own_rules(tmp_path: Path, phone: Receiver, desk: Receiver) -> None:
    """One project notifies the phone, another nothing, the rest the desk."""
    rules = '[waiting]\nto = ["desk"]\n[project.loud.waiting]\nto = ["phone"]\n[project.mute]\nwaiting = false\n'
    with daemon_with(tmp_path, rules, channel("phone", phone), channel("desk", desk)) as daemon:
        for session in ("mute", "loud", "else"):
            ask(daemon, session)
        assert "in loud on" in phone.wait(1)[0]["message"]
        assert "in else on" in desk.wait(1)[0]["message"]
        assert (len(phone.messages), len(desk.messages)) == (1, 1)


# --- failures ---------------------------------------------------------------------------------------------------------


def test_a_deadline_survives_a_restart(tmp_path: Path, phone: Receiver) -> None:
    """The daemon is killed before a notification is due. The next daemon sends it once."""
    rules = '[waiting]\nafter = "2s"\n'
    with daemon_with(tmp_path, rules, channel("phone", phone)) as daemon:
        ask(daemon)
        daemon.kill()
    assert phone.messages == []
    with daemon_with(tmp_path, rules, channel("phone", phone)) as again:
        phone.wait(1)
        status(again, "delivered")
        assert len(phone.messages) == 1


def test_a_kill_while_sending_does_not_send_twice_at_once(tmp_path: Path, phone: Receiver) -> None:
    """The next daemon sees the unfinished attempt and waits before it sends again."""
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


def test_two_daemons_notify_once(tmp_path: Path, phone: Receiver, postgres: Postgres) -> None:
    """Agents of two machines share one database. The daemon of each agent's machine notifies once."""
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
        lines = [
            line
            for message in phone.messages
            for line in message["message"].splitlines()
            if " on " in line or "•" in line
        ]
        assert len(lines) == len(set(lines)) == 5


def test_only_the_machine_of_the_agent_notifies(tmp_path: Path, phone: Receiver, postgres: Postgres) -> None:
    """A daemon of another machine on the same database ignores the need."""
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


def test_invalid_rules_leave_the_previous_ones_in_force(tmp_path: Path, phone: Receiver) -> None:
    """Health and the command report an error in the file, and the last valid rules stay in force."""
    with daemon_with(tmp_path, channel("phone", phone)) as daemon:
        assert daemon.get("/health").json()["parts"]["notifications"]["status"] == "ok"
        write_rules(tmp_path, channel("phone", phone), "[waiting]\nafter = 'soon'\n")
        ask(daemon)
        phone.wait(1)
        assert "'soon' is not a duration" in wait_until(lambda: _problem(daemon), "the error in health")
        assert "'soon' is not a duration" in headspace(daemon, "notify", "rules").stdout


def _problem(daemon: RunningDaemon) -> str:
    part: dict[str, str] = daemon.get("/health").json()["parts"]["notifications"]
    return part["detail"] if part["status"] == "failing" else ""


def test_the_test_command_uses_every_channel(tmp_path: Path, phone: Receiver, desk: Receiver) -> None:
    """The output has the result of each channel. If one fails, the command fails."""
    with daemon_with(tmp_path, channel("phone", phone), channel("desk", desk)) as daemon:
        done = headspace(daemon, "notify", "test", "--json")
        found = {each["channel"]: each["status"] for each in json.loads(done.stdout)["channels"]}
        unavailable = dict.fromkeys(("desktop", "page", "push"), "unavailable")
        assert found == {**unavailable, "phone": "sent", "desk": "sent"}
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


def test_a_linux_desktop_shows_and_closes_a_notification(tmp_path: Path) -> None:
    """Without configuration it is shown over D-Bus, escaped, and closed after an answer in the terminal."""
    with (
        desktop_session(tmp_path) as desktop,
        daemon_with(tmp_path / "home", env=desktop.env) as daemon,
    ):
        hook(daemon, "session-start", source="startup")
        payload: dict[str, Any] = {"tool_name": "Bash", "tool_input": {"command": "echo <b>&"}}
        hook(daemon, "user-prompt-submit", prompt="Go")
        hook(daemon, "pre-tool-use", tool_use_id="t1", **payload)
        hook(daemon, "permission-request", **payload)
        (shown,) = wait_until(lambda: desktop.recorded("show"), "a notification")
        assert (shown["app"], shown["urgency"]) == ("Headspace", 2)
        assert "echo &lt;b&gt;&amp;" in shown["body"]
        assert f"{daemon.url}/agents/" in shown["body"]
        assert status(daemon, "delivered")["channel"] == "desktop"
        hook(daemon, "post-tool-use", tool_use_id="t1", **payload)
        (closed,) = wait_until(lambda: desktop.recorded("close"), "the notification to be closed")
        assert closed["close"] == shown["show"]
        assert status(daemon, "over")["outcome"] == "the tool ran"


def test_a_bus_without_a_notification_service_is_not_a_desktop(tmp_path: Path) -> None:
    """The log reports it once, and the commands report it. No notification is sent and nothing fails."""
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
