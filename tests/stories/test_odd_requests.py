"""Odd requests: no host, path or parameter causes an internal error or gets around a check."""

import re
from collections.abc import Iterator

import pytest

from tests.support import RunningDaemon, running_daemon


@pytest.mark.parametrize("port", ["²", "", "0", "65536", "1 1", "+1"])
@pytest.mark.parametrize("name", ["127.0.0.1", "[::1]"])
def test_only_a_number_is_a_port(odd_daemon: RunningDaemon, name: str, port: str) -> None:
    """Other digits of Unicode, and numbers that are no port, are refused."""
    head = f"GET /health HTTP/1.1\r\nHost: {name}:{port}\r\nConnection: close\r\n\r\n".encode("latin-1")
    assert odd_daemon.raw(head).split(b" ", 2)[1] in (b"400", b"403")


ODD = ("x" * 5_000, "%00", "%ff", "..%2f..%2f", "%C2%B2", "-1", "%0a")


def test_no_path_or_parameter_is_an_internal_error(odd_daemon: RunningDaemon) -> None:
    """Long and odd values in every path and parameter are refused or not found."""
    described = odd_daemon.get("/openapi.json").json()["paths"]
    paths = ["/icons/{name}", "/assets/{name}", "/agents/{name}", "/answer/{name}", "/signin?code={name}"]
    for path, methods in described.items():
        parameters = methods.get("get", {}).get("parameters", [])
        names = [each["name"] for each in parameters if each["in"] == "query"]
        if "get" in methods and "stream" not in path:
            paths += [path, *(f"{re.sub('{.*?}', 'one', path)}?{name}={{value}}" for name in names)]
    failed = [
        (path, odd)
        for path in paths
        for odd in ODD
        if odd_daemon.get(re.sub("{.*?}", odd, path), scope="admin").status >= 500
    ]
    assert failed == []


@pytest.fixture(scope="module")
def odd_daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningDaemon]:
    """One daemon for all odd requests."""
    with running_daemon(tmp_path_factory.mktemp("odd")) as daemon:
        yield daemon
