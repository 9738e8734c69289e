"""Reads shell as bash would, without running any of it: which programs run, which files they touch.

`reader` walks the syntax tree (`syntax`) in order and keeps what is known on the way: directory, variables, functions,
texts written to files. `words` expands what is written into what arrives. `commands` is the table of programs that are
followed: those that run texts (`scripts`, `languages`) and those that run others (`wrappers`). What all others do to
files is in `programs`, what some of them print in `prints`.

Rules
- What cannot be told is `UNKNOWN`, never guessed. Both branches of a condition are taken.
- Bounded: depth, number of commands, size of the files that are read. Past a bound the rest is unknown, and said so.
"""
