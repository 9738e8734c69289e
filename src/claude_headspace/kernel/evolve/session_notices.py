"""Session notices: what a session was told with the reply to a hook. Part of the decisions stored with the event."""

import msgspec

from claude_headspace.kernel.claude_os.session_notice import Care
from claude_headspace.kernel.evolve.change import Change


def record_session_notice(change: Change, care: Care) -> None:
    """Record what the session was told, so that it is not told again."""
    agent, at = change.agent, change.meta.at
    agent.context_level_told = max(agent.context_level_told, care.level)
    if care.asked_for_note:
        agent.note_requested_at = max(agent.note_requested_at, at)
    if care.missions:
        agent.worker_reports = tuple(each for each in agent.worker_reports if each.mission_id not in care.missions)
    if care.asked_for_report and agent.mission is not None:
        agent.mission = msgspec.structs.replace(agent.mission, reminded_at=at)
