"""Session notices: what a session was told with the reply to a hook. Part of the decisions stored with the event."""

import msgspec

from claude_headspace.kernel.claude_os.session_notice import SessionNotice
from claude_headspace.kernel.evolve.change import Change


def record_session_notice(change: Change, care: SessionNotice) -> None:
    """Record what the session was told, so that it is not told again."""
    agent, at = change.agent, change.meta.at
    agent.context_level_told = max(agent.context_level_told, care.context_level)
    if care.requests_note:
        agent.note_requested_at = max(agent.note_requested_at, at)
    if care.mission_ids:
        agent.worker_reports = tuple(each for each in agent.worker_reports if each.mission_id not in care.mission_ids)
    if care.requests_report and agent.mission is not None:
        agent.mission = msgspec.structs.replace(agent.mission, reminded_at=at)
