"""`headspace doctor`: checks the path of an event from the settings of each client to the journal.

The checks use the real installation: the hook script runs with an empty environment, as in a client, and its event is
looked up in the journal. The event has a special name, so that no agent appears on the board.
"""

import http.client
import os
import stat
import subprocess
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec

from claude_headspace.clients.catalog import CLIENTS, title_of
from claude_headspace.clients.config_dirs import known_config_dirs
from claude_headspace.clients.hook_checks import Check, failed, ok, warning
from claude_headspace.clients.hook_files import HOOK_SCRIPT, HookFiles, read_conf, script_text
from claude_headspace.clients.hook_inspection import INSTALL
from claude_headspace.clients.installation import INSTALLERS
from claude_headspace.clients.session_databases import SESSION_DATABASES
from claude_headspace.clients.transcripts import TRANSCRIPT_FILES
from claude_headspace.config import Paths, load_settings
from claude_headspace.errors import BadRequest, HeadspaceError
from claude_headspace.inputs.receive.spool_notes import client_of_file
from claude_headspace.kernel.hooks import PROBE
from claude_headspace.kernel.text import count
from claude_headspace.surfaces.client.api_client import ApiClient
from claude_headspace.surfaces.client.running_daemon import find_daemon
from claude_headspace.surfaces.text.clients import clients_without_guards
from claude_headspace.surfaces.text.formatting import parse_timestamp
from claude_headspace.surfaces.text.labels import component_label, is_database_unavailable, waiting_for_database

START = "Run `headspace up`."
PROBE_SECONDS = 5.0
LONG_DELAY_SECONDS = 2.0
SILENT_SECONDS = 60.0
RECENT = timedelta(minutes=10)


class CheckGroup(msgspec.Struct, frozen=True):
    """The checks of Headspace itself, or of one config dir."""

    name: str
    checks: list[Check]
    client: str = ""
    """The title of the client, if it is a config dir."""


class Report(msgspec.Struct, frozen=True):
    """All checks."""

    ok: bool
    places: list[CheckGroup]


def run_checks(config_dirs: Sequence[tuple[str, Path]], paths: Paths) -> Report:
    """Run all checks, for config dirs and their clients."""
    groups = [CheckGroup("Headspace", _collect(_daemon(paths), _spool(paths), _bash(), _notifications(paths)))]
    used = {client for client, path in config_dirs if _is_used(client, path, paths)}
    for client, path in config_dirs:
        checks = _check_config_dir(client, path, paths)
        unused = bool(used) and client not in used
        groups.append(CheckGroup(str(path), _as_warnings(checks) if unused else checks, CLIENTS[client].title))
    return Report(not any(check.status == "failed" for group in groups for check in group.checks), groups)


def _is_used(client: str, path: Path, paths: Paths) -> bool:
    """Whether hooks are or were installed in a config dir."""
    installer = INSTALLERS[client]
    return installer.registration(path, paths.state).is_active or installer.files(path).record.exists()


def _as_warnings(checks: Sequence[Check]) -> list[Check]:
    """The checks of a client without hooks, while other clients have them: not every client has to be used."""
    return [warning(each.name, each.detail, each.hint) if each.status == "failed" else each for each in checks]


def _check_config_dir(client: str, path: Path, paths: Paths) -> list[Check]:
    """The checks of a config dir. Hooks that only report have no files."""
    installer = INSTALLERS[client]
    files = installer.files_in_use(path, paths.state)
    of_files = (_files(files, paths), _delivery(client, files, paths)) if files is not None else ()
    return _collect(installer.checks(path, paths.state), *of_files, _transcripts(client, path, paths))


def _collect(*parts: Iterator[Check]) -> list[Check]:
    """All checks. An exception in one becomes a failed check, and the others still run."""
    checks: list[Check] = []
    for part in parts:
        try:
            checks += part
        except (HeadspaceError, OSError) as error:
            hint = error.hint if isinstance(error, HeadspaceError) else "See `headspace logs`."
            checks.append(failed("check", str(error), hint))
    return checks


def _has_no_database(paths: Paths) -> bool:
    """Whether the daemon cannot use its database."""
    return is_database_unavailable(ApiClient.local(paths).health()["parts"])


# --- Headspace itself ---


def _daemon(paths: Paths) -> Iterator[Check]:
    daemon = find_daemon(paths)
    if daemon is None:
        yield failed("daemon", "not running; events are stored in the spool", START)
        return
    yield ok("daemon", f"running at {daemon.url} (pid {daemon.pid}, version {daemon.version})")
    yield _reception(ApiClient.local(paths).status()["hooks"])
    health = ApiClient.local(paths).health()
    parts = health["parts"]
    waiting = waiting_for_database(parts)
    for problem in health.get("guard_problems", ()):  # a failure is found in the config dir itself
        where = clients_without_guards([problem])
        yield warning("guards", f"off{where} since {problem['since']}: {problem['text']}", problem["hint"])
    for name, part in parts.items():
        if part["status"] != "ok" and name not in (*waiting, "guards"):
            yield failed(component_label(name), f"{part['status']}: {part['detail']}", "See `headspace logs`.")
    if waiting:
        labels = ", ".join(map(component_label, waiting))
        yield warning("waiting", f"for the database: {labels}", "Hooks are answered, and no event is lost.")


def _reception(hooks: dict[str, Any]) -> Check:
    """Whether hooks are installed and firing, as the daemon reports it everywhere."""
    if hooks["installed"]:
        return ok("reception", hooks["summary"])
    return (warning if hooks["firing"] else failed)("reception", hooks["summary"], INSTALL)


def _spool(paths: Paths) -> Iterator[Check]:
    if not paths.spool.exists():
        yield failed("spool", "the spool directory does not exist yet", START)
        return
    if not os.access(paths.spool, os.W_OK | os.X_OK):
        yield failed("spool", f"{paths.spool} is not writable, so events are lost while the daemon is down", INSTALL)
        return
    waiting = len(list(paths.spool.glob("*.json")))
    rejected = Counter(client_of_file(path) for path in (paths.spool / "rejected").glob("*.json"))
    yield ok("spool", f"{count(waiting, 'event')} waiting" if waiting else "empty")
    if rejected:
        where = paths.spool / "rejected"
        clients = ", ".join(sorted(map(title_of, rejected)))
        detail = f"{count(rejected.total(), 'event')} of {clients} could not be parsed"
        yield warning("rejected", detail, f"Inspect {where}, then delete it.")
    lost = paths.spool / "lost"
    if lost.exists():
        detail = f"{count(lost.stat().st_size, 'event')} lost while the spool was full"
        yield warning("lost", detail, f"Keep the daemon running. Delete {lost} to clear this warning.")
    if paths.no_answer_file.exists():
        yield warning("answers", "the daemon recently did not reply in time", "Run this check again in a few seconds.")


def _bash() -> Iterator[Check]:
    program = script_text().partition("\n")[0].removeprefix("#!").split()[0]
    try:
        done = subprocess.run(
            [program, "-c", "echo $BASH_VERSION"], capture_output=True, text=True, timeout=10, check=True
        )
    except (OSError, subprocess.SubprocessError):
        yield failed("bash", f"{program} cannot be run", f"Install bash. {INSTALL}")
        return
    version = done.stdout.strip()
    old = " (starts another program for each hook; a newer version is faster)" if version < "4.1" else ""
    yield ok("bash", f"{program} {version}{old}")


def _notifications(paths: Paths) -> Iterator[Check]:
    """Whether a channel is available, and whether the last notifications were sent."""
    if find_daemon(paths) is None:
        return
    found = ApiClient.local(paths).notification_rules()
    usable = [channel["name"] for channel in found["channels"] if channel["available"]]
    failing = [channel for channel in found["channels"] if channel["last_failure"]]
    if not found["on"]:
        yield ok("notify", f"turned off in {found['file']}")
    elif not usable:
        why = next(channel["detail"] for channel in found["channels"] if channel["name"] == "desktop")
        yield ok("notify", f"no channel: {why}; add one in {found['file']}")
    for channel in failing:
        detail = f"the last notification through {channel['name']} failed: {channel['last_failure']}"
        yield warning("notify", detail, f"Test it with `headspace notify test {channel['name']}`.")
    if paths.notify_file.exists() and paths.notify_file.stat().st_mode & 0o077:
        detail = f"other users can read {paths.notify_file}, which contains addresses"
        yield warning("notify", detail, f"Run `chmod 600 {paths.notify_file}`.")
    if found["on"] and usable and not failing:
        yield ok("notify", f"through {', '.join(usable)}")


# --- a configuration directory ---


def _files(config: HookFiles, paths: Paths) -> Iterator[Check]:
    if config.has_script and not config.script.exists():
        yield failed("script", f"{config.script} does not exist", INSTALL)
        return
    if config.has_script:
        yield _script(config)
    yield _conf(config, paths)


def _script(config: HookFiles) -> Check:
    if not os.access(config.script, os.X_OK):
        return failed("script", "not executable", f"Run `chmod 700 {config.script}`.")
    if _body(config.script) != _body(HOOK_SCRIPT):
        return failed("script", "from another version", INSTALL)
    return ok("script", "from this version")


def _body(script: Path) -> str:
    """A script without its first line, which contains the path of bash."""
    return script.read_text(encoding="utf-8", errors="replace").partition("\n")[2]


def _conf(config: HookFiles, paths: Paths) -> Check:
    if not config.state_link.is_symlink() or config.state_link.readlink() != paths.state:
        return failed(
            "link",
            f"{config.state_link} does not point to {paths.state}, the state directory of this installation",
            INSTALL,
        )
    try:
        mode = stat.S_IMODE(config.conf.stat().st_mode)
    except OSError as error:
        return failed("conf", f"{config.conf.name} is not readable: {error}", INSTALL)
    if mode & 0o077:
        return failed("conf", f"other users can read the token in it ({mode:04o})", f"Run `chmod 600 {config.conf}`.")
    return ok("conf", "exists, and is private")


# --- delivery of an event ---


def _delivery(client: str, config: HookFiles, paths: Paths) -> Iterator[Check]:
    if (config.has_script and not config.script.exists()) or not config.conf.exists():
        return
    if find_daemon(paths) is None:
        yield warning("event", "not tested, because the daemon is not running", START)
        return
    yield _token(config, paths)
    if _has_no_database(paths):
        yield warning(
            "event", "not tested, because the database is unavailable", "Run this check again when it is available."
        )
        return
    if config.has_script:
        yield from _test_event(client, config, paths)


def _token(config: HookFiles, paths: Paths) -> Check:
    """Whether the daemon accepts the token of the hook script, at the address that the script uses."""
    try:
        host, port, _pid = paths.address_file.read_text(encoding="utf-8").split()
        status = _post_probe(host, int(port), read_conf(config.conf).get("token", ""))
    except (OSError, ValueError, http.client.HTTPException) as error:
        return failed("token", f"the daemon does not answer: {error}", "Restart the daemon; see `headspace logs`.")
    if status != 204:
        return failed("token", "the daemon rejects the token of the hook script", INSTALL)
    return ok("token", f"accepted by the daemon at {host}:{port}")


def _post_probe(host: str, port: int, token: str) -> int:
    connection = http.client.HTTPConnection(host, port, timeout=PROBE_SECONDS)
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {token}", "X-Headspace-Reply": "hook"}
    try:
        connection.request("POST", f"/hook/{PROBE}", _payload(str(uuid.uuid4())), {**headers, "Host": "127.0.0.1"})
        return connection.getresponse().status
    finally:
        connection.close()


def _payload(nonce: str) -> bytes:
    return msgspec.json.encode({"session_id": "headspace-doctor", "hook_event_name": PROBE, "nonce": nonce})


def _test_event(client: str, config: HookFiles, paths: Paths) -> Iterator[Check]:
    """Run the hook script as a client does, and find its event in the journal."""
    api, nonce = ApiClient.local(paths), str(uuid.uuid4())
    start = api.last_seq()
    try:
        done = subprocess.run(
            [str(config.script), PROBE, client],
            input=_payload(nonce),
            env={},
            capture_output=True,
            timeout=PROBE_SECONDS,
            check=False,
        )
    except (OSError, subprocess.SubprocessError) as error:
        yield failed("event", f"the hook script cannot be run: {error}", INSTALL)
        return
    if done.returncode or done.stdout or done.stderr:
        yield failed("event", f"the hook script failed or printed something (exit code {done.returncode})", INSTALL)
    event = _wait_for(lambda: _find_event(api, start, nonce))
    if event is None:
        yield failed("event", "sent through the hook script, but not received", "See `headspace logs` and the spool.")
        return
    delay = (parse_timestamp(event["received_at"]) - parse_timestamp(event["fired_at"])).total_seconds()
    yield ok("event", f"sent through the hook script and found in the journal (number {event['seq']})")
    if delay > LONG_DELAY_SECONDS:
        hint = "The machine may be busy, or its clock was changed."
        yield warning("clock", f"{delay:.1f} s between the hook and its arrival", hint)
    else:
        yield ok("clock", f"{max(delay, 0) * 1000:.0f} ms between the hook and its arrival")


def _find_event(client: ApiClient, after: int, nonce: str) -> dict[str, Any] | None:
    events = client.events(after=after, limit=1000)
    return next((event for event in events if event["name"] == PROBE and event["payload"].get("nonce") == nonce), None)


def _wait_for(look: Callable[[], dict[str, Any] | None]) -> dict[str, Any] | None:
    deadline = time.monotonic() + PROBE_SECONDS
    while time.monotonic() < deadline:
        if (found := look()) is not None:
            return found
        time.sleep(0.05)
    return None


# --- transcripts ---


def _transcripts(client: str, path: Path, paths: Paths) -> Iterator[Check]:
    roots = [root for root in TRANSCRIPT_FILES[client].roots(path) if root.exists()]
    if client in SESSION_DATABASES:
        yield _session_database(client, path)
        return
    if not roots:
        yield ok("transcripts", "none yet")
        return
    if unreadable := [root for root in roots if not os.access(root, os.R_OK | os.X_OK)]:
        yield failed("transcripts", f"{unreadable[0]} is not readable", "Check its owner and permissions.")
        return
    if path not in known_config_dirs(load_settings(paths), paths, client=client):
        hint = f"Run `headspace install --config-dir {path}`, or add it to config_dirs in {paths.config_file}."
        yield warning("transcripts", "the daemon does not read this directory", hint)
    else:
        yield ok("transcripts", "readable")
    yield from _sessions_without_hooks(client, roots, paths)


def _session_database(client: str, path: Path) -> Check:
    """The database that a client keeps its sessions in, instead of transcripts."""
    kind = SESSION_DATABASES[client]
    found = [database for database in kind.databases(path) if database.exists()]
    if not found:
        return ok("sessions", "no database yet")
    if unreadable := [database for database in found if not os.access(database, os.R_OK)]:
        return failed("sessions", f"{unreadable[0]} is not readable", "Check its owner and permissions.")
    number = sum(len(kind.list_sessions(database)) for database in found)
    return ok("sessions", f"{count(number, 'session')} in {', '.join(map(str, found))}")


def _sessions_without_hooks(client: str, roots: Sequence[Path], paths: Paths) -> Iterator[Check]:
    """Sessions that write a transcript but send no hook events."""
    if find_daemon(paths) is None or _has_no_database(paths):
        return
    api, now, files = ApiClient.local(paths), datetime.now(UTC), TRANSCRIPT_FILES[client]
    agents = {agent["session_id"]: agent for agent in api.agents(include_old=True)}
    for path, found in files.find_transcripts(roots):
        written, session = datetime.fromtimestamp(found.st_mtime, UTC), files.session_of(path)
        if now - written > RECENT or files.is_subagent(path) or not session:
            continue
        agent = agents.get(session) or _agent_of(api, session)
        last_hook = _last_hook(api, agent["id"]) if agent else None
        if last_hook is None or (written - last_hook).total_seconds() > SILENT_SECONDS:
            name = f" ({agent['name']})" if agent else ""
            detail = f"session {session}{name} writes a transcript, but sends no hook events"
            yield warning("silent", detail, "It may use other settings, or have hooks turned off.")


def _agent_of(client: ApiClient, session: str) -> dict[str, Any] | None:
    """The agent of a session that another one has replaced, after `/clear` or a restart; None if it is unknown."""
    try:
        return client.agent(session)
    except BadRequest:
        return None


def _last_hook(client: ApiClient, agent_id: str) -> datetime | None:
    hooks = [event for event in client.events(agent_id, limit=200) if event["origin"] == "hook"]
    return parse_timestamp(hooks[-1]["fired_at"]) if hooks else None
