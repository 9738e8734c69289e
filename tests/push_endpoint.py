"""A push service on loopback, and the browser that subscribes to it.

The browser decrypts messages as RFC 8291 describes, and signatures are verified as RFC 8292 describes, with nothing of
the libraries that Headspace sends with.
"""

import base64
import contextlib
import hashlib
import hmac
import json
import os
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from tests.support import wait_until

CURVE = ec.SECP256R1()
HEADER_BYTES = 21
"""Salt, record size, and the length of the key that follows."""


def encode64(content: bytes) -> str:
    """Base 64 for URLs, without padding."""
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()


def decode64(text: str) -> bytes:
    """The bytes of such a text."""
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


class PushBrowser:
    """A browser with the keys of its subscription."""

    def __init__(self) -> None:
        self._key = ec.generate_private_key(CURVE)
        self.secret = os.urandom(16)
        self.public_key = self._key.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)

    def subscription(self, endpoint: str) -> dict[str, Any]:
        """The subscription as `PushSubscription.toJSON()` has it."""
        keys = {"p256dh": encode64(self.public_key), "auth": encode64(self.secret)}
        return {"endpoint": endpoint, "expirationTime": None, "keys": keys}

    def decrypt(self, body: bytes) -> dict[str, Any]:
        """The message in the body of a push (RFC 8188 and 8291)."""
        salt, key_length = body[:16], body[20]
        sender = body[HEADER_BYTES : HEADER_BYTES + key_length]
        shared = self._key.exchange(ec.ECDH(), ec.EllipticCurvePublicKey.from_encoded_point(CURVE, sender))
        material = _derive(self.secret, shared, b"WebPush: info\0" + self.public_key + sender, 32)
        key = _derive(salt, material, b"Content-Encoding: aes128gcm\0", 16)
        nonce = _derive(salt, material, b"Content-Encoding: nonce\0", 12)
        content = AESGCM(key).decrypt(nonce, body[HEADER_BYTES + key_length :], None)
        assert content.endswith(b"\x02")
        message: dict[str, Any] = json.loads(content[:-1])
        return message


def _derive(salt: bytes, material: bytes, info: bytes, length: int) -> bytes:
    """HKDF for at most 32 bytes."""
    return hmac.digest(hmac.digest(salt, material, hashlib.sha256), info + b"\x01", hashlib.sha256)[:length]


@dataclass
class Push:
    """A request that the service received."""

    path: str
    headers: Mapping[str, str]
    body: bytes


def verified_claims(authorization: str) -> dict[str, Any]:
    """The claims of a VAPID signature, with the key that signed them. Raises if the signature is wrong."""
    scheme, _, parameters = authorization.partition(" ")
    assert scheme == "vapid"
    values = dict(part.strip().split("=", 1) for part in parameters.split(","))
    signed, _, signature = values["t"].rpartition(".")
    raw = decode64(signature)
    key = ec.EllipticCurvePublicKey.from_encoded_point(CURVE, decode64(values["k"]))
    r, s = int.from_bytes(raw[:32], "big"), int.from_bytes(raw[32:], "big")
    key.verify(encode_dss_signature(r, s), signed.encode(), ec.ECDSA(hashes.SHA256()))
    head, claims = (json.loads(decode64(part)) for part in signed.split("."))
    assert head["alg"] == "ES256"
    return {**claims, "key": values["k"]}


@dataclass
class PushService:
    """A push service. `status` is its reply; a redirect leads to `location`."""

    port: int = 0
    status: int = 201
    location: str = ""
    pushes: list[Push] = field(default_factory=list)

    @property
    def origin(self) -> str:
        """Its address, for `push_services`."""
        return f"http://127.0.0.1:{self.port}"

    def endpoint(self, name: str = "phone") -> str:
        """The address of a subscription."""
        return f"{self.origin}/push/{name}"

    def wait(self, number: int) -> list[Push]:
        """Wait for a number of pushes. Returns all of them."""
        wait_until(lambda: len(self.pushes) >= number, f"{number} pushes")
        return self.pushes


@contextlib.contextmanager
def push_service() -> Iterator[PushService]:
    """A running push service."""
    service = PushService()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            service.pushes.append(Push(self.path, dict(self.headers.items()), body))
            self.send_response(service.status)
            if service.location:
                self.send_header("location", service.location)
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, *_arguments: object) -> None:
            """Log nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    service.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield service
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
