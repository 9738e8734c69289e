"""The OpenAPI description: it covers every endpoint, and every response matches it."""

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from claude_headspace import __version__
from claude_headspace.config import Settings, find_paths
from claude_headspace.daemon.compose import Daemon
from claude_headspace.surfaces.api.routes import api_routes
from claude_headspace.surfaces.auth.tokens import Scope
from tests.journals import TemporaryJournal
from tests.support import RunningDaemon, wait_until
from tests.support_rpc import call

Schema = dict[str, Any]

CHECKED = {
    *("type", "properties", "required", "items", "enum", "anyOf", "$ref", "additionalProperties"),
    *("prefixItems", "minItems", "maxItems"),
}
NEED_A_TERMINAL = ("/send", "/interrupt", "/cancel", "/start", "/fork", "/stop", "/retry", "/worktree")
"""What cannot be answered well without one: stories and the real client have them."""
NEED_A_BROWSER = {("POST", "/api/notifications/push")}
"""What only a signed-in browser can do."""
DESCRIBED = {"title", "description", "default", "minimum", "maximum", "maxLength", "minLength"}


def problems(value: Any, schema: Schema, whole: Schema, at: str = "$") -> Iterator[str]:
    """Where a value does not match its schema. Keywords that our schemas do not use are reported as problems."""
    if unknown := schema.keys() - CHECKED - DESCRIBED:
        yield f"{at}: unknown keywords {unknown}"
    if reference := schema.get("$ref"):
        yield from problems(value, whole["components"]["schemas"][reference.rsplit("/", 1)[-1]], whole, at)
    if choices := schema.get("anyOf"):
        tried = [list(problems(value, choice, whole, at)) for choice in choices]
        if all(tried):
            yield f"{at}: fits none of {len(choices)}: {tried[0][0]}"
    if "enum" in schema and value not in schema["enum"]:
        yield f"{at}: {value!r} is none of {schema['enum']}"
    if "type" in schema:
        yield from _wrong_type(value, schema, whole, at)


def _wrong_type(value: Any, schema: Schema, whole: Schema, at: str) -> Iterator[str]:
    fits = {
        "object": isinstance(value, dict),
        "array": isinstance(value, list),
        "string": isinstance(value, str),
        "integer": isinstance(value, int) and not isinstance(value, bool),
        "number": isinstance(value, int | float) and not isinstance(value, bool),
        "boolean": isinstance(value, bool),
        "null": value is None,
    }
    if not fits[schema["type"]]:
        yield f"{at}: {value!r} is no {schema['type']}"
        return
    if schema["type"] == "array":
        first, rest = schema.get("prefixItems", []), schema.get("items") or {}
        if not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value)):
            yield f"{at}: {len(value)} items"
        for number, item in enumerate(value):
            described = first[number] if number < len(first) else rest
            yield from problems(item, described, whole, f"{at}[{number}]")
    if schema["type"] == "object" and "properties" in schema:
        yield from (f"{at}: {name} is missing" for name in schema["required"] if name not in value)
        yield from (f"{at}: {name} is not described" for name in value if name not in schema["properties"])
        for name, described in schema["properties"].items():
            if name in value:
                yield from problems(value[name], described, whole, f"{at}.{name}")


def matches(value: Any, schema: Schema, whole: Schema) -> bool:
    """Whether a value matches its schema."""
    assert list(problems(value, schema, whole)) == []
    return True


@pytest.fixture(scope="module")
def description(daemon: RunningDaemon) -> Schema:
    """The description that the daemon serves, without a token."""
    reply = daemon.get("/openapi.json", scope=None)
    assert reply.headers["content-type"] == "application/json"
    answer: Schema = reply.json()
    return answer


def operations(description: Schema) -> dict[tuple[str, str], Schema]:
    """Every operation, by method and path."""
    return {
        (method.upper(), path): operation
        for path, methods in description["paths"].items()
        for method, operation in methods.items()
    }


# --- the description itself -------------------------------------------------------------------------------------------


def test_version_and_references(description: Schema) -> None:
    """Version, title, and references that can be resolved."""
    assert description["openapi"] == "3.1.0"
    assert description["info"]["version"] == __version__
    references = set(_references(description))
    assert references
    assert {ref for ref in references if ref.rsplit("/", 1)[-1] not in description["components"]["schemas"]} == set()


def _references(part: Any) -> Iterator[str]:
    if isinstance(part, dict):
        if isinstance(part.get("$ref"), str):
            yield part["$ref"]
        for value in part.values():
            yield from _references(value)
    elif isinstance(part, list):
        for value in part:
            yield from _references(value)


def test_routes_and_description_match(description: Schema, tmp_path: Path) -> None:
    """Every route is described, and every described operation has a route."""
    places = find_paths({"HEADSPACE_HOME": str(tmp_path)})
    routes = api_routes(Daemon(Settings(), places, TemporaryJournal()).api)
    routed = {(method, route.path) for route in routes for method in (route.methods or set()) - {"HEAD"}}
    assert routed | {("POST", "/hook/{event}"), ("POST", "/events")} == operations(description).keys()


def test_every_operation_is_complete(description: Schema) -> None:
    """Summary, scope, parameters, response and error shape."""
    for (method, path), operation in operations(description).items():
        assert operation["summary"].endswith("."), path
        assert operation["x-scope"] in {"none", *Scope}, path
        assert bool(operation["security"]) == (operation["x-scope"] != "none"), path
        in_path = {part.strip("{}") for part in path.split("/") if part.startswith("{")}
        assert {p["name"] for p in operation["parameters"] if p["in"] == "path"} == in_path
        assert operation["responses"].keys() == {"200", "4XX"}
        assert ("requestBody" in operation) <= (method == "POST")
        for parameter in operation["parameters"]:
            assert parameter["schema"]["type"] in {"string", "integer", "boolean"}
            assert parameter["in"] == "path" or parameter["description"].endswith(".")


def test_the_schema_checker_finds_mistakes(description: Schema) -> None:
    """A missing field, an extra field and a wrong type."""
    schema = {"$ref": "#/components/schemas/Rebuilt"}
    assert matches({"events": 1}, schema, description)
    mistakes: list[object] = [{}, {"events": "1"}, {"events": True}, {"events": 1, "width": 2}, [], None]
    for wrong in mistakes:
        assert list(problems(wrong, schema, description))


# --- responses --------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def sample(daemon: RunningDaemon) -> dict[str, str]:
    """An agent with values in every field, and the ids for the paths."""
    bash = {"tool_name": "Bash", "tool_input": {"command": "make"}}
    background = [{"id": "b1", "type": "shell", "status": "running", "command": "make watch"}]
    ask: dict[str, object] = {
        "tool_name": "AskUserQuestion",
        "tool_use_id": "ask",
        "tool_input": {
            "questions": [{"question": "Which?", "header": "H", "options": [{"label": "A", "description": "a"}]}]
        },
    }
    steps: list[tuple[str, dict[str, object]]] = [
        ("session-start", {"source": "startup", "model": "opus", "tmux_session": "work", "tmux_pane": "%1"}),
        ("user-prompt-submit", {"prompt": "Everything.", "permission_mode": "plan"}),
        ("task-created", {"task_id": "t1", "task_subject": "One"}),
        ("pre-tool-use", {**bash, "tool_use_id": "call"}),
        ("permission-request", {**bash, "permission_suggestions": [{"type": "addRules", "rules": []}]}),
        ("post-tool-use", {**bash, "tool_use_id": "call"}),
        ("stop", {"last_assistant_message": "I did it.", "background_tasks": background}),
        ("user-prompt-submit", {"prompt": "More."}),
        ("subagent-start", {"agent_id": "sub", "agent_type": "Explore"}),
        ("pre-tool-use", {**bash, "tool_use_id": "sub-call", "agent_id": "sub", "agent_type": "Explore"}),
        ("pre-tool-use", ask),
        ("never-heard-of", {}),
    ]
    for event, fields in steps:
        reply = daemon.post(event, {"session_id": "described", "cwd": "/projects/described", **fields})
        assert reply.status == 200
    agent = daemon.agent(reply.json()["agent_id"])
    for part in ("tool", "command", "waits", "subagents", "background_tasks", "todo", "evidence", "session", "model"):
        assert agent[part], f"the example agent has no {part}"
    _report_usage(daemon, agent["id"])
    held = {**daemon.credentials("ingest"), "X-Headspace-Reply": "hook"}
    asked = {"session_id": "described", "cwd": "/projects/described", **ask}
    threading.Thread(target=daemon.post, args=("permission-request", asked, held), daemon=True).start()
    wait_until(lambda: daemon.agent(agent["id"])["waits"][0]["held_until"], "a wait that can be answered")
    past = daemon.home / ".claude" / "projects" / "-projects-past" / "past.jsonl"
    past.parent.mkdir(parents=True)
    said = {"type": "user", "sessionId": "past", "uuid": "1", "message": {"role": "user", "content": "Hello."}}
    past.write_text(json.dumps({**said, "cwd": "/projects/past", "timestamp": "2026-01-01T00:00:00.000Z"}) + "\n")
    made = daemon.send("POST", "/api/admin/tokens", {"name": "described", "scopes": ["read"]}, scope="admin")
    assert made.status == 200
    mission = daemon.send("POST", "/api/missions", {"goal": "Count", "cwd": "/projects/described"}, scope="act").json()
    share = daemon.send("POST", f"/api/agents/{agent['id']}/shares", {}, scope="act").json()
    return {
        "agent": agent["id"],
        "turn": daemon.get(f"/api/agents/{agent['id']}/turns").json()[0]["turn_id"],
        "share": share["details"]["name"],
        "ended": _end_agent(daemon),
        "mission": mission["id"],
        "effort": _start_effort(daemon),
        "token": "described",
        "command": agent["command"]["id"],
        "wait": agent["waits"][0]["id"],
        "event": "notification",
        "transcript": str(past),
    }


def _end_agent(daemon: RunningDaemon) -> str:
    """An ended agent; its id."""
    payload = {"session_id": "over", "cwd": "/projects/over"}
    found: str = daemon.post("session-start", {**payload, "source": "startup"}).json()["agent_id"]
    assert daemon.post("session-end", {**payload, "reason": "prompt_input_exit"}).status == 200
    return found


def _start_effort(daemon: RunningDaemon) -> str:
    """An effort of the agent with values in every field; its id."""
    here, who = {"cwd": "/projects/described"}, {"CLAUDE_CODE_SESSION_ID": "described"}
    begun: str = call(daemon, "effort.start", {"skill": "fix", "title": "All of it", **here}, who)["id"]
    for name in ("log", "inject", "dehydrate"):
        call(daemon, f"effort.{name}", {"text": "Words.", "effort": begun, **here}, who)
    return begun


def _report_usage(daemon: RunningDaemon, agent_id: str) -> None:
    """Write a transcript that contains the context usage of the agent."""
    path = daemon.home / ".claude/projects/-projects-described/described.jsonl"
    path.parent.mkdir(parents=True)
    message = {"role": "assistant", "model": "opus", "usage": {"input_tokens": 50_000}, "content": "I look at it."}
    line = {
        "type": "assistant",
        "sessionId": "described",
        "uuid": "2",
        "cwd": "/projects/described",
        "message": message,
    }
    path.write_text(json.dumps({**line, "timestamp": "2026-01-01T00:00:00.000Z"}) + "\n")
    wait_until(lambda: daemon.get(f"/api/agents/{agent_id}/usage").json(), "a measurement")


def test_every_response_matches_its_schema(daemon: RunningDaemon, description: Schema, sample: dict[str, str]) -> None:
    """The fields and types are exactly those of the schema."""
    first, *lines, _end = daemon.get(f"/api/agents/{sample['agent']}/export").body.decode().splitlines()
    bodies: dict[tuple[str, str], Any] = {
        ("POST", "/api/admin/import/log"): {"header": first, "lines": lines},
        ("POST", "/api/admin/tokens"): {"name": "another", "scopes": ["ingest", "act"], "owner": "Ann"},
        ("POST", "/api/admin/db/prune"): {"days": 30},
        ("POST", "/hook/{event}"): {"session_id": "described"},
        ("POST", "/events"): {"session_id": "described", "event_type": "tool_call"},
        ("POST", "/api/agents/{agent}/rename"): {"name": "described"},
        ("POST", "/api/waits/{wait}/answer"): {"answers": {"Which?": "A"}},
        ("POST", "/api/admin/import"): {"path": sample["transcript"]},
        ("POST", "/api/agents"): {"headspace_id": "described-id", "cwd": "/projects/described"},
        ("POST", "/api/agents/{agent}/seen"): {},
        ("POST", "/api/agents/{agent}/note"): {"text": "Describes it."},
        ("POST", "/api/agents/{agent}/archive"): {"archived": True},
        ("POST", "/api/missions"): {"goal": "Count the tests", "cwd": "/projects/described"},
        ("POST", "/api/missions/{mission}/finish"): {"outcome": "failed"},
        ("POST", "/api/missions/{mission}/report"): {"text": "There are 12."},
        ("POST", "/api/agents/{agent}/restart"): {"reason": "full"},
        ("POST", "/api/agents/{agent}/unsupervise"): {"reason": "too often"},
        ("POST", "/api/agents/{agent}/close"): {"pid": 1},
        ("POST", "/api/agents/{agent}/resume"): {"tmux_pane": "%1"},
        ("POST", "/api/notifications/test"): {"channel": "desktop"},
        ("POST", "/api/presence"): {"page": "one"},
        ("POST", "/api/settings"): {"notifications": False},
        ("POST", "/api/agents/{agent}/shares"): {"seconds": 3600},
        ("POST", "/api/agents/{agent}/shares/{share}/revoke"): {},
        ("POST", "/api/notifications/push/remove"): {"id": "none"},
    }
    for (method, path), operation in operations(description).items():
        (produces,) = operation["responses"]["200"]["content"].items()
        if produces[0] == "text/event-stream" or path.endswith(NEED_A_TERMINAL) or (method, path) in NEED_A_BROWSER:
            continue
        body = bodies.get((method, path))
        if body is not None:
            assert matches(body, operation["requestBody"]["content"]["application/json"]["schema"], description)
        names = {**sample, "agent": sample["ended"]} if path.endswith("/archive") else sample
        reply = daemon.send(method, path.format(**names), body, scope="admin")
        assert reply.status == 200, (method, path, reply.body)
        assert reply.headers["content-type"].startswith(produces[0])
        if produces[0] == "application/json":
            answer = reply.json()
            assert answer, f"{path} answers nothing that could be compared"
            assert matches(answer, produces[1]["schema"], description)


def test_every_parameter_is_validated(daemon: RunningDaemon, description: Schema, sample: dict[str, str]) -> None:
    """A value of the described type is accepted, and another one is refused with the described error."""
    good = {"integer": "1", "boolean": "true", "string": sample["agent"], "date": "2026-01-31"}
    for (method, path), operation in operations(description).items():
        moments = {"at": "0s", "since": "2h", "until": "14:30", "before": "1-0-0-0"}
        if path.endswith("/conversation"):  # elsewhere `before` is a position in search results
            moments |= {"before": "2h", "after": "2h"}
        known = {**moments, "project": "described", "command": "latest", "by": "day,model", "around": sample["turn"]}
        for parameter in operation["parameters"]:
            if parameter["in"] != "query" or path.endswith("/stream"):
                continue
            schema = parameter["schema"]
            usual = good[schema.get("format") or schema["type"]]
            meant = known.get(parameter["name"], usual) if schema["type"] == "string" else usual
            values = schema.get("enum") or [meant]
            for value in values:
                reply = daemon.send(method, f"{path.format(**sample)}?{parameter['name']}={value}", scope="act")
                assert reply.status == 200, (path, parameter, reply.body)
            if schema["type"] != "string" or "enum" in schema or parameter["name"] in (*moments, "by"):
                reply = daemon.send(method, f"{path.format(**sample)}?{parameter['name']}=nonsense", scope="read")
                assert reply.status == 400
                assert matches(reply.json(), {"$ref": "#/components/schemas/Error"}, description)
