"""What sessions of Claude OS are given and told: pure, and nothing of it speaks to a session that did not ask for it.

briefing  the files that a new context window begins with, bounded
care      what a session was told of itself: a fact, stored with the event
attend    when it is told what: how full its context is, that nobody knows what it does
texts     the words
"""
