"""Policy: which tool calls rules deny, ask about, warn of or allow.

`call` describes an analysed tool call, `rules` the rules, and `verdict` is the result that `kernel/decide.py` computes.
Pure: shell text is parsed and paths are resolved before, in `inputs/policy`.
"""
