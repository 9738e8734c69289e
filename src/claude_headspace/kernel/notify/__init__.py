"""Notifications: which to send, and when. Pure: `needs` finds what requires a person, `rules` holds the user's rules,
`plan` decides what to do now and when to check again, `messages` composes the text.

Nothing here has state. A plan is computed from the agents with their notifications, the rules, what people are looking
at, and the time. So deadlines survive a restart, and a replay sends nothing.
"""
