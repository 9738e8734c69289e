"""What each command of the engine's dialect answers, field by field. Null where nothing applies.

The same outcome that HTTP is answered from, in the words of the socket: `hooks.*`, one function each.
"""

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from claude_headspace.clients.claude_code.hook_kinds import NAMES
from claude_headspace.kernel.agent import Agent
from claude_headspace.kernel.effort import messages as texts
from claude_headspace.kernel.effort.advice import NOTHING, Advice
from claude_headspace.kernel.effort.advise import injected, pending_preloads, to_preload
from claude_headspace.kernel.effort.model import Effort, EffortOutcome, Window
from claude_headspace.kernel.hooks import HookKind
from claude_headspace.kernel.policy.verdict import ABSTAIN, Ruling, Verdict
from claude_headspace.kernel.views import dialects

Result = dict[str, Any]


class Told(msgspec.Struct, frozen=True):
    """What came of a hook, as far as its answer needs it."""

    agent: Agent | None = None
    verdict: Verdict = ABSTAIN
    effort: EffortOutcome | None = None
    advice: Advice | None = None
    coordinator: str | None = None
    """Who was told of it, of a team."""

    @property
    def work(self) -> Effort | None:
        """The effort that it belongs to."""
        return self.effort.effort if self.effort else None

    @property
    def window(self) -> Window | None:
        """The context window that it happened in."""
        return self.effort.window if self.effort else None

    @property
    def said(self) -> Advice:
        """What the effort answers."""
        return self.advice or NOTHING


def _ids(told: Told) -> Result:
    return {
        "effortId": told.work.id if told.work else None,
        "sessionId": told.window.id if told.window else None,
    }


def _status(told: Told) -> Result:
    return {"agentStatus": dialects(told.agent).fleet if told.agent else None, **_ids(told)}


def session_start(told: Told) -> Result:
    """What a new context window works on."""
    effort = told.work
    return {
        "found": effort is not None,
        **_ids(told),
        "prevSessionId": told.window.prev_session_id if told.window else None,
        "skill": effort.skill if effort else None,
        "phase": effort.phase if effort else None,
        "filesToPreload": list(to_preload(effort)) if effort else [],
        "dehydratedContext": texts.recovery(effort) if effort else None,
        "skillConfig": effort.skill_config if effort else None,
    }


def pre_tool_use(told: Told) -> Result:
    """Whether the call may run, and how the window stands."""
    policy_denies = told.verdict.ruling is Ruling.DENY and told.verdict.enforced
    reason = told.verdict.reason if policy_denies else told.said.reason
    result: Result = {
        "allow": not policy_denies and not told.said.denies,
        "heartbeatCount": told.window.heartbeat if told.window else None,
        "contextUsage": told.window.context_usage if told.window else None,
        "overflowWarning": told.said.overflow,
        "pendingPreloads": list(pending_preloads(told.work, told.window)) if told.work else [],
        "firedRules": [msgspec.to_builtins(rule) for rule in told.said.fired],
        "warnings": list(told.said.context),
    }
    return {**result, "reason": reason} if reason else result


def post_tool_use(told: Told) -> Result:
    """What waits for the model, and what was written down."""
    dialogue = [each.text for each in told.effort.messages if each.kind == "dialogue"] if told.effort else []
    return {
        "heartbeatCount": told.window.heartbeat if told.window else None,
        "pendingInjections": [
            {"id": one.id, "content": one.text} for one in (injected(told.work, told.said) if told.work else ())
        ],
        "dialogueEntry": dialogue[0] if dialogue else None,
        "discoveredDirectives": list(told.work.directives) if told.work else [],
    }


def user_prompt(told: Told) -> Result:
    """Where the session stands."""
    effort = told.work
    return {
        "sessionContext": told.said.context[0] if told.said.context else None,
        **_ids(told),
        "taskDir": effort.task_dir if effort else None,
        "skill": effort.skill if effort else None,
        "phase": effort.phase if effort else None,
        "heartbeat": told.window.heartbeat if told.window else None,
    }


def subagent_start(told: Told) -> Result:
    """What a sub-agent should know."""
    effort = told.work
    return {
        **_status(told),
        "logTemplate": texts.LOG_IT if effort else None,
        "directives": list(effort.directives) if effort else [],
        "metadata": effort.metadata if effort else None,
        "context": told.said.context[0] if told.said.context else None,
    }


def subagent_stop(told: Told) -> Result:
    """What a sub-agent leaves behind."""
    return {**_status(told), "loadedFiles": list(told.window.loaded_files) if told.window else []}


def pre_compact(told: Told) -> Result:
    """The client goes on, unless somebody supervises it: then it is ended, and goes on with what was handed over."""
    supervision = told.agent.supervision if told.agent else None
    spent = told.window is not None and told.window.spent is not None
    return {
        **_status(told),
        "kill": spent and supervision is not None and not supervision.ended,
        "restartPrompt": texts.recovery(told.work) if told.work else None,
    }


def signalled(told: Told) -> Result:
    """Who is told of a teammate."""
    return {**_status(told), "coordinator": told.coordinator}


class HookCommand(msgspec.Struct, frozen=True):
    """One command of the socket: the hook that it stands for, and how it is answered."""

    kind: HookKind
    answer: Callable[[Told], Result]

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
    "hooks.teammateIdle": HookCommand(HookKind.TEAMMATE_IDLE, signalled),
    "hooks.taskCompleted": HookCommand(HookKind.TASK_COMPLETED, signalled),
    "hooks.subagentStart": HookCommand(HookKind.SUBAGENT_START, subagent_start),
    "hooks.subagentStop": HookCommand(HookKind.SUBAGENT_END, subagent_stop),
    "hooks.configChange": HookCommand(HookKind.CONFIGURATION_CHANGE, _status),
}
"""Fifteen handlers; `userPrompt` has two names."""
