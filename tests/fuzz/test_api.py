"""Valid and invalid requests to every endpoint: every reply matches the OpenAPI description, and none is a 5xx."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from schemathesis import GenerationMode
from schemathesis.checks import load_all_checks, not_a_server_error
from schemathesis.core.result import Ok
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from claude_headspace.surfaces.api.openapi import describe
from claude_headspace.surfaces.api.routes import ENDPOINTS
from tests.support import RunningDaemon, environment, running_daemon_in

load_all_checks()

NEVER_ENDING = "/api/events/stream"
SCHEMA = schemathesis.openapi.from_dict(describe(ENDPOINTS))
OPERATIONS: dict[str, Any] = {
    operation.label: operation
    for found in SCHEMA.get_all_operations()
    if isinstance(found, Ok) and (operation := found.ok()).path != NEVER_ENDING
}
CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]

BOARD: tuple[tuple[str, dict[str, Any]], ...] = (
    ("session-start", {"session_id": "one", "cwd": "/projects/shop"}),
    ("user-prompt-submit", {"session_id": "one", "cwd": "/projects/shop", "prompt": "Fix the expired cards"}),
    ("stop", {"session_id": "one", "cwd": "/projects/shop", "last_assistant_message": "Which of them?"}),
)


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def daemon(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningDaemon]:
    """A daemon with an agent, on each database. It finds no program, so it cannot start clients."""
    shared = {"database": request.getfixturevalue("postgres").database()} if request.param == "postgresql" else {}
    home: Path = tmp_path_factory.mktemp("fuzz")
    env = environment(home, max_body_bytes=200_000, **shared) | {"PATH": str(home / "no-programs")}
    with running_daemon_in(home, env) as running:
        for event, payload in BOARD:
            running.post(event, payload)
        yield running


def ask(daemon: RunningDaemon, operation: Any, mode: GenerationMode, examples: int) -> None:
    """Send many requests to one endpoint."""

    @seed(20_261)
    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy(generation_mode=mode))
    def asked(case: Any) -> None:
        headers = {**daemon.credentials("admin"), "Content-Type": "application/json"}
        case.call_and_validate(base_url=daemon.url, headers=headers, checks=CHECKS, timeout=60)

    asked()


def test_every_endpoint_is_tested() -> None:
    """All operations of the description are included, except the endless stream."""
    assert len(OPERATIONS) == len(ENDPOINTS)


def examples(request: pytest.FixtureRequest) -> int:
    """The number of examples: few in a normal run, many in a full one."""
    return 300 if request.config.getoption("--full") else 8


@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE], ids=lambda mode: mode.value)
@pytest.mark.parametrize("name", OPERATIONS)
def test_every_endpoint_matches_its_description(
    daemon: RunningDaemon, name: str, mode: GenerationMode, request: pytest.FixtureRequest
) -> None:
    """Every reply is documented, and none is a server error."""
    operation = OPERATIONS[name]
    if mode is GenerationMode.NEGATIVE and not (operation.body or operation.query or operation.path_parameters):
        pytest.skip("this endpoint has no invalid requests")
    ask(daemon, operation, mode, examples(request))


def test_the_daemon_is_consistent_afterwards(daemon: RunningDaemon) -> None:
    """The daemon is healthy, logged no errors, and the projections match the log."""
    assert daemon.get("/health", scope=None).json()["status"] == "ok"
    assert daemon.verified()
    assert "request_failed" not in daemon.log
    assert "event_processing_failed" not in daemon.log
