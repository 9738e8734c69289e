"""Reads shell as bash would, without running any of it: which programs run, which files they touch.

`reader` walks the syntax tree of tree-sitter-bash in order and keeps what is known on the way (directory, variables,
functions, texts written to files); `words` expands what is written into what arrives; `programs` knows what programs
do with their arguments, `prints` what some of them print, `languages` the little that is read of Python and others.

Rules
- What cannot be told is `UNKNOWN`, never guessed. Both branches of a condition are taken.
- Bounded: depth, number of commands, size of the files that are read. Past a bound the rest is unknown, and said so.
"""
