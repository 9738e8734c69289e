"""Looks at the whole way of an event, from Claude Code's settings to the journal, and says what to do where it breaks.

Every check looks at the real thing: the installed script is run with an empty environment, as a client might, and its
event is looked up in the journal. It goes under a name of its own, so no agent appears on the board.
"""

import http.client
import os
import stat
import subprocess
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec

from claude_headspace.clients.claude_code.hooks import installation as installed
from claude_headspace.clients.claude_code.hooks import settings_file as settings
from claude_headspace.clients.claude_code.hooks.events import events_for
from claude_headspace.clients.claude_code.hooks.installation import ConfigDir
from claude_headspace.clients.claude_code.hooks.version import find_version
from claude_headspace.clients.claude_code.locations import PROJECTS
from claude_headspace.config import Paths, claude_config_dirs, load_settings
from claude_headspace.errors import HeadspaceError
from claude_headspace.kernel.hooks import PROBE
from claude_headspace.surfaces.client.api_client import ApiClient
from claude_headspace.surfaces.client.running_daemon import find_daemon
from claude_headspace.surfaces.text.components import is_database_unavailable, waiting_for_database
from claude_headspace.surfaces.text.labels import count, parse_timestamp

INSTALL = "Run `headspace install`."
START = "Run `headspace up`."
PROBE_SECONDS = 5.0
ODD_DELAY_SECONDS = 2.0
SILENT_SECONDS = 60.0
RECENT = timedelta(minutes=10)


class Check(msgspec.Struct, frozen=True):
    """One thing that was looked at: ok, warning or failed; and what to do."""

    name: str
    status: str
    detail: str
    hint: str = ""


class CheckGroup(msgspec.Struct, frozen=True):
    """What was looked at in one place."""

    name: str
    checks: list[Check]


class Report(msgspec.Struct, frozen=True):
    """Everything that was looked at."""

    ok: bool
    places: list[CheckGroup]


def ok(name: str, detail: str) -> Check:
    """It is as it should be."""
    return Check(name, "ok", detail)


def warning(name: str, detail: str, hint: str) -> Check:
    """It works, and one should know this."""
    return Check(name, "warning", detail, hint)


def failed(name: str, detail: str, hint: str) -> Check:
    """It does not work."""
    return Check(name, "failed", detail, hint)


def run_checks(configs: Sequence[ConfigDir], home: Paths) -> Report:
    """Look at everything."""
    places = [CheckGroup("Headspace", _guarded(_daemon(home), _spool(home), _bash(configs), _notifications(home)))]
    for config in configs:
        told_by = hook_source(config, home)
        checks = (_settings(config), _files(told_by, home), _way(told_by, home), _transcripts(config, home))
        places.append(CheckGroup(str(config.path), _guarded(*checks)))
    return Report(not any(check.status == "failed" for place in places for check in place.checks), places)


def hook_source(config: ConfigDir, home: Paths) -> ConfigDir:
    """Where the script is that tells the events: here, or, for a plugin, where the daemon keeps it."""
    return ConfigDir(home.state) if not config.script.exists() and installed.find_plugins(config) else config


def _guarded(*parts: Iterator[Check]) -> list[Check]:
    """All checks; one that breaks does not keep the others from being made."""
    checks: list[Check] = []
    for part in parts:
        try:
            checks += part
        except (HeadspaceError, OSError) as error:
            hint = error.hint if isinstance(error, HeadspaceError) else "See `headspace logs`."
            checks.append(failed("check", str(error), hint))
    return checks


def _is_away(home: Paths) -> bool:
    """Whether the daemon cannot use its database."""
    return is_database_unavailable(ApiClient.local(home).health()["parts"])


# --- Headspace itself ---


def _daemon(home: Paths) -> Iterator[Check]:
    daemon = find_daemon(home)
    if daemon is None:
        yield failed("daemon", "is not running; events are kept until it does", START)
        return
    yield ok("daemon", f"runs at {daemon.url} (pid {daemon.pid}, version {daemon.version})")
    parts = ApiClient.local(home).health()["parts"]
    waiting = waiting_for_database(parts)
    for name, part in parts.items():
        if part["status"] != "ok" and name not in waiting:
            yield failed(name, f"{part['status']}: {part['detail']}", "See `headspace logs`.")
    if waiting:
        yield warning(
            "waiting", f"for the database: {', '.join(waiting)}", "Hooks are answered meanwhile, and nothing is lost."
        )


def _spool(home: Paths) -> Iterator[Check]:
    if not os.access(home.spool, os.W_OK | os.X_OK):
        yield failed("spool", f"{home.spool} cannot be written, so events are lost while nobody answers", INSTALL)
        return
    waiting = len(list(home.spool.glob("*.json")))
    aside = len(list((home.spool / "rejected").glob("*.json")))
    yield ok("spool", f"{count(waiting, 'event')} waiting" if waiting else "empty")
    if aside:
        where = home.spool / "rejected"
        yield warning("set aside", f"{count(aside, 'event')} could not be read", f"Look at {where}, and delete it.")
    lost = home.spool / "lost"
    if lost.exists():
        detail = f"{count(lost.stat().st_size, 'event')} lost while the spool was full"
        yield warning("lost", detail, f"Keep the daemon running. Delete {lost} when you have read this.")
    if home.no_answer_file.exists():
        yield warning("answers", "the daemon once did not answer in time", "Look here again in some seconds.")


def _bash(configs: Sequence[ConfigDir]) -> Iterator[Check]:
    script = next((config.script for config in configs if config.script.exists()), installed.HOOK_SCRIPT)
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
    old = " (it starts another program for each hook; a newer one is faster)" if version < "4.1" else ""
    yield ok("bash", f"{program} {version}{old}")


def _notifications(home: Paths) -> Iterator[Check]:
    """Whether somebody can be reached, and whether the last calls arrived."""
    if find_daemon(home) is None:
        return
    found = ApiClient.local(home).notification_rules()
    usable = [channel["name"] for channel in found["channels"] if channel["available"]]
    failing = [channel for channel in found["channels"] if channel["last_failure"]]
    if not found["on"]:
        yield ok("notify", f"switched off in {found['file']}")
    elif not usable:
        why = next(channel["detail"] for channel in found["channels"] if channel["name"] == "desktop")
        yield ok("notify", f"nobody is called: {why}; a channel in {found['file']} would")
    for channel in failing:
        detail = f"the last call through {channel['name']} failed: {channel['last_failure']}"
        yield warning("notify", detail, f"Try it: `headspace notify test {channel['name']}`.")
    if home.notify_file.exists() and home.notify_file.stat().st_mode & 0o077:
        detail = f"others can read {home.notify_file}, in which addresses stand"
        yield warning("notify", detail, f"Run `chmod 600 {home.notify_file}`.")
    if found["on"] and usable and not failing:
        yield ok("notify", f"through {', '.join(usable)}")


# --- a configuration directory ---


def _settings(config: ConfigDir) -> Iterator[Check]:
    try:
        text = config.settings.read_text(encoding="utf-8")
        found = settings.parse(text, str(config.settings))
    except FileNotFoundError:
        if installed.find_plugins(config):
            yield from _plugins(config, has_hooks=False)
        else:
            yield failed("settings", f"there is no {config.settings}", INSTALL)
        return
    except (HeadspaceError, UnicodeDecodeError) as error:
        yield failed("settings", str(error), "Correct the file; Claude Code cannot read it either.")
        return
    yield ok("settings", f"{config.settings.name} can be read")
    yield from _hooks(config, found)
    yield from _plugins(config, has_hooks=bool(settings.registered_hooks(found)))


def _hooks(config: ConfigDir, found: dict[str, Any]) -> Iterator[Check]:
    registered = settings.registered_hooks(found)
    there, wanted = {event for event, _ in registered}, events_for(find_version())
    missing = [event for event in wanted if event not in there]
    unknown = [event for event in there if event not in wanted]
    strange = [hook["command"] for _, hook in registered if hook.get("command") not in (None, str(config.script))]
    if not registered and installed.find_plugins(config):
        return
    if not registered:
        yield failed("hooks", "none is registered", INSTALL)
    elif missing:
        yield failed("hooks", f"{count(len(missing), 'event')} missing: {', '.join(missing)}", INSTALL)
    elif strange:
        yield failed("hooks", f"they run another script: {strange[0]}", INSTALL)
    elif unknown:
        yield failed("hooks", f"your Claude Code may not know {', '.join(unknown)} and stop at its start", INSTALL)
    else:
        yield ok("hooks", f"{count(len(wanted), 'event')} registered")
    if found.get("disableAllHooks"):
        yield failed("hooks", "`disableAllHooks` switches all hooks off", f"Remove it from {config.settings}.")
    yield from _doubled([event for event, _ in registered])
    if any(hook.get("type") == "http" for _, hook in registered):
        detail = "http: nothing is kept while the daemon is down, which process and terminal it is stays unknown"
        yield warning("transport", detail, "`headspace install` takes the script instead.")


def _doubled(events: list[str]) -> Iterator[Check]:
    """Events that would be told twice."""
    twice = sorted({event for event in events if events.count(event) > 1})
    if twice:
        yield failed("twice", f"registered twice: {', '.join(twice)}", INSTALL)


def _plugins(config: ConfigDir, *, has_hooks: bool) -> Iterator[Check]:
    """A plugin of ours; where the settings have the hooks too, it stays silent."""
    for folder in installed.find_plugins(config):
        if has_hooks:
            detail = f"the settings and the plugin {folder} have the same hooks; the plugin stays silent"
            yield warning("twice", detail, "Keep one: `headspace uninstall`, or remove the plugin.")
        else:
            yield ok("plugin", f"{folder} tells the events")


def _files(config: ConfigDir, home: Paths) -> Iterator[Check]:
    if not config.script.exists():
        yield failed("script", f"there is no {config.script}", INSTALL)
        return
    if not os.access(config.script, os.X_OK):
        yield failed("script", "it cannot be run", f"chmod 700 {config.script}")
    elif _body(config.script) != _body(installed.HOOK_SCRIPT):
        yield failed("script", "it is of another version", INSTALL)
    else:
        yield ok("script", "there, and of this version")
    yield _conf(config, home)


def _body(script: Path) -> str:
    """A script without its first line, which names the bash of the machine."""
    return script.read_text(encoding="utf-8", errors="replace").partition("\n")[2]


def _conf(config: ConfigDir, home: Paths) -> Check:
    if not config.state_link.is_symlink() or config.state_link.readlink() != home.state:
        return failed("link", f"{config.state_link} does not lead to {home.state}, where this Headspace is", INSTALL)
    try:
        mode = stat.S_IMODE(config.conf.stat().st_mode)
    except OSError as error:
        return failed("conf", f"{config.conf.name} cannot be read: {error}", INSTALL)
    if mode & 0o077:
        return failed("conf", f"others can read the token in it ({mode:04o})", f"chmod 600 {config.conf}")
    return ok("conf", "there, and private")


# --- the way of an event ---


def _way(config: ConfigDir, home: Paths) -> Iterator[Check]:
    if not config.script.exists() or not config.conf.exists():
        return
    if find_daemon(home) is None:
        yield warning("event", "not tried, since the daemon is not running", START)
        return
    yield _answered(config, home)
    if _is_away(home):
        yield warning("event", "not looked for, since the database is away", "Look here again when it is there.")
        return
    yield from _heard(config, home)


def _answered(config: ConfigDir, home: Paths) -> Check:
    """Whether the daemon knows the shim by its token, at the address that it reads."""
    try:
        host, port, _pid = home.address_file.read_text(encoding="utf-8").split()
        status = _ask(host, int(port), installed.read_conf(config.conf).get("token", ""))
    except (OSError, ValueError, http.client.HTTPException) as error:
        return failed("token", f"the daemon cannot be asked: {error}", "Restart the daemon; see `headspace logs`.")
    if status != 204:
        return failed("token", "the daemon does not know the token in the conf", INSTALL)
    return ok("token", f"the daemon at {host}:{port} answers it")


def _ask(host: str, port: int, token: str) -> int:
    connection = http.client.HTTPConnection(host, port, timeout=PROBE_SECONDS)
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {token}", "X-Headspace-Reply": "hook"}
    try:
        connection.request("POST", f"/hook/{PROBE}", _payload(str(uuid.uuid4())), {**headers, "Host": "127.0.0.1"})
        return connection.getresponse().status
    finally:
        connection.close()


def _payload(nonce: str) -> bytes:
    return msgspec.json.encode({"session_id": "headspace-doctor", "hook_event_name": PROBE, "nonce": nonce})


def _heard(config: ConfigDir, home: Paths) -> Iterator[Check]:
    """Run the hook as the client does, and look for its event in the journal."""
    client, nonce = ApiClient.local(home), str(uuid.uuid4())
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
        yield failed("event", f"the hook cannot be run: {error}", INSTALL)
        return
    if done.returncode or done.stdout or done.stderr:
        yield failed("event", f"the hook is not quiet (exit code {done.returncode})", INSTALL)
    event = _wait_for(lambda: _find(client, start, nonce))
    if event is None:
        yield failed("event", "sent through the hook, but it never arrived", "See `headspace logs` and the spool.")
        return
    delay = (parse_timestamp(event["received_at"]) - parse_timestamp(event["fired_at"])).total_seconds()
    yield ok("event", f"sent through the hook and found in the journal (number {event['seq']})")
    if delay > ODD_DELAY_SECONDS:
        hint = "Is the machine busy, or its clock being set?"
        yield warning("clock", f"{delay:.1f} s between the hook and its arrival", hint)
    else:
        yield ok("clock", f"{max(delay, 0) * 1000:.0f} ms between the hook and its arrival")


def _find(client: ApiClient, after: int, nonce: str) -> dict[str, Any] | None:
    events = client.events(after=after, limit=1000)
    return next((event for event in events if event["name"] == PROBE and event["payload"].get("nonce") == nonce), None)


def _wait_for(look: Callable[[], dict[str, Any] | None]) -> dict[str, Any] | None:
    deadline = time.monotonic() + PROBE_SECONDS
    while time.monotonic() < deadline:
        if (found := look()) is not None:
            return found
        time.sleep(0.05)
    return None


# --- what the client writes ---


def _transcripts(config: ConfigDir, home: Paths) -> Iterator[Check]:
    projects = config.path / PROJECTS
    if not projects.exists():
        yield ok("transcripts", "none yet")
        return
    if not os.access(projects, os.R_OK | os.X_OK):
        yield failed("transcripts", f"{projects} cannot be read", "Check who owns it.")
        return
    if config.path not in claude_config_dirs(load_settings(home), home):
        hint = f"Run `headspace install --config-dir {config.path}`, or add it to config_dirs in {home.config_file}."
        yield warning("transcripts", "the daemon does not look into this directory", hint)
    else:
        yield ok("transcripts", "can be read")
    yield from _unheard(projects, home)


def _unheard(projects: Path, home: Paths) -> Iterator[Check]:
    """Sessions that write their transcript, while no hook of them arrives."""
    if find_daemon(home) is None or _is_away(home):
        return
    client, now = ApiClient.local(home), datetime.now(UTC)
    agents = {agent["session_id"]: agent for agent in client.agents(include_old=True)}
    for path in projects.glob("*/*.jsonl"):
        written = datetime.fromtimestamp(path.stat().st_mtime, UTC)
        if now - written > RECENT:
            continue
        agent = agents.get(path.stem)
        heard = _last_hook(client, agent["id"]) if agent else None
        if heard is None or (written - heard).total_seconds() > SILENT_SECONDS:
            name = f" ({agent['name']})" if agent else ""
            detail = f"session {path.stem}{name} writes its transcript, but no hook of it arrives"
            yield warning("silent", detail, "Was it started with other settings, or with hooks switched off?")


def _last_hook(client: ApiClient, agent_id: str) -> datetime | None:
    hooks = [event for event in client.events(agent_id, limit=200) if event["origin"] == "hook"]
    return parse_timestamp(hooks[-1]["fired_at"]) if hooks else None
