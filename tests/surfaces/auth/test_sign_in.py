"""Signing in: codes work once and for a while, passes need their key and outlive the daemon, nobody can make one."""

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


def signed_in(sign_ins: BrowserSignIn) -> BrowserCredentials:
    """A pass, by a fresh link."""
    found = sign_ins.redeem(code_of(sign_ins.create_link().path))
    assert found is not None
    return found


def scopes(sign_ins: BrowserSignIn, cookie: str, key: str) -> frozenset[Scope]:
    """What a browser with this pass may do."""
    return sign_ins.scopes(f"other=1; headspace-5055={cookie}".encode(), key.encode())


def test_a_code_works_once() -> None:
    """The second time it is worth nothing."""
    sign_ins = BrowserSignIn(SECRET, ManualClock())
    code = code_of(sign_ins.create_link().path)
    assert sign_ins.redeem(code) is not None
    assert sign_ins.redeem(code) is None
    assert sign_ins.redeem("") is None


def test_a_code_is_good_for_minutes() -> None:
    """After that a new link is needed."""
    clock = ManualClock()
    sign_ins = BrowserSignIn(SECRET, clock)
    code = code_of(sign_ins.create_link().path)
    clock.advance(CODE_SECONDS + 1)
    assert sign_ins.redeem(code) is None


def test_open_codes_are_bounded() -> None:
    """Whoever asks for many links only forgets the oldest."""
    sign_ins = BrowserSignIn(SECRET, ManualClock())
    codes = [code_of(sign_ins.create_link().path) for _ in range(MAX_CODES + 1)]
    assert sign_ins.redeem(codes[0]) is None
    assert sign_ins.redeem(codes[-1]) is not None


def test_a_pass_reads_and_acts_for_a_month() -> None:
    """It is no administrator's and no shim's, survives a restart, and ends."""
    clock = ManualClock()
    found = signed_in(BrowserSignIn(SECRET, clock))
    again = BrowserSignIn(SECRET, clock)
    assert scopes(again, found.cookie, found.key) == {Scope.READ, Scope.ACT}
    clock.advance(COOKIE_SECONDS + 1)
    assert scopes(again, found.cookie, found.key) == frozenset()


def test_a_pass_is_worth_nothing_without_its_key() -> None:
    """Nor with another's: cookies reach every port of a host, keys do not."""
    sign_ins = BrowserSignIn(SECRET, ManualClock())
    found, other = signed_in(sign_ins), signed_in(sign_ins)
    assert sign_ins.scopes(f"headspace-1={found.cookie}".encode(), None) == frozenset()
    assert scopes(sign_ins, found.cookie, other.key) == frozenset()
    assert sign_ins.scopes(None, found.key.encode()) == frozenset()


def test_a_pass_cannot_be_made_or_prolonged() -> None:
    """Another secret's, a later date, a broken one: nothing of that is ours."""
    clock = ManualClock()
    sign_ins = BrowserSignIn(SECRET, clock)
    found, foreign = signed_in(sign_ins), signed_in(BrowserSignIn(b"other", clock))
    expires, rest = found.cookie.split(".", 1)
    assert scopes(sign_ins, foreign.cookie, foreign.key) == frozenset()
    assert scopes(sign_ins, f"{int(expires) + 1}.{rest}", found.key) == frozenset()
    for broken in ("", ".", "..", "x.y.z", "\xff", found.cookie[:-1]):
        assert scopes(sign_ins, broken, found.key) == frozenset()
