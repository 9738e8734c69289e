"""What a session was told with an answer. It stands with the event, so a replay knows without deciding again."""

import msgspec

from claude_headspace.kernel.claude_os.session_notice import Care
from claude_headspace.kernel.evolve.change import Change


def take_care(change: Change, care: Care) -> None:
    """What was told is not told again."""
    agent, at = change.agent, change.meta.at
    agent.told_level = max(agent.told_level, care.level)
    if care.asked_for_note:
        agent.reminded_at = max(agent.reminded_at, at)
    if care.missions:
        agent.news = tuple(each for each in agent.news if each.mission_id not in care.missions)
    if care.asked_for_report and agent.mission is not None:
        agent.mission = msgspec.structs.replace(agent.mission, reminded_at=at)
