"""Metrics: what is counted, and that no sender can add labels."""

from prometheus_client.parser import text_string_to_metric_families

from claude_headspace.clients.hooks import KNOWN_HOOKS
from claude_headspace.kernel.agent import AgentState
from claude_headspace.surfaces.api.metrics import Metrics
from tests.support import RunningDaemon


def read(page: bytes) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    """The metrics page, parsed: value by name and labels."""
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(page.decode())
        for sample in family.samples
    }


def test_counters_and_histograms() -> None:
    """Events by name, refusals by code, and the durations of hooks and commits."""
    metrics = Metrics()
    metrics.stored("Stop", 0.003)
    metrics.stored("Stop", 0.3)
    metrics.refused("too_large")
    metrics.committed(0.002, 40)
    found = read(metrics.text({"idle": 2, "working": 1}, 3, 4))
    assert found["headspace_events_total", (("event", "Stop"),)] == 2
    assert found["headspace_refused_total", (("code", "too_large"),)] == 1
    assert found["headspace_hook_seconds_count", ()] == 2
    assert found["headspace_hook_seconds_bucket", (("le", "0.005"),)] == 1
    assert found["headspace_commit_seconds_count", ()] == 1
    assert found["headspace_batch_events_sum", ()] == 40
    assert found["headspace_agents", (("state", "idle"),)] == 2
    assert found["headspace_stream_readers", ()] == 3
    assert found["headspace_spool_events", ()] == 4


def test_every_state_has_a_value() -> None:
    """A state without agents is zero, also if it had some before."""
    metrics = Metrics()
    metrics.text({"working": 5}, 0, 0)
    found = read(metrics.text({}, 0, 0))
    assert [found["headspace_agents", (("state", state.value),)] for state in AgentState] == [0] * len(AgentState)


def test_unknown_event_names_share_one_label() -> None:
    """A thousand unknown events add one label, not a thousand."""
    metrics = Metrics()
    for number in range(1_000):
        metrics.stored(f"Invented{number}", 0.001)
    found = read(metrics.text({}, 0, 0))
    events = {labels: value for (name, labels), value in found.items() if name == "headspace_events_total"}
    assert len(events) == len(KNOWN_HOOKS) + 1
    assert events[("event", "unknown"),] == 1_000


def test_two_daemons_in_one_process_count_separately() -> None:
    """Every daemon has its own metrics."""
    first, second = Metrics(), Metrics()
    first.stored("Stop", 0.001)
    assert read(second.text({}, 0, 0))["headspace_events_total", (("event", "Stop"),)] == 0


def test_metrics_of_a_running_daemon(daemon: RunningDaemon) -> None:
    """Stored events, refused events, and agents by state."""
    before = read(daemon.get("/metrics").body)
    daemon.post("session-start", {"session_id": "metrics", "cwd": "/projects/metrics"})
    daemon.post("never-heard-of", {"session_id": "metrics", "cwd": "/projects/metrics"})
    daemon.post("stop", b"nonsense")
    (spooled := daemon.home / "spool" / "1.json").write_text("{}\n")
    reply = daemon.get("/metrics")
    after = read(reply.body)
    spooled.unlink()

    def more(name: str, *labels: tuple[str, str]) -> float:
        return after[name, labels] - before.get((name, labels), 0)

    assert reply.headers["content-type"].startswith("text/plain; version=0.0.4")
    assert more("headspace_events_total", ("event", "SessionStart")) == 1
    assert more("headspace_events_total", ("event", "unknown")) == 1
    assert more("headspace_refused_total", ("code", "bad_json")) == 1
    assert more("headspace_hook_seconds_count") == 2
    assert more("headspace_batch_events_sum") == 2
    assert more("headspace_spool_events") == 1
    assert sum(after["headspace_agents", (("state", state.value),)] for state in AgentState) == len(
        daemon.get("/api/agents?all=true").json()
    )
