"""What a session was told of itself. It stands with the event, so a replay knows without deciding again."""

from claude_headspace.kernel.claude_os.care import Care
from claude_headspace.kernel.evolve.change import Change


def take_care(change: Change, care: Care) -> None:
    """What was told is not told again; a turn that was not let end goes on."""
    agent, at = change.agent, change.meta.at
    agent.told_level = max(agent.told_level, care.level)
    if care.asked_for_note:
        agent.reminded_at = max(agent.reminded_at, at)
    if care.holds:
        change.why = "goes on: Headspace told it something before it could end"
        agent.busy_at = max(agent.busy_at, at)
