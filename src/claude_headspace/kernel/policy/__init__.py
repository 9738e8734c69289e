"""Policy: which tool calls rules deny, ask about, warn of or allow.

`call` describes an analysed tool call, `rules` the rules, `matching` finds the rules that match a call, and `verdict`
is the result. Pure: shell text is parsed and paths are resolved before, in `inputs/policy`.
"""
