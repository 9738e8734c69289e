"""Whom to call about what, and when. Pure: `needs` says what wants a person, `rules` how the user wants to be called,
`plan` what is to be done now and when to look again, `texts` the words.

Nothing here is remembered: a plan follows from the agents (with the notices that they carry), the rules, where people
look, and the time. So a deadline survives a restart because it is found again, and a replay calls nobody.
"""
