"""Static analysis of shell text: which programs it would run and which files they would use. Nothing is executed.

`interpreter` walks the syntax tree (`syntax`) in the order of execution and tracks the directory, variables, functions
and written files. `words` expands words into arguments. `commands` is the table of programs with their own handler:
those that run text (`scripts`, `languages`, `python_code`) and those that run other programs (`wrappers`). `file_uses`
knows what other programs do to files, `known_output` what some of them print.

Rules
- A value that cannot be determined is `UNKNOWN`, never guessed. Both branches of a condition are analysed.
- Depth, number of commands and file sizes are limited. Beyond a limit the call gets the trait `unreadable-script`.
"""
