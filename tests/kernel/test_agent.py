"""The stored JSON of an agent keeps its names and their order, even if fields are renamed in memory."""

import msgspec

from claude_headspace.kernel.agent import Agent

STORED = (
    "id name host client project created_at cwd branch pid pid_started_at tmux_session tmux_pane headspace_id "
    "wrapper_pid wrapper_started_at supervision parent_id role mode mission news note briefed imported_from state "
    "waiting_for state_since evidence last_active_at seen_at alive_at busy_at settled_at stopped_at stop_mark "
    "step_at began_at undisturbed_at listed_at ended_at end_reason compacting_at compacted_at tool_finished_at "
    "session past_sessions early_end command turn_ids past_commands calls finished_calls waits queued returning "
    "returned heard subagents background notices verdicts grants error last_tool todos todos_done last_words "
    "last_words_turn permission_mode model context_window measured_at context_percent tokens cost_usd rate_limits "
    "told_level reminded_at unauthenticated fleet_id question_closed_at answer_taken_at reported_end "
    "forked_session stop_requested_at archived_at usage pending_prompts worktree"
).split()


def test_the_stored_names_do_not_change() -> None:
    """Other versions read them on a shared database, and `verify` compares the text."""
    assert [field.encode_name for field in msgspec.structs.fields(Agent)] == STORED
