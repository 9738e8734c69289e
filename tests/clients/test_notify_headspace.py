"""The hook script as Claude Code runs it: exec form, a socket as standard input, an empty environment.

`TEST_BASH=/path/to/bash` runs these tests with another bash. Most tests also run the branches for bash 3.2, with a
modified script.
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

from tests.clients.hook_script import (
    BASH,
    EMPTY_REPLY,
    EVENTS,
    EVERY_BYTE,
    NO_OUTPUT,
    PAYLOAD,
    SCRIPT,
    InstalledScript,
    ScriptResult,
    header,
    reply_with,
    server,
)

pytestmark = pytest.mark.skipif(shutil.which(BASH) is None, reason="bash is not installed")


@pytest.fixture(params=["this bash", "like bash 3.2"])
def script(request: pytest.FixtureRequest, tmp_path: Path) -> InstalledScript:
    """An installed script, for both branches."""
    found = InstalledScript(tmp_path / "a path with 'quotes'")
    if request.param != "this bash":
        found.simulate_old_bash()
    return found


@pytest.fixture
def installed(tmp_path: Path) -> InstalledScript:
    """An installed script."""
    return InstalledScript(tmp_path)


# --- roles ---


def test_a_session_with_a_role_asks(script: InstalledScript) -> None:
    """At its start, for each prompt and at the end of each turn. Other events are reported, with the role as well."""
    env = {"CLAUDE_SESSION_ROLE": 'chief of "staff"', "CLAUDE_SESSION_MODE": "mission", "MISSION_EXECUTION_ID": "m-1"}
    with server(reply_with(b"{}")) as (port, requests):
        script.advertise(port)
        for event in ("SessionStart", "UserPromptSubmit", "Stop"):
            assert script.run(event, env=env).out == b"{}"
        assert script.run("PreToolUse", env=env) == NO_OUTPUT
        assert script.run("SessionStart") == NO_OUTPUT
    headers = [
        tuple(header(each, f"X-Headspace-{name}") for name in ("Role", "Mode", "Mission-Id")) for each in requests
    ]
    assert headers == [("chief of staff", "mission", "m-1")] * 3
    assert [("role" in notes, notes["event"]) for notes, _ in script.reported()] == [
        (True, "PreToolUse"),
        (False, "SessionStart"),
    ]


def test_the_role_is_reported_without_a_daemon(script: InstalledScript) -> None:
    """The event is in the spool, with the role. A mission alone does not ask."""
    assert script.run("SessionStart", env={"CLAUDE_SESSION_ROLE": "chief"}) == NO_OUTPUT
    assert script.run("SessionStart", env={"MISSION_EXECUTION_ID": "m-1"}) == NO_OUTPUT
    assert [(notes.get("role"), notes.get("mission-id")) for notes, _ in script.reported()] == [
        ("chief", None),
        (None, "m-1"),
    ]


# --- report ---


def test_an_event_is_reported_in_one_file(script: InstalledScript) -> None:
    """Only its user can read the file, and nothing is printed."""
    assert script.run("PreToolUse") == NO_OUTPUT
    [(notes, payload)] = script.reported()
    assert payload == PAYLOAD
    assert notes["event"] == "PreToolUse"
    assert notes["client-pid"] == str(os.getpid())
    [path] = script.spool.iterdir()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_files_have_the_fire_time_and_sort_by_it(installed: InstalledScript) -> None:
    """In microseconds."""
    version = subprocess.run([BASH, "-c", "echo ${BASH_VERSINFO[0]}"], capture_output=True, check=True).stdout
    if int(version) < 5:
        pytest.skip("this bash has no clock finer than a second")
    before = time.time()
    for name in ("First", "Second", "Third"):
        installed.run(name)
    after = time.time()
    reported = installed.reported()
    assert [notes["event"] for notes, _ in reported] == ["First", "Second", "Third"]
    times = [float(notes["fired-at"]) for notes, _ in reported]
    assert before <= times[0] < times[1] < times[2] <= after


def test_values_of_the_environment_are_reported(script: InstalledScript) -> None:
    """Pane, tmux session, client and wrapper ids, mode and mission, if they are set."""
    env = {
        "CLAUDE_PID": "4711",
        "TMUX_PANE": "%3",
        "CLAUDE_HEADSPACE_TMUX_SESSION": "a work session",
        "CLAUDE_HEADSPACE_SESSION_ID": "headspace-1",
        "CLAUDE_SESSION_ID": "wrapper-1",
        "CLAUDE_SESSION_MODE": "background",
        "MISSION_EXECUTION_ID": "mission-1",
    }
    script.run("Stop", env=env)
    [(notes, _)] = script.reported()
    assert {name: notes[name] for name in notes if name not in ("delivery-id", "fired-at")} == {
        "event": "Stop",
        "client": "claude-code",
        "client-pid": "4711",
        "tmux-pane": "%3",
        "tmux-session": "a work session",
        "session-id": "headspace-1",
        "wrapper-id": "wrapper-1",
        "mode": "background",
        "mission-id": "mission-1",
    }


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
def test_session_start_has_the_ancestors_of_the_client(script: InstalledScript) -> None:
    """Nearest first. A short-lived client may exit before the daemon can look them up."""
    script.run("SessionStart")
    script.run("Stop")
    start, stop = (notes for notes, _ in script.reported())
    ancestors = [int(pid) for pid in start["ancestor-pids"].split()]
    assert ancestors == _parents()[: len(ancestors)]
    assert bool(ancestors) == bool(_parents())
    assert "ancestor-pids" not in stop


def _parents() -> list[int]:
    return [process.pid for process in psutil.Process().parents() if process.pid > 1]


def test_the_tmux_session_is_reported_only_if_it_is_set(script: InstalledScript) -> None:
    """By CLAUDE_HEADSPACE_TMUX_SESSION, not by TMUX."""
    script.run("Stop", env={"TMUX": "/tmp/tmux-0/default,1,0", "TMUX_PANE": "%3"})
    [(notes, _)] = script.reported()
    assert "tmux-session" not in notes


def test_special_characters_in_the_environment_are_harmless(script: InstalledScript) -> None:
    """Quotes, backslashes and control bytes are removed, and nothing is expanded or run."""
    hostile = "$(touch oops)`id`" + "x" * 500
    script.run("Stop", env={"TMUX_PANE": '%3"\\\r\nX-Evil: yes', "CLAUDE_SESSION_ID": hostile})
    [(notes, _)] = script.reported()
    assert notes["tmux-pane"] == "%3X-Evil: yes"
    assert notes["wrapper-id"] == hostile[:200]


HOSTILE_VALUES = ("a[$(touch PWNED)]", "$(touch PWNED)", "`touch PWNED`", "../../tmp", "-1", "0x1", "08", "1 2", "*")


@pytest.mark.parametrize("asks", [False, True])
def test_no_value_of_the_environment_runs(script: InstalledScript, tmp_path: Path, *, asks: bool) -> None:
    """Hostile values in every variable that the script uses: the event is delivered, and nothing runs."""
    used = set(re.findall(r"\$\{?([A-Z][A-Z_]+)", SCRIPT.read_text())) | {
        "TMOUT",
        "BASH_ENV",
        "ENV",
        "PS4",
        "next",
        "all",
    }
    marker = tmp_path / "pwned"
    with server(reply_with(b"{}")) as (port, requests):
        if asks:
            script.advertise(port, "SessionStart")
        for value in HOSTILE_VALUES:
            script.run("SessionStart", env={**dict.fromkeys(used, value.replace("PWNED", str(marker))), "TMOUT": "1"})
    assert len(requests if asks else script.reported()) == len(HOSTILE_VALUES)
    assert not marker.exists()


def test_a_process_id_with_a_path_is_not_followed(script: InstalledScript, tmp_path: Path) -> None:
    """A file that looks like an entry of /proc is neither read nor evaluated; the parent process counts instead."""
    fake, marker = tmp_path / "fake", tmp_path / "pwned"
    fake.mkdir()
    (fake / "stat").write_text(f"1 (x) S a[$(touch${{IFS:-\t}}{marker})0] 1\n")
    (tmp_path / "pipe").mkdir()
    os.mkfifo(tmp_path / "pipe" / "stat")
    for folder in (fake, tmp_path / "pipe"):
        assert script.run("SessionStart", env={"CLAUDE_PID": f"..{folder}"}) == NO_OUTPUT
    assert not marker.exists()
    assert {notes["client-pid"] for notes, _ in script.reported()} == {str(os.getpid())}


@pytest.mark.parametrize("name", ["address", "asked/PreToolUse", "silent"])
def test_pipes_and_directories_do_not_block_a_hook(installed: InstalledScript, name: str) -> None:
    """The hook asks without the limit in the file, or reports. It never waits for a writer of a pipe."""
    for make in (os.mkfifo, Path.mkdir):
        with server(reply_with(b"{}")) as (port, _requests):
            installed.advertise(port, "PreToolUse")
            path = installed.root / "state" / name
            path.unlink(missing_ok=True)
            make(path)
            done = installed.run("PreToolUse")
            assert done.out == (b"" if name == "address" else b"{}")
            path.rmdir() if path.is_dir() else path.unlink()


def test_every_delivery_has_its_own_id(installed: InstalledScript) -> None:
    """Twenty hooks at once have twenty ids and twenty files."""
    runs = [installed.start("PreToolUse") for _ in range(20)]
    for process, stdin in runs:
        stdin.sendall(PAYLOAD)
        stdin.close()
        assert process.communicate(timeout=60) == (b"", b"")
    assert len({notes["delivery-id"] for notes, _ in installed.reported()}) == 20


@pytest.mark.parametrize("size", [0, 4_000, 70_000, 6_000_000])
def test_payloads_are_unchanged(script: InstalledScript, size: int) -> None:
    """Every byte value, and several megabytes."""
    payload = EVERY_BYTE[:-2] + os.urandom(size).replace(b"\0", b"").replace(b'"', b"") + b'"}'
    assert script.run("PostToolUse", payload=payload) == NO_OUTPUT
    assert [written for _, written in script.reported()] == [payload]


def test_a_newline_at_the_end_is_harmless(script: InstalledScript) -> None:
    """The payload may end with one."""
    script.run("Stop", payload=PAYLOAD + b"\n")
    assert [payload.rstrip(b"\n") for _, payload in script.reported()] == [PAYLOAD]


def test_zero_bytes_are_removed(script: InstalledScript) -> None:
    """bash cannot store them."""
    assert script.run("Stop", payload=b'{"session_id":"o\0ne"}') == NO_OUTPUT
    assert [payload for _, payload in script.reported()] == [b'{"session_id":"one"}']


@pytest.mark.parametrize("arguments", [(), ("",), ("../../etc/passwd",), ("Pre ToolUse",)])
def test_without_a_valid_argument_the_payload_names_the_event(
    script: InstalledScript, arguments: tuple[str, ...]
) -> None:
    """A hook may be registered without `args`."""
    script.run(*arguments)
    assert [notes["event"] for notes, _ in script.reported()] == ["PreToolUse"]


def test_an_event_without_a_name_is_reported(script: InstalledScript) -> None:
    """As `Unnamed`."""
    script.run(payload=b'{"session_id":"one"}')
    assert [notes["event"] for notes, _ in script.reported()] == ["Unnamed"]


def test_without_a_payload_nothing_is_reported(script: InstalledScript) -> None:
    """An empty input leaves no file."""
    assert script.run("Stop", payload=b"") == NO_OUTPUT
    assert script.reported() == []


def test_a_missing_spool_is_created(script: InstalledScript) -> None:
    """The directory may have been removed since the installation."""
    script.spool.rmdir()
    assert script.run("Stop") == NO_OUTPUT
    assert len(script.reported()) == 1
    assert stat.S_IMODE(script.spool.stat().st_mode) == 0o700


def test_without_a_state_directory_it_does_nothing(script: InstalledScript) -> None:
    """Headspace may have been removed."""
    script.script.with_suffix(".state").unlink()
    script.script.with_suffix(".state").symlink_to("/does/not/exist")
    assert script.run("Stop") == NO_OUTPUT


def test_a_hook_that_counts_the_spool_reports_too(installed: InstalledScript) -> None:
    """One in a hundred hooks counts the files and marks a spool that is full."""
    text = installed.script.read_text()
    assert text.count("*00") == 2
    installed.script.write_text(text.replace("*00", "*"))
    assert installed.run("Stop") == NO_OUTPUT
    assert len(installed.reported()) == 1
    installed.script.write_text(text.replace("*00", "*").replace("50000", "1"))
    assert installed.run("Stop") == NO_OUTPUT
    assert (installed.spool / "full").exists()
    assert (installed.spool / "lost").stat().st_size == 1
    assert len(installed.reported()) == 1


def test_events_are_counted_while_the_spool_is_full(script: InstalledScript) -> None:
    """They are dropped."""
    (script.spool / "full").touch()
    assert script.run("Stop") == NO_OUTPUT
    assert script.run("Stop") == NO_OUTPUT
    assert script.reported() == []
    assert (script.spool / "lost").stat().st_size == 2


def test_shell_options_in_the_environment_are_ignored(installed: InstalledScript) -> None:
    """Posix mode, startup files, options and IFS."""
    trap = installed.root / "trap.sh"
    trap.write_text("echo from BASH_ENV; exit 3\n")
    env = {"POSIXLY_CORRECT": "1", "BASH_ENV": str(trap), "ENV": str(trap), "SHELLOPTS": "errexit:nounset", "IFS": "{"}
    installed.advertise(1, *EVENTS)
    assert installed.run("Stop", env=env) == NO_OUTPUT
    assert [payload for _, payload in installed.reported()] == [PAYLOAD]


# --- ask ---


def test_only_advertised_events_ask(script: InstalledScript) -> None:
    """All others are reported."""
    with server(EMPTY_REPLY) as (port, requests):
        script.advertise(port, "Stop", "PreToolUse")
        for event in ("PreToolUse", "PostToolUse", "Stop", "StopFailure"):
            assert script.run(event) == NO_OUTPUT
    assert [request.split(b" ")[1] for request in requests] == [b"/hook/PreToolUse", b"/hook/Stop"]
    assert [notes["event"] for notes, _ in script.reported()] == ["PostToolUse", "StopFailure"]


def test_a_request_has_all_notes(script: InstalledScript) -> None:
    """The token, the payload with its length, and the same notes as a file."""
    with server(EMPTY_REPLY) as (port, requests):
        script.advertise(port, *EVENTS)
        env = {"CLAUDE_PID": "4711", "TMUX_PANE": "%3\r\nX-Evil: yes", "CLAUDE_SESSION_ID": "w"}
        script.run("Stop", payload=EVERY_BYTE, env=env)
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


def test_a_complete_reply_is_printed(script: InstalledScript) -> None:
    """Byte for byte."""
    decision = b'{"hookSpecificOutput":{"permissionDecisionReason":"no \\u00e9 \xc3\xa9 %s\\n"}}'
    with server(reply_with(decision)) as (port, _):
        script.advertise(port, *EVENTS)
        assert script.run("PreToolUse") == ScriptResult(0, decision, b"")
    assert script.reported() == []


@pytest.mark.parametrize(
    "reply",
    [
        reply_with(b'{"decision":"bl', length=40),
        reply_with(b'{"decision":"block"}', length=3),
        b"HTTP/1.1 200 OK\r\n\r\n" + b'{"decision":"block"}',
        b"HTTP/1.1 200 OK\r\n",
    ],
    ids=["cut off", "wrong length", "without a length", "head only"],
)
def test_an_incomplete_reply_is_not_printed(script: InstalledScript, reply: bytes) -> None:
    """It could reach the model."""
    with server(reply) as (port, _):
        script.advertise(port, *EVENTS)
        assert script.run("UserPromptSubmit") == NO_OUTPUT


@pytest.mark.parametrize("status", [400, 404, 405, 409, 413, 415])
def test_an_event_that_is_refused_is_not_reported(script: InstalledScript, status: int) -> None:
    """The daemon would refuse it again."""
    with server(b"HTTP/1.1 %d No\r\ncontent-length: 2\r\n\r\n{}" % status) as (port, _):
        script.advertise(port, *EVENTS)
        assert script.run("Stop") == NO_OUTPUT
    assert script.reported() == []


@pytest.mark.parametrize("reply", [b"HTTP/1.1 503 No\r\n\r\n", b"HTTP/1.1 401 No\r\n\r\n", b"SSH-2.0-OpenSSH_9.2\r\n"])
def test_an_event_that_may_be_accepted_later_is_reported(script: InstalledScript, reply: bytes) -> None:
    """The daemon fails, the token is outdated, or another program listens on the port."""
    with server(reply) as (port, _):
        script.advertise(port, *EVENTS)
        assert script.run("Stop") == NO_OUTPUT
    assert [payload for _, payload in script.reported()] == [PAYLOAD]


def test_an_event_is_reported_if_the_connection_is_refused(script: InstalledScript) -> None:
    """The daemon is not marked as silent, because that took no time."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    script.advertise(port, *EVENTS)
    assert script.run("Stop") == NO_OUTPUT
    assert len(script.reported()) == 1
    assert not script.is_silent


def test_the_address_of_an_ended_daemon_is_not_used(script: InstalledScript) -> None:
    """Another program on that port gets neither the token nor the event."""
    ended = subprocess.Popen(["true"])
    ended.wait()
    with server(EMPTY_REPLY) as (port, requests):
        script.advertise(port, *EVENTS, pid=ended.pid)
        assert script.run("Stop") == NO_OUTPUT
    assert requests == []
    assert len(script.reported()) == 1


def test_a_hanging_daemon_delays_one_hook(script: InstalledScript) -> None:
    """Then it is marked as silent, and not asked until the mark is removed."""
    with server(None) as (port, _):
        script.advertise(port, *EVENTS)
        assert script.run("SessionEnd") == NO_OUTPUT
        assert script.is_silent
    with server(EMPTY_REPLY) as (port, requests):
        script.advertise(port, *EVENTS)
        assert script.run("Stop") == NO_OUTPUT
        assert requests == []
        (script.root / "state" / "silent").unlink()
        assert script.run("Stop") == NO_OUTPUT
        assert len(requests) == 1
    assert [notes["event"] for notes, _ in script.reported()].count("SessionEnd") == 1
    assert len(script.reported()) == 2


def test_a_large_request_to_a_hanging_daemon_is_reported(script: InstalledScript) -> None:
    """Megabytes that the daemon does not read do not block the script."""
    payload = b'{"session_id":"one","text":"' + b"x" * 6_000_000 + b'"}'
    with server(None) as (port, _):
        script.advertise(port, *EVENTS)
        assert script.run("SessionEnd", payload=payload) == NO_OUTPUT
    assert [written for _, written in script.reported()] == [payload]


def test_a_large_request_gets_its_reply(script: InstalledScript) -> None:
    """Megabytes are sent by a second process."""
    payload = b'{"session_id":"one","text":"' + b"x" * 6_000_000 + b'"}'
    with server(reply_with(b'{"decision":"block"}')) as (port, requests):
        script.advertise(port, *EVENTS)
        assert script.run("PreToolUse", payload=payload).out == b'{"decision":"block"}'
    assert requests[0].partition(b"\r\n\r\n")[2] == payload + b"\n"


def test_an_event_asks_if_the_spool_is_not_writable(installed: InstalledScript) -> None:
    """The request is the fallback."""
    shutil.rmtree(installed.spool)
    installed.spool.write_text("a file, where the directory should be")
    with server(EMPTY_REPLY) as (port, requests):
        installed.advertise(port)
        assert installed.run("Stop") == NO_OUTPUT
    assert len(requests) == 1


# --- limits ---


def test_it_exits_if_the_client_writes_nothing(installed: InstalledScript) -> None:
    """With 0, although its input stays open."""
    process, stdin = installed.start("Stop")
    assert process.communicate(timeout=60) == (b"", b"")
    assert process.returncode == 0
    stdin.close()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_the_script_without_an_error(installed: InstalledScript, number: signal.Signals) -> None:
    """It exits with 0, even while it reads its input."""
    process, stdin = installed.start("Stop")
    stdin.sendall(PAYLOAD[:20])
    wait_for(lambda: is_reading(process.pid))
    process.send_signal(number)
    assert process.communicate(timeout=60) == (b"", b"")
    assert process.returncode == 0
    stdin.close()


def test_a_signal_during_a_request_reports_the_event(installed: InstalledScript) -> None:
    """The client ended the hook before the reply."""
    with server(None) as (port, _):
        installed.advertise(port, *EVENTS)
        process, stdin = installed.start("PermissionRequest")
        stdin.sendall(PAYLOAD)
        stdin.close()
        wait_for(lambda: is_asking(process.pid))
        process.send_signal(signal.SIGTERM)
        assert process.communicate(timeout=60) == (b"", b"")
    assert process.returncode == 0
    assert [payload for _, payload in installed.reported()] == [PAYLOAD]


def wait_for(condition: Callable[[], bool]) -> None:
    """Wait until a condition holds, with a limit that only a hang reaches."""
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.005)


def is_reading(pid: int) -> bool:
    """Whether the script has set its traps: the process catches the signals."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except FileNotFoundError:
        time.sleep(0.3)  # macOS has no /proc: the script has started by then
        return True
    caught = int(re.findall(r"^SigCgt:\s*(\w+)", status, re.MULTILINE)[0], 16)
    return all(caught >> (number - 1) & 1 for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP))


def is_asking(pid: int) -> bool:
    """Whether the request has been sent: the descriptor of the connection exists."""
    if not Path("/proc/self/fd").exists():
        time.sleep(0.3)
        return True
    return Path(f"/proc/{pid}/fd/3").is_symlink() and is_waiting(pid)


def is_waiting(pid: int) -> bool:
    """Whether the process sleeps."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].startswith("S")


# --- one process ---


@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")
@pytest.mark.parametrize("asked", [(), ("Stop",)], ids=["report", "ask"])
def test_it_is_one_process(installed: InstalledScript, tmp_path: Path, asked: tuple[str, ...]) -> None:
    """Neither a report nor a request starts another process."""
    trace = tmp_path / "trace"
    with server(EMPTY_REPLY) as (port, _):
        installed.advertise(port, *asked)
        subprocess.run(
            ["strace", "-f", "-o", str(trace), "-e", "trace=process", BASH, "-p", str(installed.script), "Stop"],
            input=PAYLOAD,
            env={},
            check=True,
            timeout=60,
        )
    calls: Any = re.findall(r"\b(execve|clone3?|v?fork)\(", trace.read_text())
    assert calls == ["execve"]


def test_it_uses_no_feature_that_bash_3_lacks() -> None:
    """Outside the branches for newer versions."""
    newer = [r"\$\{\w+(,,|\^\^|@)", r"\bmapfile\b", r"\breadarray\b", r"\bdeclare -[An]", r"\|&", r"&>>", r"\bcoproc\b"]
    found = [pattern for pattern in newer if re.search(pattern, SCRIPT.read_text())]
    assert found == []
