"""Where people look: the API and its stream, the command line, and the one Python client that they all use.

Surfaces read through `ports.Reader` and change things only through the engine; they never see the journal itself.
"""
