"""Every endpoint, asked for what its description allows and for what it does not: answers as described, no 5xx."""

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
from tests.support import RunningDaemon, running_daemon

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
    """A daemon with something to tell, on each engine."""
    shared = {"database": request.getfixturevalue("postgres").database()} if request.param == "postgresql" else {}
    home: Path = tmp_path_factory.mktemp("fuzz")
    with running_daemon(home, max_body_bytes=200_000, **shared) as running:
        for event, payload in BOARD:
            running.post(event, payload)
        yield running


def ask(daemon: RunningDaemon, operation: Any, mode: GenerationMode, examples: int) -> None:
    """Ask one endpoint again and again."""

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


def test_every_endpoint_is_asked() -> None:
    """All of the description can be read, but for the stream that never ends."""
    assert len(OPERATIONS) == len(ENDPOINTS)


def examples(request: pytest.FixtureRequest) -> int:
    """A few in every run, many in the long one."""
    return 300 if request.config.getoption("--full") else 8


@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE], ids=lambda mode: mode.value)
@pytest.mark.parametrize("name", OPERATIONS)
def test_every_endpoint_keeps_its_word(
    daemon: RunningDaemon, name: str, mode: GenerationMode, request: pytest.FixtureRequest
) -> None:
    """Whatever is asked, the answer is one that is described, and never a mistake of ours."""
    operation = OPERATIONS[name]
    if mode is GenerationMode.NEGATIVE and not (operation.body or operation.query or operation.path_parameters):
        pytest.skip("there is nothing that could be wrong")
    ask(daemon, operation, mode, examples(request))


def test_it_is_whole_afterwards(daemon: RunningDaemon) -> None:
    """After all of that the daemon is well, made no mistake, and everything still follows from the log."""
    assert daemon.get("/health", scope=None).json()["status"] == "ok"
    assert daemon.verified()
    assert "request_failed" not in daemon.log
    assert "event_processing_failed" not in daemon.log
