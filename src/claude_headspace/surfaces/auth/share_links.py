"""Links that show one agent to people without access, until they expire. Whoever has a link can read, nothing else.

A link is stored like a named token, with the agent as its only scope. So `headspace token list` shows it, `headspace
token revoke` revokes it on every host, and the link cannot be read from the journal: only its digest is stored.
"""

import secrets
from contextlib import suppress

from claude_headspace.errors import BadRequest, JournalUnavailable
from claude_headspace.kernel.envelope import SECOND, Micros
from claude_headspace.ports import Clock, NamedToken, TokenStore
from claude_headspace.surfaces.auth.named_tokens import LAST_USE_PRECISION, digest_of

PATH = "/share/"
PREFIX = "hs_share_"
LENGTH = len(PREFIX) + 43
SCOPE = "share:"
"""The scope of a link is this and the id of the agent."""
MAX_LIFETIME: Micros = 30 * 24 * 3600 * SECOND


class ShareLinks:
    """Creates, verifies and revokes links."""

    def __init__(self, store: TokenStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    def create(self, agent_id: str, owner: str, expires_at: Micros) -> tuple[NamedToken, str]:
        """Create a link: its entry and its path, which is returned once and never stored."""
        now = self._clock()
        if not now < expires_at <= now + MAX_LIFETIME:
            hint = "Choose a time between now and 30 days from now, such as `1d`."
            raise BadRequest("bad_time", "A link cannot expire at this time.", hint)
        text = PREFIX + secrets.token_urlsafe(32)
        entry = NamedToken(
            name=f"share-{secrets.token_hex(6)}",
            scopes=(SCOPE + agent_id,),
            owner=owner,
            created_at=now,
            expires_at=expires_at,
        )
        self._store.add_token(entry, digest_of(text))
        return entry, PATH + text

    def agent_id(self, text: str) -> str | None:
        """The agent that a link shows; None if the link is unknown, expired or revoked."""
        if len(text) != LENGTH or not text.startswith(PREFIX):
            return None
        found, now = self._store.token(digest_of(text)), self._clock()
        if found is None or found.expires_at is None or found.expires_at <= now:
            return None
        if found.last_used_at is None or abs(now - found.last_used_at) >= LAST_USE_PRECISION:
            with suppress(JournalUnavailable):  # the link is valid even if its use cannot be stored
                self._store.record_token_use(found.name, now)
        return found.scopes[0].removeprefix(SCOPE)

    def of_agent(self, agent_id: str) -> list[NamedToken]:
        """The links to an agent that have not expired."""
        now = self._clock()
        return [
            each
            for each in self._store.tokens()
            if each.scopes == (SCOPE + agent_id,) and each.expires_at is not None and each.expires_at > now
        ]

    def revoke(self, agent_id: str, name: str) -> None:
        """Revoke a link to an agent. It shows nothing from now on."""
        if name not in {each.name for each in self.of_agent(agent_id)} or not self._store.remove_token(name):
            hint = "It may have expired, or somebody else revoked it."
            raise BadRequest("unknown_link", f"There is no link {name[:60]} to this agent.", hint, status=404)
