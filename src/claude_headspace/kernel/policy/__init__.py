"""What an agent's tool call may do: the call as it was understood, the rules as data, and what rules say of calls.

`call` and `rules` are nouns, `matching` is the verb between them, `verdict` is what comes out. The shell is read, and
paths are resolved, before anything here is asked (`inputs/policy`): this package knows no file and no syntax.
"""
