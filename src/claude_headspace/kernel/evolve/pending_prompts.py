"""Acts on pending prompts: schedule, delay, type, finish, cancel."""

from typing import Any

from claude_headspace.kernel import acts
from claude_headspace.kernel.evolve.change import Change, replace
from claude_headspace.kernel.facts import Meta
from claude_headspace.kernel.pending_prompts import MAX_PENDING, MAX_SUMMARY_CHARS, PendingPrompt
from claude_headspace.kernel.text import short


def prompt_scheduled(change: Change, meta: Meta, fact: acts.PromptScheduled) -> None:
    """Add a prompt to the end of the queue."""
    pending = change.agent.pending_prompts
    if len(pending) < MAX_PENDING and all(each.id != fact.prompt_id for each in pending):
        prompt = PendingPrompt(
            id=short(fact.prompt_id),
            summary=fact.summary[:MAX_SUMMARY_CHARS],
            at=meta.at,
            by=short(fact.by),
            via=short(fact.via),
            keep_draft=fact.keep_draft,
            not_before=fact.not_before,
            after_error=fact.after_error,
        )
        change.agent.pending_prompts = (*pending, prompt)


def prompt_delayed(change: Change, _meta: Meta, fact: acts.PromptDelayed) -> None:
    """Record why a prompt waits although the agent is idle."""
    _update(change, fact.prompt_id, obstacle=fact.reason)


def text_typed(change: Change, meta: Meta, fact: acts.TextTyped) -> None:
    """A pending prompt is typed. Any other text changes nothing: the client reports the prompt itself."""
    if fact.prompt_id:
        _update(change, fact.prompt_id, typed_at=meta.at, obstacle="")


def prompt_finished(change: Change, _meta: Meta, fact: acts.PromptFinished) -> None:
    """A prompt that arrived leaves the queue. Another one stays with the problem."""
    if fact.reason:
        _update(change, fact.prompt_id, problem=fact.reason, obstacle="")
    else:
        _remove(change, fact.prompt_id)


def prompt_cancelled(change: Change, _meta: Meta, fact: acts.PromptCancelled) -> None:
    """A person removed the prompt from the queue."""
    _remove(change, fact.prompt_id)


def _update(change: Change, prompt_id: str, **parts: Any) -> None:
    pending = change.agent.pending_prompts
    if any(each.id == prompt_id for each in pending):
        updated = (replace(each, **parts) if each.id == prompt_id else each for each in pending)
        change.agent.pending_prompts = tuple(updated)


def _remove(change: Change, prompt_id: str) -> None:
    pending = change.agent.pending_prompts
    if any(each.id == prompt_id for each in pending):
        change.agent.pending_prompts = tuple(each for each in pending if each.id != prompt_id)
