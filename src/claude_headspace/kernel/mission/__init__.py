"""Missions: work that an agent does by itself, and the conversation that is told when it is over.

    Mission       what an agent was sent to do, how it ended, what it reported; part of the agent that works on it
    Worker        an agent in the mode mission or background
    Conversation  the agent on whose behalf a worker was started
    News          what a conversation is to be told of a worker, until it was

All of it is part of the agents, so it follows from the log as they do, and costs those without missions nothing.

    nouns    mission and news, the modes
    orders   which mode and which mission a client has, decided when its events arrive
    tell     when a hook is answered because of it, and with what (`claude_os.care`: a fact, stored with the event)
    texts    its words
"""
