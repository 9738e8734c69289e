"""Browser sign-in: codes work once and expire, credentials need their key and survive a restart, nobody can forge
them.
"""

from claude_headspace.surfaces.auth.sign_in import (
    CODE_SECONDS,
    COOKIE_SECONDS,
    MAX_CODES,
    BrowserCredentials,
    BrowserSignIn,
)
from claude_headspace.surfaces.auth.tokens import Scope
from claude_headspace.testing import ManualClock

SECRET = b"secret"


def code_of(path: str) -> str:
    """The code in a link."""
    return path.partition("code=")[2]


def sign_in_once(sign_ins: BrowserSignIn) -> BrowserCredentials:
    """Credentials from a new link."""
    found = sign_ins.redeem(code_of(sign_ins.create_link().path))
    assert found is not None
    return found


def scopes(sign_ins: BrowserSignIn, cookie: str, key: str) -> frozenset[Scope]:
    """The scopes of a browser with these credentials."""
    return sign_ins.scopes(f"other=1; headspace-5055={cookie}".encode(), key.encode())


def test_a_code_works_once() -> None:
    """The second use returns nothing."""
    sign_ins = BrowserSignIn(SECRET, ManualClock())
    code = code_of(sign_ins.create_link().path)
    assert sign_ins.redeem(code) is not None
    assert sign_ins.redeem(code) is None
    assert sign_ins.redeem("") is None


def test_a_code_expires() -> None:
    """After five minutes a new link is needed."""
    clock = ManualClock()
    sign_ins = BrowserSignIn(SECRET, clock)
    code = code_of(sign_ins.create_link().path)
    clock.advance(CODE_SECONDS + 1)
    assert sign_ins.redeem(code) is None


def test_unused_codes_are_limited() -> None:
    """The oldest code is dropped."""
    sign_ins = BrowserSignIn(SECRET, ManualClock())
    codes = [code_of(sign_ins.create_link().path) for _ in range(MAX_CODES + 1)]
    assert sign_ins.redeem(codes[0]) is None
    assert sign_ins.redeem(codes[-1]) is not None


def test_credentials_read_and_act_for_a_month() -> None:
    """They have neither admin nor ingest scope, survive a restart, and expire."""
    clock = ManualClock()
    found = sign_in_once(BrowserSignIn(SECRET, clock))
    again = BrowserSignIn(SECRET, clock)
    assert scopes(again, found.cookie, found.key) == {Scope.READ, Scope.ACT}
    clock.advance(COOKIE_SECONDS + 1)
    assert scopes(again, found.cookie, found.key) == frozenset()


def test_a_cookie_needs_its_key() -> None:
    """Browsers send cookies to every port of a host, but not keys."""
    sign_ins = BrowserSignIn(SECRET, ManualClock())
    found, other = sign_in_once(sign_ins), sign_in_once(sign_ins)
    assert sign_ins.scopes(f"headspace-1={found.cookie}".encode(), None) == frozenset()
    assert scopes(sign_ins, found.cookie, other.key) == frozenset()
    assert sign_ins.scopes(None, found.key.encode()) == frozenset()


def test_credentials_cannot_be_forged_or_extended() -> None:
    """Another secret, a later date, a broken cookie."""
    clock = ManualClock()
    sign_ins = BrowserSignIn(SECRET, clock)
    found, foreign = sign_in_once(sign_ins), sign_in_once(BrowserSignIn(b"other", clock))
    expires, rest = found.cookie.split(".", 1)
    assert scopes(sign_ins, foreign.cookie, foreign.key) == frozenset()
    assert scopes(sign_ins, f"{int(expires) + 1}.{rest}", found.key) == frozenset()
    for broken in ("", ".", "..", "x.y.z", "\xff", found.cookie[:-1]):
        assert scopes(sign_ins, broken, found.key) == frozenset()
