"""The shim as Claude Code runs it: exec form, a socket as its standard input, nothing expected of its environment.

`TEST_BASH=/path/to/bash` runs all of this with another bash. The branch for bash before 4.1 is taken here too, by
telling the script that it runs in one.
"""

import os
import re
import shutil
import signal
import socket
import stat
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.clients.claude_code.hooks.hook_script import (
    BASH,
    EVENTS,
    EVERY_BYTE,
    NOTHING_TO_SAY,
    PAYLOAD,
    QUIET,
    SCRIPT,
    Place,
    Ran,
    answer,
    header,
    server,
)

pytestmark = pytest.mark.skipif(shutil.which(BASH) is None, reason="bash is not installed")


@pytest.fixture(params=["this bash", "as in bash 3.2"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    """An installed shim, taken through both branches of the script."""
    found = Place(tmp_path / "a place with 'odd' characters")
    if request.param != "this bash":
        found.pretend_old()
    return found


@pytest.fixture
def installed(tmp_path: Path) -> Place:
    """An installed shim as it is."""
    return Place(tmp_path)


# --- roles ---


def test_a_session_with_a_role_asks_by_itself(place: Place) -> None:
    """At its start, with each prompt and at each end, saying who it is; all else it only tells, as ever."""
    env = {"CLAUDE_SESSION_ROLE": 'chief of "staff"', "CLAUDE_SESSION_MODE": "mission", "MISSION_EXECUTION_ID": "m-1"}
    with server(answer(b"{}")) as (port, requests):
        place.daemon_at(port)
        for event in ("SessionStart", "UserPromptSubmit", "Stop"):
            assert place.run(event, env=env).out == b"{}"
        assert place.run("PreToolUse", env=env) == QUIET
        assert place.run("SessionStart") == QUIET
    told = [tuple(header(each, f"X-Headspace-{name}") for name in ("Role", "Mode", "Mission-Id")) for each in requests]
    assert told == [("chief of staff", "mission", "m-1")] * 3
    assert [("role" in notes, notes["event"]) for notes, _ in place.told()] == [
        (False, "PreToolUse"),
        (False, "SessionStart"),
    ]


def test_a_role_is_told_when_nobody_answers(place: Place) -> None:
    """What would have been asked lies in the spool, with the role; a mission alone asks nothing."""
    assert place.run("SessionStart", env={"CLAUDE_SESSION_ROLE": "chief"}) == QUIET
    assert place.run("SessionStart", env={"MISSION_EXECUTION_ID": "m-1"}) == QUIET
    assert [(notes.get("role"), notes.get("mission-id")) for notes, _ in place.told()] == [
        ("chief", None),
        (None, "m-1"),
    ]


# --- telling ---


def test_an_event_is_told_in_one_file(place: Place) -> None:
    """What nobody wants to answer lands in the spool, readable by its user alone, and nothing is printed."""
    assert place.run("PreToolUse") == QUIET
    [(notes, payload)] = place.told()
    assert payload == PAYLOAD
    assert notes["event"] == "PreToolUse"
    assert notes["client-pid"] == str(os.getpid())
    [path] = place.spool.iterdir()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_the_time_of_firing_is_told_and_sorts(installed: Place) -> None:
    """The notes say when the hook fired, to the microsecond, and the files lie in that order."""
    version = subprocess.run([BASH, "-c", "echo ${BASH_VERSINFO[0]}"], capture_output=True, check=True).stdout
    if int(version) < 5:
        pytest.skip("this bash has no clock finer than a second")
    before = time.time()
    for name in ("First", "Second", "Third"):
        installed.run(name)
    after = time.time()
    told = installed.told()
    assert [notes["event"] for notes, _ in told] == ["First", "Second", "Third"]
    times = [float(notes["fired-at"]) for notes, _ in told]
    assert before <= times[0] < times[1] < times[2] <= after


def test_what_the_environment_tells_comes_along(place: Place) -> None:
    """Pane, tmux session, client and wrapper ids, mode and mission are told where they are set."""
    known = {
        "CLAUDE_PID": "4711",
        "TMUX_PANE": "%3",
        "CLAUDE_HEADSPACE_TMUX_SESSION": "a work session",
        "CLAUDE_HEADSPACE_SESSION_ID": "headspace-1",
        "CLAUDE_SESSION_ID": "wrapper-1",
        "CLAUDE_SESSION_MODE": "background",
        "MISSION_EXECUTION_ID": "mission-1",
    }
    place.run("Stop", env=known)
    [(notes, _)] = place.told()
    assert {name: notes[name] for name in notes if name not in ("delivery-id", "fired-at")} == {
        "event": "Stop",
        "client-pid": "4711",
        "tmux-pane": "%3",
        "tmux-session": "a work session",
        "session-id": "headspace-1",
        "wrapper-id": "wrapper-1",
        "mode": "background",
        "mission-id": "mission-1",
    }


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="this system shows no processes as files")
def test_a_start_tells_what_the_client_descends_from(place: Place) -> None:
    """Once, because a short client may be gone before anybody can look; nearest first."""
    place.run("SessionStart")
    place.run("Stop")
    start, stop = (notes for notes, _ in place.told())
    above = [int(pid) for pid in start["ancestor-pids"].split()]
    assert above == _parents()[: len(above)]
    assert bool(above) == bool(_parents())
    assert "ancestor-pids" not in stop


def _parents() -> list[int]:
    return [process.pid for process in psutil.Process().parents() if process.pid > 1]


def test_the_tmux_session_is_told_only_when_it_is_set(place: Place) -> None:
    """Without CLAUDE_HEADSPACE_TMUX_SESSION there is no such note, whatever TMUX says."""
    place.run("Stop", env={"TMUX": "/tmp/tmux-0/default,1,0", "TMUX_PANE": "%3"})
    [(notes, _)] = place.told()
    assert "tmux-session" not in notes


def test_odd_bytes_in_the_environment_break_nothing(place: Place) -> None:
    """Quotes, backslashes and control bytes are left out of the notes, and nothing is expanded or run."""
    odd = "$(touch oops)`id`" + "x" * 500
    place.run("Stop", env={"TMUX_PANE": '%3"\\\r\nX-Evil: yes', "CLAUDE_SESSION_ID": odd})
    [(notes, _)] = place.told()
    assert notes["tmux-pane"] == "%3X-Evil: yes"
    assert notes["wrapper-id"] == odd[:200]


def test_every_delivery_has_an_id_of_its_own(installed: Place) -> None:
    """Twenty hooks at once have twenty ids and twenty files."""
    runs = [installed.start("PreToolUse") for _ in range(20)]
    for process, stdin in runs:
        stdin.sendall(PAYLOAD)
        stdin.close()
        assert process.communicate(timeout=60) == (b"", b"")
    assert len({notes["delivery-id"] for notes, _ in installed.told()}) == 20


@pytest.mark.parametrize("size", [0, 4_000, 70_000, 6_000_000])
def test_payloads_arrive_byte_by_byte(place: Place, size: int) -> None:
    """Every byte value, and several megabytes of them, come through unchanged."""
    payload = EVERY_BYTE[:-2] + os.urandom(size).replace(b"\0", b"").replace(b'"', b"") + b'"}'
    assert place.run("PostToolUse", payload=payload) == QUIET
    assert [told for _, told in place.told()] == [payload]


def test_a_newline_at_the_end_does_no_harm(place: Place) -> None:
    """A line is a line, with or without its end."""
    place.run("Stop", payload=PAYLOAD + b"\n")
    assert [payload.rstrip(b"\n") for _, payload in place.told()] == [PAYLOAD]


def test_zero_bytes_are_dropped_quietly(place: Place) -> None:
    """A payload with a byte that bash cannot hold does not stop the hook."""
    assert place.run("Stop", payload=b'{"session_id":"o\0ne"}') == QUIET
    assert [payload for _, payload in place.told()] == [b'{"session_id":"one"}']


@pytest.mark.parametrize("arguments", [(), ("",), ("../../etc/passwd",), ("Pre ToolUse",)])
def test_without_a_usable_argument_the_payload_names_the_event(place: Place, arguments: tuple[str, ...]) -> None:
    """Registered without `args`, the shim finds the event's name in the payload."""
    place.run(*arguments)
    assert [notes["event"] for notes, _ in place.told()] == ["PreToolUse"]


def test_an_event_without_any_name_is_told_too(place: Place) -> None:
    """What nobody named is kept all the same."""
    place.run(payload=b'{"session_id":"one"}')
    assert [notes["event"] for notes, _ in place.told()] == ["Unnamed"]


def test_no_payload_is_nothing_to_tell(place: Place) -> None:
    """An empty input leaves no file."""
    assert place.run("Stop", payload=b"") == QUIET
    assert place.told() == []


def test_a_missing_spool_is_made(place: Place) -> None:
    """The directory may have been cleaned away since the installation."""
    place.spool.rmdir()
    assert place.run("Stop") == QUIET
    assert len(place.told()) == 1
    assert stat.S_IMODE(place.spool.stat().st_mode) == 0o700


def test_without_its_state_it_stays_quiet(place: Place) -> None:
    """A script that does not find Headspace any more disturbs nobody."""
    place.script.with_suffix(".state").unlink()
    place.script.with_suffix(".state").symlink_to("/nowhere/to/be/found")
    assert place.run("Stop") == QUIET


def test_the_hook_that_looks_whether_there_is_room_tells_too(installed: Place) -> None:
    """Every hook may be the one that counts the files; it tells its event like the others."""
    text = installed.script.read_text()
    assert text.count("*00") == 2
    installed.script.write_text(text.replace("*00", "*"))
    assert installed.run("Stop") == QUIET
    assert len(installed.told()) == 1
    installed.script.write_text(text.replace("*00", "*").replace("50000", "1"))
    assert installed.run("Stop") == QUIET
    assert (installed.spool / "full").exists()
    assert (installed.spool / "lost").stat().st_size == 1
    assert len(installed.told()) == 1


def test_a_full_spool_counts_what_it_cannot_keep(place: Place) -> None:
    """Once the spool is closed, events are counted and nothing grows but that."""
    (place.spool / "full").touch()
    assert place.run("Stop") == QUIET
    assert place.run("Stop") == QUIET
    assert place.told() == []
    assert (place.spool / "lost").stat().st_size == 2


def test_posix_mode_and_options_from_the_environment_do_not_matter(installed: Place) -> None:
    """What bash would read from its environment changes nothing."""
    trap = installed.root / "trap.sh"
    trap.write_text("echo from BASH_ENV; exit 3\n")
    odd = {"POSIXLY_CORRECT": "1", "BASH_ENV": str(trap), "ENV": str(trap), "SHELLOPTS": "errexit:nounset", "IFS": "{"}
    installed.daemon_at(1, *EVENTS)
    assert installed.run("Stop", env=odd) == QUIET
    assert [payload for _, payload in installed.told()] == [PAYLOAD]


# --- asking ---


def test_only_what_the_daemon_wants_to_answer_is_asked(place: Place) -> None:
    """The daemon lists the events that it answers; all others are told."""
    with server(NOTHING_TO_SAY) as (port, requests):
        place.daemon_at(port, "Stop", "PreToolUse")
        for event in ("PreToolUse", "PostToolUse", "Stop", "StopFailure"):
            assert place.run(event) == QUIET
    assert [request.split(b" ")[1] for request in requests] == [b"/hook/PreToolUse", b"/hook/Stop"]
    assert [notes["event"] for notes, _ in place.told()] == ["PostToolUse", "StopFailure"]


def test_a_question_carries_all_that_is_known(place: Place) -> None:
    """The request has the token, the payload with its length, and the same notes as a file would."""
    with server(NOTHING_TO_SAY) as (port, requests):
        place.daemon_at(port, *EVENTS)
        env = {"CLAUDE_PID": "4711", "TMUX_PANE": "%3\r\nX-Evil: yes", "CLAUDE_SESSION_ID": "w"}
        place.run("Stop", payload=EVERY_BYTE, env=env)
    [request] = requests
    assert request.startswith(b"POST /hook/Stop HTTP/1.1\r\n")
    assert request.partition(b"\r\n\r\n")[2] == EVERY_BYTE + b"\n"
    expected = {
        "Host": f"127.0.0.1:{port}",
        "Content-Type": "application/json",
        "Connection": "close",
        "Authorization": "Bearer hs_ingest_secret",
        "X-Headspace-Reply": "hook",
        "X-Headspace-Client-Pid": "4711",
        "X-Headspace-Tmux-Pane": "%3X-Evil: yes",
        "X-Headspace-Wrapper-Id": "w",
        "X-Headspace-Tmux-Session": None,
        "X-Evil": None,
    }
    assert {name: header(request, name) for name in expected} == expected
    assert header(request, "X-Headspace-Delivery-Id")


def test_an_answer_is_printed_when_it_came_whole(place: Place) -> None:
    """What the daemon decided reaches Claude Code word for word."""
    decision = b'{"hookSpecificOutput":{"permissionDecisionReason":"no \\u00e9 \xc3\xa9 %s\\n"}}'
    with server(answer(decision)) as (port, _):
        place.daemon_at(port, *EVENTS)
        assert place.run("PreToolUse") == Ran(0, decision, b"")
    assert place.told() == []


@pytest.mark.parametrize(
    "reply",
    [
        answer(b'{"decision":"bl', length=40),
        answer(b'{"decision":"block"}', length=3),
        b"HTTP/1.1 200 OK\r\n\r\n" + b'{"decision":"block"}',
        b"HTTP/1.1 200 OK\r\n",
    ],
    ids=["cut off", "wrong length", "without a length", "head only"],
)
def test_half_an_answer_is_no_answer(place: Place, reply: bytes) -> None:
    """What did not come whole is not printed: it would reach the model."""
    with server(reply) as (port, _):
        place.daemon_at(port, *EVENTS)
        assert place.run("UserPromptSubmit") == QUIET


@pytest.mark.parametrize("status", [400, 404, 405, 409, 413, 415])
def test_what_is_refused_for_good_is_not_sent_again(place: Place, status: int) -> None:
    """The daemon has counted it and would refuse it again."""
    with server(b"HTTP/1.1 %d No\r\ncontent-length: 2\r\n\r\n{}" % status) as (port, _):
        place.daemon_at(port, *EVENTS)
        assert place.run("Stop") == QUIET
    assert place.told() == []


@pytest.mark.parametrize("reply", [b"HTTP/1.1 503 No\r\n\r\n", b"HTTP/1.1 401 No\r\n\r\n", b"SSH-2.0-OpenSSH_9.2\r\n"])
def test_what_may_be_taken_later_is_told(place: Place, reply: bytes) -> None:
    """A daemon in trouble, a token that is no longer good, or something else on that port: the event is kept."""
    with server(reply) as (port, _):
        place.daemon_at(port, *EVENTS)
        assert place.run("Stop") == QUIET
    assert [payload for _, payload in place.told()] == [PAYLOAD]


def test_a_refused_connection_is_told_instead(place: Place) -> None:
    """Nobody listens: the event is kept, and the daemon is not marked, since that cost no time."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    place.daemon_at(port, *EVENTS)
    assert place.run("Stop") == QUIET
    assert len(place.told()) == 1
    assert not place.is_silent


def test_an_address_without_its_daemon_gets_nothing(place: Place) -> None:
    """A stranger who listens where a daemon was sees neither the token nor the event."""
    gone = subprocess.Popen(["true"])
    gone.wait()
    with server(NOTHING_TO_SAY) as (port, requests):
        place.daemon_at(port, *EVENTS, pid=gone.pid)
        assert place.run("Stop") == QUIET
    assert requests == []
    assert len(place.told()) == 1


def test_a_hanging_daemon_costs_one_hook_its_patience(place: Place) -> None:
    """After one question without an answer the daemon is marked, and is not asked until the mark is gone."""
    with server(None) as (port, _):
        place.daemon_at(port, *EVENTS)
        assert place.run("SessionEnd") == QUIET
        assert place.is_silent
    with server(NOTHING_TO_SAY) as (port, requests):
        place.daemon_at(port, *EVENTS)
        assert place.run("Stop") == QUIET
        assert requests == []
        (place.root / "state" / "silent").unlink()
        assert place.run("Stop") == QUIET
        assert len(requests) == 1
    assert [notes["event"] for notes, _ in place.told()].count("SessionEnd") == 1
    assert len(place.told()) == 2


def test_a_large_question_does_not_hang_with_the_daemon(place: Place) -> None:
    """Megabytes that nobody reads are kept in the spool like anything else."""
    payload = b'{"session_id":"one","text":"' + b"x" * 6_000_000 + b'"}'
    with server(None) as (port, _):
        place.daemon_at(port, *EVENTS)
        assert place.run("SessionEnd", payload=payload) == QUIET
    assert [told for _, told in place.told()] == [payload]


def test_a_large_question_is_answered(place: Place) -> None:
    """Megabytes that are read get their answer."""
    payload = b'{"session_id":"one","text":"' + b"x" * 6_000_000 + b'"}'
    with server(answer(b'{"decision":"block"}')) as (port, requests):
        place.daemon_at(port, *EVENTS)
        assert place.run("PreToolUse", payload=payload).out == b'{"decision":"block"}'
    assert requests[0].partition(b"\r\n\r\n")[2] == payload + b"\n"


def test_what_finds_no_room_in_the_spool_is_asked(installed: Place) -> None:
    """Where no file can be written, the daemon is the second way."""
    shutil.rmtree(installed.spool)
    installed.spool.write_text("a file, where the directory should be")
    with server(NOTHING_TO_SAY) as (port, requests):
        installed.daemon_at(port)
        assert installed.run("Stop") == QUIET
    assert len(requests) == 1


# --- its own limits ---


def test_a_client_that_writes_nothing_is_not_waited_for(installed: Place) -> None:
    """An input that stays open and silent ends the hook by itself, with 0."""
    process, stdin = installed.start("Stop")
    assert process.communicate(timeout=60) == (b"", b"")
    assert process.returncode == 0
    stdin.close()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_it_without_an_error(installed: Place, number: signal.Signals) -> None:
    """A hook that the client stops exits with 0, even in the middle of its input."""
    process, stdin = installed.start("Stop")
    stdin.sendall(PAYLOAD[:20])
    wait_for(lambda: is_reading(process.pid))
    process.send_signal(number)
    assert process.communicate(timeout=60) == (b"", b"")
    assert process.returncode == 0
    stdin.close()


def test_a_signal_while_it_asks_keeps_the_event(installed: Place) -> None:
    """A question that the client cuts off is told instead."""
    with server(None) as (port, _):
        installed.daemon_at(port, *EVENTS)
        process, stdin = installed.start("PermissionRequest")
        stdin.sendall(PAYLOAD)
        stdin.close()
        wait_for(lambda: is_asking(process.pid))
        process.send_signal(signal.SIGTERM)
        assert process.communicate(timeout=60) == (b"", b"")
    assert process.returncode == 0
    assert [payload for _, payload in installed.told()] == [PAYLOAD]


def wait_for(condition: Callable[[], bool]) -> None:
    """Ask until it is so, within a limit that only a hang reaches."""
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.005)


def is_reading(pid: int) -> bool:
    """Whether the traps are set: the signals are caught by the process."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except FileNotFoundError:
        time.sleep(0.3)  # no such files on macOS: it has started by then
        return True
    caught = int(re.findall(r"^SigCgt:\s*(\w+)", status, re.MULTILINE)[0], 16)
    return all(caught >> (number - 1) & 1 for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP))


def is_asking(pid: int) -> bool:
    """Whether the question has been sent: its descriptor is there."""
    if not Path("/proc/self/fd").exists():
        time.sleep(0.3)
        return True
    return Path(f"/proc/{pid}/fd/3").is_symlink() and is_waiting(pid)


def is_waiting(pid: int) -> bool:
    """Whether the process sleeps."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].startswith("S")


# --- one process ---


@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")
@pytest.mark.parametrize("asked", [(), ("Stop",)], ids=["telling", "asking"])
def test_it_is_one_process(installed: Place, tmp_path: Path, asked: tuple[str, ...]) -> None:
    """Telling and asking start no other process."""
    trace = tmp_path / "trace"
    with server(NOTHING_TO_SAY) as (port, _):
        installed.daemon_at(port, *asked)
        subprocess.run(
            ["strace", "-f", "-o", str(trace), "-e", "trace=process", BASH, "-p", str(installed.script), "Stop"],
            input=PAYLOAD,
            env={},
            check=True,
            timeout=60,
        )
    calls: Any = re.findall(r"\b(execve|clone3?|v?fork)\(", trace.read_text())
    assert calls == ["execve"]


def test_it_uses_nothing_that_bash_3_lacks() -> None:
    """The script keeps to what bash 3.2 understands outside of the branches for newer ones."""
    newer = [r"\$\{\w+(,,|\^\^|@)", r"\bmapfile\b", r"\breadarray\b", r"\bdeclare -[An]", r"\|&", r"&>>", r"\bcoproc\b"]
    found = [pattern for pattern in newer if re.search(pattern, SCRIPT.read_text())]
    assert found == []
