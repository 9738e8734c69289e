"""What is to be done now: whom to call, what to take back, what is held and why, and when to look again.

Rules
- A need is announced once per channel, and goes to the next step of its chain when the step before failed, or when
  nobody reacted in time. A reaction is the answer, or a look at the agent through Headspace.
- Nobody is called about what he has before him. What only has to be known is seen by that.
- Held back are calls in quiet hours, calls soon after another one, and those beyond what a channel takes in an hour.
  What becomes due together becomes one message when it is much.
- A need that is no more is over, whether somebody was reached or not.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping

import msgspec

from claude_headspace.kernel.agent import Agent
from claude_headspace.kernel.envelope import SECOND, Micros
from claude_headspace.kernel.notify.messages import VerbOf, no_verb
from claude_headspace.kernel.notify.needs import Need, needs_of
from claude_headspace.kernel.notify.notification import Notice
from claude_headspace.kernel.notify.rules import HOUR, Limits, Rule, Rules

LOOK_AGAIN: Micros = 3 * SECOND
"""How soon it is looked again whether somebody still has an agent before him."""
THERE_STILL: Micros = 30 * SECOND
"""How soon it is looked again whether somebody is still at the machine."""
SEEN_BY_LOOKING = ("waiting", "error", "finished")
"""Kinds of which it is told that somebody saw them: the last two are settled by that, the first is not passed on."""


class Looking(msgspec.Struct, frozen=True):
    """Where people look: the agents that somebody has before him, and whether somebody is at the machine at all."""

    watched: frozenset[str] = frozenset()
    present: bool = False


class Call(msgspec.Struct, frozen=True):
    """Call somebody through a channel; about several needs in one message."""

    channel: str
    needs: tuple[Need, ...]


class Held(msgspec.Struct, frozen=True):
    """A call that is not made yet, why, and until when at least."""

    need: Need
    channel: str
    why: str
    until: Micros | None


class Over(msgspec.Struct, frozen=True):
    """A need that is no more."""

    agent: Agent
    need: str
    kind: str


class Plan(msgspec.Struct):
    """All that is to be done now."""

    calls: list[Call] = []
    over: list[Over] = []
    seen: list[Agent] = []
    """Agents that somebody has before him, and that have something to be seen."""
    held: list[Held] = []

    @property
    def wake_at(self) -> Micros | None:
        """When to look again, if nothing happens before."""
        return min((held.until for held in self.held if held.until is not None), default=None)


class Moment(msgspec.Struct, frozen=True, kw_only=True):
    """All that a plan depends on beside the agents."""

    rules: Rules
    available: frozenset[str]
    """The channels that can be used here and now."""
    now: Micros
    looking: Looking = Looking()
    quiet_until: Micros | None = None
    verb_of: VerbOf = no_verb
    """The words for tools in titles."""


def unsettled(agents: Iterable[Agent], rules: Rules, now: Micros) -> list[Agent]:
    """The agents about which somebody may have to be called: only of these it matters who looks at them."""
    return [agent for agent in agents if any(_may_call(need, rules) for need in needs_of(agent, rules, now))]


def _may_call(need: Need, rules: Rules) -> bool:
    rule = rules.rule(need.kind, need.agent.project)
    arrived = any(notice.need == need.id and notice.arrived for notice in need.agent.notices)
    return rule.escalate_after > 0 or not arrived


def plan(agents: Collection[Agent], moment: Moment) -> Plan:
    """What is to be done."""
    made = Plan()
    ready: dict[str, list[Need]] = {}
    for agent in agents:
        needs = needs_of(agent, moment.rules, moment.now, moment.verb_of)
        made.over += _over(agent, {need.id for need in needs})
        if agent.id in moment.looking.watched and any(map(_is_unseen, needs)):
            made.seen.append(agent)
        for need in needs:
            for channel, due in _due(need, moment):
                if (held := _hold(need, channel, due, moment)) is not None:
                    made.held.append(held)
                else:
                    ready.setdefault(channel, []).append(need)
    sent = _sent(agents)
    for channel, found in ready.items():
        _release(made, channel, found, sent.get(channel, []), moment)
    return made


def _is_unseen(need: Need) -> bool:
    """Whether nobody has looked since it came, or since somebody was called about it."""
    told = (notice.settled_at for notice in need.agent.notices if notice.need == need.id)
    return need.kind in SEEN_BY_LOOKING and need.agent.seen_at < max(need.since, *told, 0)


def _over(agent: Agent, open_needs: Collection[str]) -> Iterator[Over]:
    gone = {
        notice.need: notice.kind for notice in agent.notices if not notice.over_at and notice.need not in open_needs
    }
    return (Over(agent, need, kind) for need, kind in gone.items())


# --- when -------------------------------------------------------------------------------------------------------------


def _due(need: Need, moment: Moment) -> Iterator[tuple[str, Micros]]:
    """The channels that a need is announced through next, and from when on."""
    rule = moment.rules.rule(need.kind, need.agent.project)
    said = {notice.channel: notice for notice in need.agent.notices if notice.need == need.id}
    delay = rule.present_after if moment.looking.present else rule.after
    due: Micros | None = max(need.since + delay, need.unsure_until)
    arrived = any(notice.arrived for notice in said.values())
    for step in moment.rules.chain(rule, moment.available | said.keys()):
        if due is None:
            return
        usable = tuple(channel for channel in step if channel in moment.available)
        yield from _of_step(usable, said, due, arrived=arrived)
        due = _next_step([said.get(channel) for channel in step], rule, need.agent, moment.now)


def _of_step(
    step: tuple[str, ...], said: Mapping[str, Notice], due: Micros, *, arrived: bool
) -> Iterator[tuple[str, Micros]]:
    """Each channel once; one that failed again after a while, as long as nobody was reached."""
    for channel in step:
        notice = said.get(channel)
        if notice is None:
            yield channel, due
        elif not arrived and notice.again_at is not None:
            yield channel, notice.again_at


def _next_step(step: list[Notice | None], rule: Rule, agent: Agent, now: Micros) -> Micros | None:
    """When the step after this one is due; None: not as things are."""
    known = [notice for notice in step if notice is not None]
    if len(known) < len(step):
        return None
    reached = [notice for notice in known if notice.arrived]
    if not reached:
        return None if any(not notice.settled_at for notice in known) else now
    first = min(notice.settled_at for notice in reached)
    if rule.escalate_after <= 0 or agent.seen_at >= first:
        return None
    return first + rule.escalate_after


# --- whether ----------------------------------------------------------------------------------------------------------


def _hold(need: Need, channel: str, due: Micros, moment: Moment) -> Held | None:
    """Why a call is not made now, if so."""
    quiet = moment.quiet_until
    lets_through = moment.rules.quiet is not None and need.kind in moment.rules.quiet.let_through
    if need.agent.id in moment.looking.watched:
        return Held(need, channel, "somebody looks at it", moment.now + LOOK_AGAIN)
    if due > moment.now:
        until = min(due, moment.now + THERE_STILL) if moment.looking.present else due
        return Held(need, channel, "it is not time yet", until)
    if quiet is not None and not lets_through:
        return Held(need, channel, "quiet hours", quiet)
    return None


def _sent(agents: Iterable[Agent]) -> dict[str, list[Micros]]:
    """When each channel was used; what was told together counts once."""
    moments: dict[str, set[Micros]] = {}
    for agent in agents:
        for notice in agent.notices:
            moments.setdefault(notice.channel, set()).add(notice.begun_at // SECOND * SECOND)
    return {channel: sorted(found) for channel, found in moments.items()}


def _release(made: Plan, channel: str, needs: list[Need], sent: list[Micros], moment: Moment) -> None:
    """Let calls go, apart or together, as often as the channel may be used."""
    limits, now = moment.rules.channels.get(channel, Limits()), moment.now
    lately = [at for at in sent if at > now - HOUR]
    free_at = lately[-1] + limits.spacing if lately else now
    if free_at > now:
        made.held += [Held(need, channel, "another call was made just now", free_at) for need in needs]
        return
    left = limits.per_hour - len(lately)
    if left <= 0:
        why, until = f"no more than {limits.per_hour} calls an hour", lately[-limits.per_hour] + HOUR
        made.held += [Held(need, channel, why, until) for need in needs]
    elif len(needs) >= moment.rules.digest_from or len(needs) > left:
        made.calls.append(Call(channel, tuple(needs)))
    else:
        made.calls += [Call(channel, (need,)) for need in needs]
