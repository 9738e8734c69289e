"""The interfaces for people and programs: the API with its stream, the page, the command line and the terminal board.

Surfaces read through `ports.Reader` and change things only through the engine. They never use the journal directly.
"""
