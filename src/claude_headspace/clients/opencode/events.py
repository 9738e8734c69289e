"""What the plugin in opencode reports: one table for the documentation and the tests.

The plugin runs inside the client and hears every event of it; it reports only these. There are no timeouts.
"""

REGISTERED = {
    "session.created": "a session or a sub-agent started; comes with the first prompt",
    "session.status": "the agent works, tries again after an error, or is idle",
    "session.error": "the turn ended in an error, or a person interrupted it",
    "session.cost": "the cost of the session and its sub-agents, whenever it grew",
    "session.compacting": "the agent begins to compact its context",
    "session.compacted": "the agent has compacted its context",
    "chat.message": "a command starts",
    "tool.execute.before": "a tool is about to run; guard rules decide here",
    "tool.execute.after": "a tool call finished",
    "tool.error": "a tool call failed, or was rejected or denied",
    "permission.asked": "the agent waits for a permission, which Headspace can answer",
    "permission.replied": "the permission was answered",
    "question.asked": "the agent waits for the answer to a question, which Headspace can give",
    "question.replied": "the question was answered",
    "question.rejected": "the question was dismissed",
    "todo.updated": "the agent changed its to-do list",
    "message.text": "the agent wrote something between tool calls",
    "message.updated": "a finished message: its model and tokens",
    "dispose": "the client ended",
}
"""The reported events, and what each reports."""

NOT_REGISTERED = {
    "message.part.delta": "fires for every piece of streamed text",
    "chat.params": "fires before every request to the model; only the size of the context window is taken from it",
    "shell.env": "fires before every shell command and adds nothing to the state",
}
"""The events that are not reported, and why."""
