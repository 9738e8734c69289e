"""Web Push, the channel `push`: `subscriptions` stores the browsers that receive it, `encryption` makes requests for
push services, `push_service` sends them, `channel` composes the three.
"""
