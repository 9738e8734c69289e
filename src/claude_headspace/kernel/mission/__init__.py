"""Missions: work that an agent does unattended, and the report to the conversation that started it.

    Mission       the goal, the outcome and the report; part of the agent that works on it
    Worker        an agent in the mode mission or background
    Conversation  the agent that started a worker
    WorkerReport  the result of a worker, kept until the conversation has received it

Missions are part of the agents, so they are replayed with them and cost nothing for agents without one.

    model        mission, worker report, modes
    assignment   the mode and the mission of a client, decided when its events arrive
    notices      session notices about missions: when a hook is answered with one, and with what
    messages     the texts
"""
