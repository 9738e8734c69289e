"""Which hooks of Gemini CLI are registered, and why: one table for the installer, the documentation and the tests.

Timeouts are in milliseconds. Every hook delays the turn, also notifications, so none waits for a person: Gemini CLI
shows its dialog only after the hook.
"""

REGISTERED = {
    "SessionStart": "a context window opens: the agent is running",
    "SessionEnd": "a context window closes: the agent ended, or starts a new one",
    "BeforeAgent": "a command starts",
    "BeforeTool": "a tool is about to run; guard rules decide here",
    "Notification": "the agent waits for a permission or for the answer to a question",
    "AfterTool": "a tool call finished or failed, and with it its wait",
    "AfterAgent": "the turn ended, was interrupted or failed; the transcript says which",
    "PreCompress": "a person compacts the context",
}
"""The registered events, and what each reports."""

NOT_REGISTERED = {
    "BeforeModel": "delays every request to the model and carries the complete request",
    "AfterModel": "fires for every piece of streamed text and delays it",
    "BeforeToolSelection": "delays every request to the model and carries the complete request",
}
"""The events that are not registered, and why."""

MATCHERS = {"PreCompress": "manual"}
"""Only these triggers are reported. The trigger `auto` fires before every request to the model and means nothing."""

TIMEOUT_MILLISECONDS = 5_000
"""After this the client ends a hook. The script itself stops after 2 s; this is a safeguard."""
