"""Sends requests to push services, whose addresses come from browsers.

Rules
- Only https to public addresses, and the push services of the settings. The address of a name is checked and then used,
  so another reply of the name server cannot lead elsewhere.
- Redirects are not followed, and of a reply only its status counts.
"""

import http.client
import ipaddress
import socket
import ssl
from collections.abc import Collection
from urllib.parse import urlsplit

from claude_headspace.errors import BadRequest
from claude_headspace.outputs.notify.desktop import DeliveryFailed
from claude_headspace.outputs.notify.push.encryption import PushRequest
from claude_headspace.outputs.notify.push.subscriptions import check_endpoint

TIMEOUT_SECONDS = 10.0
GONE = (404, 410)
"""The subscription no longer exists."""
CONTENT_TOO_LARGE, TOO_MANY = 413, 429
REASONS = {CONTENT_TOO_LARGE: "the message is too large", TOO_MANY: "too many messages"}


class SubscriptionGone(DeliveryFailed):
    """The push service no longer knows the subscription."""


def send(request: PushRequest, services: Collection[str]) -> None:
    """Send a request. Raises `SubscriptionGone`, or `DeliveryFailed` with the reason, which never has the address."""
    found = urlsplit(request.url)
    try:
        check_endpoint(request.url, services)
        is_listed = f"{found.scheme}://{found.netloc}" in services
        status = _post(request, is_private_permitted=is_listed)
    except BadRequest as error:
        raise DeliveryFailed(error.message) from error
    except (OSError, http.client.HTTPException) as error:
        raise DeliveryFailed(f"{found.hostname} cannot be reached ({type(error).__name__})") from error
    if status in GONE:
        raise SubscriptionGone("the browser has ended its subscription")
    if not 200 <= status < 300:
        reason = REASONS.get(status, "the push service refused the message")
        raise DeliveryFailed(f"{reason} ({found.hostname}: status {status})")


def _post(request: PushRequest, *, is_private_permitted: bool) -> int:
    found = urlsplit(request.url)
    host, is_https = found.hostname or "", found.scheme == "https"
    port = found.port or (443 if is_https else 80)
    connection = http.client.HTTPConnection(host, port, timeout=TIMEOUT_SECONDS)
    try:
        connection.sock = _connect(host, port, is_private_permitted=is_private_permitted)
        if is_https:
            import certifi

            context = ssl.create_default_context(cafile=certifi.where())
            connection.sock = context.wrap_socket(connection.sock, server_hostname=host)
        target = f"{found.path or '/'}?{found.query}" if found.query else found.path or "/"
        connection.request("POST", target, request.body, {"Host": found.netloc, **request.headers})
        return connection.getresponse().status
    finally:
        connection.close()


def _connect(host: str, port: int, *, is_private_permitted: bool) -> socket.socket:
    """A connection to the first address of a host that accepts one."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    addresses = list(dict.fromkeys(str(each[4][0]) for each in found))
    if not is_private_permitted and not all(map(is_public, addresses)):
        raise DeliveryFailed(f"{host} is not a public address")
    failure: OSError = ConnectionError(host)
    for address in addresses:
        try:
            return socket.create_connection((address, port), TIMEOUT_SECONDS)
        except OSError as error:
            failure = error
    raise failure


def is_public(address: str) -> bool:
    """Whether an address is on the internet: not of this machine, a private network, or a range with a special use."""
    parsed = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(parsed, ipaddress.IPv6Address) and parsed.ipv4_mapped is not None:
        parsed = parsed.ipv4_mapped
    return parsed.is_global and not parsed.is_multicast
