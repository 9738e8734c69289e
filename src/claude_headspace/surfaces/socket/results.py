"""The results of the socket commands `hooks.*`, one function per command. Fields that do not apply are null.

They are built from the same outcome as the reply to a hook over HTTP.
"""

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from claude_headspace.clients.claude_code.hook_kinds import NAMES
from claude_headspace.kernel.agent import Agent
from claude_headspace.kernel.effort import messages as effort_messages
from claude_headspace.kernel.effort.advice import NO_ADVICE, Advice
from claude_headspace.kernel.effort.advise import delivered_injections, files_to_preload, pending_preloads
from claude_headspace.kernel.effort.model import Effort, EffortOutcome, Window
from claude_headspace.kernel.hooks import HookKind
from claude_headspace.kernel.policy.verdict import ABSTAIN, Ruling, Verdict
from claude_headspace.kernel.views.dialects import dialects

Result = dict[str, Any]


class HookOutcome(msgspec.Struct, frozen=True):
    """The outcome of a hook, from which its result is built."""

    agent: Agent | None = None
    verdict: Verdict = ABSTAIN
    effort: EffortOutcome | None = None
    advice: Advice | None = None
    coordinator: str | None = None
    """The coordinator of the team, if it received a message."""
    documents: tuple[str, ...] = ()
    """The documents of the effort that exist and continue its work."""

    @property
    def current_effort(self) -> Effort | None:
        """The effort that the hook belongs to."""
        return self.effort.effort if self.effort else None

    @property
    def window(self) -> Window | None:
        """The context window of the hook."""
        return self.effort.window if self.effort else None

    @property
    def given_advice(self) -> Advice:
        """The advice of the effort; empty if there is none."""
        return self.advice or NO_ADVICE


def _ids(outcome: HookOutcome) -> Result:
    return {
        "effortId": outcome.current_effort.id if outcome.current_effort else None,
        "sessionId": outcome.window.id if outcome.window else None,
    }


def _status(outcome: HookOutcome) -> Result:
    return {"agentStatus": dialects(outcome.agent).fleet if outcome.agent else None, **_ids(outcome)}


def session_start(outcome: HookOutcome) -> Result:
    """The effort of a new context window."""
    effort = outcome.current_effort
    return {
        "found": effort is not None,
        **_ids(outcome),
        "prevSessionId": outcome.window.prev_session_id if outcome.window else None,
        "skill": effort.skill if effort else None,
        "phase": effort.phase if effort else None,
        "filesToPreload": [*files_to_preload(effort), *outcome.documents] if effort else [],
        "dehydratedContext": effort_messages.recovery(effort) if effort else None,
        "skillConfig": effort.skill_config if effort else None,
    }


def pre_tool_use(outcome: HookOutcome) -> Result:
    """Whether the tool call is allowed, and the counters of the window."""
    effort, window, advice, verdict = outcome.current_effort, outcome.window, outcome.given_advice, outcome.verdict
    ruling = verdict.ruling if verdict.enforced else Ruling.ABSTAIN
    decision = _decision(ruling, advice)
    reason = advice.reason if advice.denies and ruling is not Ruling.DENY else verdict.reason
    result: Result = {
        "allow": decision == "allow",
        "decision": decision,
        "heartbeatCount": window.heartbeat if window else None,
        "contextUsage": window.context_usage if window else None,
        "overflowWarning": advice.overflow,
        "pendingPreloads": list(pending_preloads(effort, window)) if effort else [],
        "firedRules": [msgspec.to_builtins(rule) for rule in advice.fired],
        "warnings": [*advice.context, *([verdict.reason] if ruling is Ruling.WARN else [])],
    }
    return result if decision == "allow" else {**result, "reason": reason}


def _decision(ruling: Ruling, advice: Advice) -> str:
    """`ask` needs a person. A client that cannot ask one must not run the call, so `allow` is false for it."""
    if ruling is Ruling.DENY or advice.denies:
        return "deny"
    return "ask" if ruling is Ruling.ASK else "allow"


def post_tool_use(outcome: HookOutcome) -> Result:
    """Messages for the model, and the dialogue that was stored."""
    dialogue = [each.text for each in outcome.effort.messages if each.kind == "dialogue"] if outcome.effort else []
    return {
        "heartbeatCount": outcome.window.heartbeat if outcome.window else None,
        "pendingInjections": [
            {"id": one.id, "content": one.text}
            for one in (
                delivered_injections(outcome.current_effort, outcome.given_advice) if outcome.current_effort else ()
            )
        ],
        "dialogueEntry": dialogue[0] if dialogue else None,
        "discoveredDirectives": list(outcome.current_effort.directives) if outcome.current_effort else [],
    }


def user_prompt(outcome: HookOutcome) -> Result:
    """The effort and phase of the session."""
    effort = outcome.current_effort
    return {
        "sessionContext": outcome.given_advice.context[0] if outcome.given_advice.context else None,
        **_ids(outcome),
        "taskDir": effort.task_dir if effort else None,
        "skill": effort.skill if effort else None,
        "phase": effort.phase if effort else None,
        "heartbeat": outcome.window.heartbeat if outcome.window else None,
    }


def subagent_start(outcome: HookOutcome) -> Result:
    """Instructions for a sub-agent."""
    effort = outcome.current_effort
    return {
        **_status(outcome),
        "logTemplate": effort_messages.LOG_INSTRUCTION if effort else None,
        "directives": list(effort.directives) if effort else [],
        "metadata": effort.metadata if effort else None,
        "context": outcome.given_advice.context[0] if outcome.given_advice.context else None,
    }


def subagent_stop(outcome: HookOutcome) -> Result:
    """The files that a sub-agent read."""
    return {**_status(outcome), "loadedFiles": list(outcome.window.loaded_files) if outcome.window else []}


def pre_compact(outcome: HookOutcome) -> Result:
    """Whether the client should be ended (only if it is supervised), and the prompt for the next client."""
    supervision = outcome.agent.supervision if outcome.agent else None
    spent = outcome.window is not None and outcome.window.restart_reason is not None
    return {
        **_status(outcome),
        "kill": spent and supervision is not None and not supervision.ended,
        "restartPrompt": effort_messages.recovery(outcome.current_effort) if outcome.current_effort else None,
    }


def team_event(outcome: HookOutcome) -> Result:
    """The coordinator that was informed about a teammate."""
    return {**_status(outcome), "coordinator": outcome.coordinator}


class HookCommand(msgspec.Struct, frozen=True):
    """A hook command: the hook that it reports, and the function that builds its result."""

    kind: HookKind
    result: Callable[[HookOutcome], Result]

    @property
    def event(self) -> str:
        """The name of the hook."""
        return NAMES[self.kind]


HOOK_COMMANDS: Mapping[str, HookCommand] = {
    "hooks.sessionStart": HookCommand(HookKind.SESSION_START, session_start),
    "hooks.sessionEnd": HookCommand(HookKind.SESSION_END, _status),
    "hooks.preCompact": HookCommand(HookKind.BEFORE_COMPACTION, pre_compact),
    "hooks.preToolUse": HookCommand(HookKind.BEFORE_TOOL, pre_tool_use),
    "hooks.postToolUse": HookCommand(HookKind.AFTER_TOOL, post_tool_use),
    "hooks.postToolUseFailure": HookCommand(HookKind.TOOL_FAILED, _status),
    "hooks.stop": HookCommand(HookKind.TURN_END, _status),
    "hooks.userPrompt": HookCommand(HookKind.PROMPT, user_prompt),
    "hooks.userPromptSubmit": HookCommand(HookKind.PROMPT, user_prompt),
    "hooks.notification": HookCommand(HookKind.NOTIFICATION, _status),
    "hooks.permissionRequest": HookCommand(HookKind.PERMISSION, _status),
    "hooks.teammateIdle": HookCommand(HookKind.TEAMMATE_IDLE, team_event),
    "hooks.taskCompleted": HookCommand(HookKind.TASK_COMPLETED, team_event),
    "hooks.subagentStart": HookCommand(HookKind.SUBAGENT_START, subagent_start),
    "hooks.subagentStop": HookCommand(HookKind.SUBAGENT_END, subagent_stop),
    "hooks.configChange": HookCommand(HookKind.CONFIGURATION_CHANGE, _status),
}
"""All hook commands. `userPrompt` has two names."""
