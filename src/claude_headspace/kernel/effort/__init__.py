"""Efforts: work that outlives sessions, in three layers.

    Task      a directory; permanent, active or dormant by its efforts
    Effort    one invocation of a skill there: phase, directives, log, what to hand over; active, then finished
    Window    one context window that works on it: heartbeat, context usage, loaded files; never resumed

All of it is pure, and nothing of it speaks unless somebody has started an effort.

    nouns    the three layers, and what belongs to them
    acts     what people and agents do to an effort (`headspace effort …`), as events
    resolve  whose effort is it
    reading  what a tool call touches
    evolve   how acts and hooks change an effort
    advise   what the client is answered because of it
    texts    the words of those answers
    skill    what a SKILL.md says
    views    the shapes that surfaces show
"""
