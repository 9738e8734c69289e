"""`headspace doctor`: checks the path of an event from the settings of Claude Code to the journal.

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

from claude_headspace.clients.claude_code.hooks import installation as installed
from claude_headspace.clients.claude_code.hooks.events import events_for
from claude_headspace.clients.claude_code.hooks.installation import ConfigDir
from claude_headspace.clients.claude_code.hooks.registration import Registration, read_registration
from claude_headspace.clients.claude_code.hooks.version import find_version
from claude_headspace.clients.claude_code.transcript_files import TRANSCRIPTS
from claude_headspace.clients.config_dirs import known_config_dirs
from claude_headspace.clients.hook_files import HOOK_SCRIPT, read_conf
from claude_headspace.config import Paths, load_settings
from claude_headspace.errors import HeadspaceError
from claude_headspace.kernel.hooks import PROBE
from claude_headspace.kernel.text import count
from claude_headspace.surfaces.client.api_client import ApiClient
from claude_headspace.surfaces.client.running_daemon import find_daemon
from claude_headspace.surfaces.text.formatting import parse_timestamp
from claude_headspace.surfaces.text.labels import component_label, is_database_unavailable, waiting_for_database

INSTALL = "Run `headspace install`."
START = "Run `headspace up`."
PROBE_SECONDS = 5.0
LONG_DELAY_SECONDS = 2.0
SILENT_SECONDS = 60.0
RECENT = timedelta(minutes=10)


class Check(msgspec.Struct, frozen=True):
    """One check: ok, warning or failed, with a hint."""

    name: str
    status: str
    detail: str
    hint: str = ""


class CheckGroup(msgspec.Struct, frozen=True):
    """The checks of Headspace itself, or of one config dir."""

    name: str
    checks: list[Check]


class Report(msgspec.Struct, frozen=True):
    """All checks."""

    ok: bool
    places: list[CheckGroup]


def ok(name: str, detail: str) -> Check:
    """A check without a problem."""
    return Check(name, "ok", detail)


def warning(name: str, detail: str, hint: str) -> Check:
    """A check with a problem that does not stop events."""
    return Check(name, "warning", detail, hint)


def failed(name: str, detail: str, hint: str) -> Check:
    """A check that found a failure."""
    return Check(name, "failed", detail, hint)


def run_checks(configs: Sequence[ConfigDir], paths: Paths) -> Report:
    """Run all checks."""
    groups = [CheckGroup("Headspace", _collect(_daemon(paths), _spool(paths), _bash(configs), _notifications(paths)))]
    groups += [CheckGroup(str(config.path), _check_config_dir(config, paths)) for config in configs]
    return Report(not any(check.status == "failed" for group in groups for check in group.checks), groups)


def _check_config_dir(config: ConfigDir, paths: Paths) -> list[Check]:
    """The checks of a config dir. Hooks that only report have no files."""
    registration, source = read_registration(config, paths.state), hook_source(config, paths)
    has_files = bool(registration.hooks or not registration.reporting_events)
    files = (_files(source, paths), _delivery(source, paths)) if has_files else ()
    return _collect(_settings(registration), *files, _transcripts(config, paths))


def hook_source(config: ConfigDir, paths: Paths) -> ConfigDir:
    """The directory of the hook script: the config dir, or the state directory for the plugin."""
    return ConfigDir(paths.state) if not config.script.exists() and installed.find_plugins(config) else config


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
        yield warning("guards", f"off since {problem['since']}: {problem['text']}", problem["hint"])
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
    rejected = len(list((paths.spool / "rejected").glob("*.json")))
    yield ok("spool", f"{count(waiting, 'event')} waiting" if waiting else "empty")
    if rejected:
        where = paths.spool / "rejected"
        yield warning(
            "rejected", f"{count(rejected, 'event')} could not be parsed", f"Inspect {where}, then delete it."
        )
    lost = paths.spool / "lost"
    if lost.exists():
        detail = f"{count(lost.stat().st_size, 'event')} lost while the spool was full"
        yield warning("lost", detail, f"Keep the daemon running. Delete {lost} to clear this warning.")
    if paths.no_answer_file.exists():
        yield warning("answers", "the daemon recently did not reply in time", "Run this check again in a few seconds.")


def _bash(configs: Sequence[ConfigDir]) -> Iterator[Check]:
    script = next((config.script for config in configs if config.script.exists()), HOOK_SCRIPT)
    with script.open(encoding="utf-8") as file:
        program = file.readline().removeprefix("#!").split()[0]
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


def _settings(registration: Registration) -> Iterator[Check]:
    config = registration.config
    if registration.settings is not None:
        yield ok("settings", f"{config.settings.name} is readable")
        yield from _hooks(registration, registration.settings)
    elif registration.problem is not None:
        yield failed("settings", registration.problem, "Fix the file; Claude Code cannot read it either.")
        return
    elif not registration.plugins:
        yield failed("settings", f"{config.settings} does not exist", INSTALL)
    yield from _plugins(registration)


def _hooks(registration: Registration, found: dict[str, Any]) -> Iterator[Check]:
    config, registered = registration.config, registration.hooks
    if found.get("disableAllHooks"):
        yield failed("hooks", "`disableAllHooks` turns all hooks off", f"Remove it from {config.settings}.")
    if registration.reporting_events:
        detail = f"`headspace hook` for {count(len(registration.reporting_events), 'event')}: it only reports"
        yield warning("hooks", f"{detail}, so guard rules do not apply", INSTALL)
    if registered:
        yield from _registered_hooks(registration)
    elif not registration.plugins and not registration.reporting_events:
        yield failed("hooks", "none registered", INSTALL)


def _registered_hooks(registration: Registration) -> Iterator[Check]:
    config, registered = registration.config, registration.hooks
    there, wanted = {event for event, _ in registered}, events_for(find_version())
    missing = [event for event in wanted if event not in there]
    unknown = [event for event in there if event not in wanted]
    other_scripts = [hook["command"] for _, hook in registered if hook.get("command") not in (None, str(config.script))]
    if missing:
        yield failed("hooks", f"{count(len(missing), 'event')} missing: {', '.join(missing)}", INSTALL)
    elif other_scripts:
        yield failed("hooks", f"registered with another script: {other_scripts[0]}", INSTALL)
    elif unknown:
        yield failed("hooks", f"your Claude Code may not support {', '.join(unknown)}, and may fail to start", INSTALL)
    else:
        yield ok("hooks", f"{count(len(wanted), 'event')} registered")
    counted = Counter(event for event, _ in registered)
    if twice := sorted(event for event, number in counted.items() if number > 1):
        yield failed("twice", f"registered twice: {', '.join(twice)}", INSTALL)
    if any(hook.get("type") == "http" for _, hook in registered):
        detail = "http: events are lost while the daemon is down, and process and terminal are unknown"
        yield warning("transport", detail, "`headspace install` switches to the script.")


def _plugins(registration: Registration) -> Iterator[Check]:
    """Plugins of Headspace. A plugin sends nothing if the settings contain the hooks, too."""
    for folder in registration.plugins:
        if registration.hooks:
            detail = f"the settings and the plugin {folder} contain the same hooks; the plugin sends nothing"
            yield warning("twice", detail, "Keep one: `headspace uninstall`, or remove the plugin.")
        else:
            yield ok("plugin", f"{folder} sends the events")


def _files(config: ConfigDir, paths: Paths) -> Iterator[Check]:
    if not config.script.exists():
        yield failed("script", f"{config.script} does not exist", INSTALL)
        return
    if not os.access(config.script, os.X_OK):
        yield failed("script", "not executable", f"Run `chmod 700 {config.script}`.")
    elif _body(config.script) != _body(HOOK_SCRIPT):
        yield failed("script", "from another version", INSTALL)
    else:
        yield ok("script", "from this version")
    yield _conf(config, paths)


def _body(script: Path) -> str:
    """A script without its first line, which contains the path of bash."""
    return script.read_text(encoding="utf-8", errors="replace").partition("\n")[2]


def _conf(config: ConfigDir, paths: Paths) -> Check:
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


def _delivery(config: ConfigDir, paths: Paths) -> Iterator[Check]:
    if not config.script.exists() or not config.conf.exists():
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
    yield from _test_event(config, paths)


def _token(config: ConfigDir, paths: Paths) -> Check:
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


def _test_event(config: ConfigDir, paths: Paths) -> Iterator[Check]:
    """Run the hook script as a client does, and find its event in the journal."""
    client, nonce = ApiClient.local(paths), str(uuid.uuid4())
    start = client.last_seq()
    try:
        done = subprocess.run(
            [str(config.script), PROBE],
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
    event = _wait_for(lambda: _find_event(client, start, nonce))
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


def _transcripts(config: ConfigDir, paths: Paths) -> Iterator[Check]:
    projects = config.path / TRANSCRIPTS
    if not projects.exists():
        yield ok("transcripts", "none yet")
        return
    if not os.access(projects, os.R_OK | os.X_OK):
        yield failed("transcripts", f"{projects} is not readable", "Check its owner and permissions.")
        return
    if config.path not in known_config_dirs(load_settings(paths), paths):
        hint = f"Run `headspace install --config-dir {config.path}`, or add it to config_dirs in {paths.config_file}."
        yield warning("transcripts", "the daemon does not read this directory", hint)
    else:
        yield ok("transcripts", "readable")
    yield from _sessions_without_hooks(projects, paths)


def _sessions_without_hooks(projects: Path, paths: Paths) -> Iterator[Check]:
    """Sessions that write a transcript but send no hook events."""
    if find_daemon(paths) is None or _has_no_database(paths):
        return
    client, now = ApiClient.local(paths), datetime.now(UTC)
    agents = {agent["session_id"]: agent for agent in client.agents(include_old=True)}
    for path in projects.glob("*/*.jsonl"):
        written = datetime.fromtimestamp(path.stat().st_mtime, UTC)
        if now - written > RECENT:
            continue
        agent = agents.get(path.stem)
        last_hook = _last_hook(client, agent["id"]) if agent else None
        if last_hook is None or (written - last_hook).total_seconds() > SILENT_SECONDS:
            name = f" ({agent['name']})" if agent else ""
            detail = f"session {path.stem}{name} writes a transcript, but sends no hook events"
            yield warning("silent", detail, "It may use other settings, or have hooks turned off.")


def _last_hook(client: ApiClient, agent_id: str) -> datetime | None:
    hooks = [event for event in client.events(agent_id, limit=200) if event["origin"] == "hook"]
    return parse_timestamp(hooks[-1]["fired_at"]) if hooks else None
