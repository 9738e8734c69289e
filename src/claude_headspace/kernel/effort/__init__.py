"""Efforts: work that continues across sessions, in three layers.

    Task      a directory; permanent, active while one of its efforts is, dormant otherwise
    Effort    one invocation of a skill in a task: phase, directives, log, handover; active, then finished
    Window    one context window that works on the effort: heartbeat, context usage, loaded files; never resumed

Everything here is pure. Without an active effort, nothing here runs.

    model         the three layers and their parts
    acts          what people and agents do to an effort (`headspace effort …`), as events
    resolve       find the effort that an event belongs to
    own_commands  recognise shell commands that run Headspace itself
    evolve        how acts and hooks change an effort
    advance       apply one event of the log, in the engine and in a replay
    advice        what an effort adds to the reply of a hook
    advise        compute the advice
    messages      the texts of the advice
    skill         parse a SKILL.md
    snapshot      where a replay of efforts starts when older events were removed
    views         efforts as surfaces show them
"""
