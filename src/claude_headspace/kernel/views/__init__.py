"""Views: the types that surfaces show, as pure functions of the agent.

The API returns these types as JSON, its schema is generated from them, and the stream sends their changes.
"""
